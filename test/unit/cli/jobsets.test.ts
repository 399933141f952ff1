import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { Result } from '../../../src/review/report.ts'
import { type FieldError, describe as worded } from '../../../src/validation/field-error.ts'
import { mapJobSet } from '../../../src/workload/mappers/jobset.ts'
import { JOBSET_CASES, OPTION_A } from '../../support/jobsets.ts'

const program = fileURLToPath(new URL('../../../bin/muster.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'muster-jobsets-'))
afterAll(() => rmSync(folder, { recursive: true }))

const cases = JOBSET_CASES.map((each, index) => ({ ...each, file: `${String(index).padStart(3, '0')}.json` }))
mkdirSync(join(folder, 'cases'))
for (const { file, object } of cases) writeFileSync(join(folder, 'cases', file), JSON.stringify(object))

/** The real command, once for all cases. */
function muster(...args: readonly string[]) {
  return spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' })
}

function review(...args: readonly string[]) {
  const { status, stdout } = muster('review', '-o', 'json', ...args)
  return { status, results: (JSON.parse(stdout) as { readonly results: readonly Result[] }).results }
}

const textOf = (error: FieldError): string => `${error.field}: ${worded(error)}`

describe('muster review and muster build', () => {
  const reviewed = review('cases')
  const built = muster('build', '-o', 'json', 'cases')
  const refusals = built.stderr.split('\n').filter(line => line !== '' && !line.includes(' note: '))

  it('both read every case, and both find something wrong', () => {
    expect([reviewed.status, built.status]).toEqual([1, 1])
    expect(reviewed.results).toHaveLength(cases.length)
    expect(refusals).toHaveLength(cases.flatMap(({ errors }) => errors).length)
  })

  it.each(cases)('agree about a JobSet with $title', ({ file, object, errors, passesReview }) => {
    const mapped = mapJobSet(object, { version: '1.37' })
    const found = 'errors' in mapped ? mapped.errors : []
    expect(found.map(({ type, field }) => `${type} ${field}`)).toEqual(errors)
    const texts = found.map(textOf)
    const printed = refusals.filter(line => line.startsWith(join('cases', file)))
    expect(printed.map(line => line.slice(line.indexOf(' JobSet js: ')))).toEqual(
      texts.map(text => ` JobSet js: ${text}`),
    )
    const result = reviewed.results.find(({ source }) => source.file === join('cases', file))
    if (passesReview === undefined) {
      expect(result).toMatchObject({ allowed: errors.length === 0, warnings: [] })
      expect(result?.errors.map(textOf)).toEqual(texts)
    } else {
      expect(result, passesReview.because).toMatchObject({ allowed: true, errors: [] })
      expect(result?.warnings, passesReview.because).toEqual(passesReview.warns ? texts : [])
    }
  })

  it('differ about what a cluster does not allow: a build shows what it means anywhere', () => {
    writeFileSync(join(folder, 'option-a.json'), JSON.stringify(OPTION_A))
    const kind = { apiVersion: 'config.muster.dev/v1alpha1', kind: 'Configuration' }
    const narrow = { ...kind, jobs: { scheduling: { allow: { topologyKeys: [] } } } }
    writeFileSync(join(folder, 'narrow.yaml'), JSON.stringify(narrow))
    expect(muster('build', 'option-a.json').status).toBe(0)
    const { status, results } = review('--config', 'narrow.yaml', 'option-a.json')
    expect(status).toBe(1)
    expect(results[0]?.errors.map(({ type, field }) => `${type} ${field}`)).toEqual([
      'Forbidden spec.replicatedJobs[1].template.spec.scheduling.constraints.topology[0].level',
    ])
  })
})
