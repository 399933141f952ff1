import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Family } from '../mutants/families.ts'
import { MUTANTS } from '../simulation/mutants/mutants.ts'
import { type PlantedBug, replaced, replacementsOf } from '../support/planting.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const LISTS = globSync('test/mutants/bugs/*.ts', { cwd: ROOT }).sort()
const ROOMS = new Set(
  globSync('src/{admission,validation,webhooks,tls,uninstall,insight,dashboard,review/lints}/**/*.ts', {
    cwd: ROOT,
  }).map(dirname),
)

/** Every list of bugs that there is, so that a new one cannot be forgotten. */
async function familiesOf(list: string): Promise<readonly Family[]> {
  const exported: Readonly<Record<string, readonly Family[]>> = await import(`${ROOT}${list}`)
  return Object.entries(exported).flatMap(([name, families]) => (name.endsWith('_FAMILIES') ? families : []))
}

const families = (await Promise.all(LISTS.map(familiesOf))).flat()
const planted: readonly PlantedBug[] = families.flatMap(({ bugs }) => bugs)

/** `npm run test:mutants` looks for them, which takes minutes; a bug that has lost its place is told at once. */
describe('the bugs of test:mutants', () => {
  it.each([...planted, ...MUTANTS])('$name: its text is in $file, exactly once', bug => {
    const source = readFileSync(`${ROOT}${bug.file}`, 'utf8')
    expect(replacementsOf(bug).reduce(replaced, source)).not.toBe(source)
  })

  it.each([...ROOMS].sort())('are planted in %s, too', room => {
    expect(planted.filter(({ file }) => dirname(file) === room)).not.toEqual([])
  })

  it('are looked for, whatever list they are in', () => {
    const run = globSync('test/mutants/*.test.ts', { cwd: ROOT }).map(file => readFileSync(`${ROOT}${file}`, 'utf8'))
    const names = LISTS.map(list => list.replace(/^test\/mutants/, '.'))
    expect(names.filter(name => !run.some(text => text.includes(`'${name}'`)))).toEqual([])
  })
})
