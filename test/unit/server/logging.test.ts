import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLogger, logDestination } from '../../../src/server/logging.ts'
import { eventually } from '../../support/eventually.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-log-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const linesOf = (file: string): readonly { readonly count: number; readonly msg: string }[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line))

describe('the log', () => {
  it.each([
    ['when it ends by itself', ''],
    ['when it is told to exit', 'process.exit(0)'],
    ['when it dies of an error', 'throw new Error("bug")'],
    ['when it logs on its way out', 'process.on("exit", () => log.info({ count: 1000 }, "line"))'],
  ])('loses no line of a process %s', async (_how, end) => {
    const file = join(folder, 'log')
    const module = new URL('../../../src/server/logging.ts', import.meta.url).href
    const program = `import { createLogger } from ${JSON.stringify(module)}
const log = createLogger()
for (let count = 0; count < 1000; count++) log.info({ count }, 'line')
${end}`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'ignore', openSync(file, 'w')],
    })
    await once(child, 'exit')
    // A batch that is on its way when the process dies may arrive after the last one; each line has its time.
    const counts = linesOf(file).map(({ count }) => Number(count))
    expect(counts.sort((a, b) => a - b).slice(0, 1000)).toEqual(Array.from({ length: 1000 }, (_, index) => index))
  })

  it('keeps no line for long', async () => {
    const file = join(folder, 'log')
    const log = createLogger({ destination: logDestination(openSync(file, 'w')) })
    log.info({ count: 1 }, 'umläut')
    await eventually('the line is in the file', () => linesOf(file).length === 1)
    expect(linesOf(file)).toMatchObject([{ count: 1, msg: 'umläut' }])
  })
})
