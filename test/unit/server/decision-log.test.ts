import fc from 'fast-check'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createDecisionLog, type DecisionRecord } from '../../../src/server/decision-log.ts'
import { createLogger } from '../../../src/server/logging.ts'
import { tallyOf } from '../../support/tally.ts'

const text = fc.option(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', '\n', '\ud800x')), {
  nil: undefined,
})
const record: fc.Arbitrary<DecisionRecord> = fc.record({
  operation: fc.constantFrom('CREATE', 'UPDATE'),
  kind: text,
  subResource: text,
  namespace: text,
  name: text,
  user: text,
  dryRun: fc.boolean(),
  verdict: fc.constantFrom('allowed', 'denied'),
  reason: fc.constantFrom('Gated', 'odd "reason"'),
  fields: fc.option(fc.array(fc.string()), { nil: undefined }),
})

describe('the line of a decision', () => {
  it('is the line that pino would write, bindings of the logger included', () => {
    const lines: string[] = []
    const log = pino({ base: { pid: 7 }, timestamp: () => ',"time":1' }, { write: line => lines.push(line) })
    const tried = tallyOf('all fields', 'some without a value', 'text that needs quoting')
    for (const logger of [log, log.child({ part: 'x' })]) {
      const write = createDecisionLog(logger, 'pods')
      fc.assert(
        fc.property(record, decision => {
          lines.length = 0
          write(decision, 1.23456)
          logger.info({ webhook: 'pods', ...decision, durationMs: 1.235 }, 'review decided')
          const [ours, theirs] = lines.map(line => JSON.parse(line))
          expect(ours).toEqual(theirs)
          expect(Object.keys(ours)).toEqual(Object.keys(theirs))
          expect(lines[0]).toMatch(/^\{[^\n]*\}\n$/)
          const values = Object.values(decision)
          tried.count(values.includes(undefined) ? 'some without a value' : 'all fields')
          if (values.some(value => JSON.stringify(value)?.includes('\\'))) tried.count('text that needs quoting')
        }),
        { numRuns: 300 },
      )
    }
    tried.expectAll()
  })

  it('looks like every other line of Muster', () => {
    const lines: string[] = []
    const log = createLogger({ destination: { write: line => lines.push(line) } })
    const [decision] = fc.sample(record, 1)
    if (decision !== undefined) createDecisionLog(log, 'pods')(decision, 1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      webhook: 'pods',
      msg: 'review decided',
    })
  })

  it('is not written when the level says so, whenever it says so', () => {
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: line => lines.push(line) })
    const write = createDecisionLog(log, 'pods')
    const [decision] = fc.sample(record, 1)
    if (decision === undefined) throw new Error('nothing to log')
    write(decision, 1)
    expect(lines).toEqual([])
    log.level = 'info'
    write(decision, 1)
    expect(lines).toHaveLength(1)
    log.level = 'silent'
    write(decision, 1)
    expect(lines).toHaveLength(1)
  })
})
