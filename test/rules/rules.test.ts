import { describe, expect, it } from 'vitest'
import { cacheObserver, controllerMetrics } from '../../src/cluster/metrics.ts'
import { PODS } from '../../src/kube/vocabulary/resources.ts'
import { createMetrics, webhookRecorder } from '../../src/server/metrics.ts'
import { type AlertCase, CASES, SOUND } from './cases.ts'
import { hasPromtool, promtool, WITHOUT_PROMTOOL } from './promtool.ts'
import { ALERTS, QUERIES, RULES } from './rules.ts'

const present = hasPromtool()
if (!present) console.error(`Skipped: ${WITHOUT_PROMTOOL}`)

const seriesOf = (series: Readonly<Record<string, string>>): readonly object[] =>
  Object.entries(series).map(([name, values]) => ({ series: name, values }))

/** A case as promtool reads it. */
function testFile({ alert, series, fires, quiet }: AlertCase): object {
  const rule = ALERTS.find(candidate => candidate.alert === alert)
  const { description, runbook_url } = rule?.annotations ?? {}
  const heard = fires.map(({ at, labels, summary }) => ({
    eval_time: at,
    alertname: alert,
    exp_alerts: [
      {
        exp_labels: { ...labels, severity: rule?.labels.severity },
        exp_annotations: { summary, description, runbook_url },
      },
    ],
  }))
  const silent = quiet.map(at => ({ eval_time: at, alertname: alert, exp_alerts: [] }))
  return fileOf(series, [...heard, ...silent])
}

const fileOf = (series: Readonly<Record<string, string>>, expectations: readonly object[]): object => ({
  rule_files: ['rules.yaml'],
  evaluation_interval: '15s',
  tests: [{ interval: '15s', input_series: seriesOf(series), alert_rule_test: expectations }],
})

const run = (file: object) => promtool(['test', 'rules', 'case.yaml'], { 'rules.yaml': RULES, 'case.yaml': file })

describe.skipIf(!present)(present ? 'promtool' : `promtool (${WITHOUT_PROMTOOL})`, () => {
  it('reads all alerts', () => {
    const { status, output } = promtool(['check', 'rules', 'rules.yaml'], { 'rules.yaml': RULES })
    expect(status, output).toBe(0)
    expect(output).toContain(`SUCCESS: ${ALERTS.length} rules found`)
  })

  it('reads what every panel of the dashboard asks', () => {
    const rules = QUERIES.map(({ expr }, at) => ({ record: `panel:query:${at}`, expr }))
    const { status, output } = promtool(['check', 'rules', 'panels.yaml'], {
      'panels.yaml': { groups: [{ name: 'panels', rules }] },
    })
    expect(status, output).toBe(0)
    expect(output).toContain(`SUCCESS: ${QUERIES.length} rules found`)
  })

  it('finds nothing to say about the metrics of Muster', async () => {
    const metrics = createMetrics({ version: 'test', processMetrics: false })
    webhookRecorder(metrics, 'pods').decided('CREATE', 'patched', 0.002)
    controllerMetrics(metrics).waiting('WaitingForAdmission', 3)
    cacheObserver(metrics, { watch: () => {}, unwatch: () => {} }).relisted(PODS, 'start')
    const text = await metrics.registry.metrics()
    expect(promtool(['check', 'metrics'], {}, text)).toEqual({ status: 0, output: '' })
  })

  it.each(CASES.map(one => [one.alert, one.story, one] as const))('%s: %s', (_alert, _story, one) => {
    const { status, output } = run(testFile(one))
    expect(status, output).toBe(0)
  })

  it('wakes nobody where all is well', () => {
    const times = ['10m', '30m', '60m']
    const silent = ALERTS.flatMap(({ alert }) => times.map(at => ({ eval_time: at, alertname: alert, exp_alerts: [] })))
    const { status, output } = run(fileOf(SOUND, silent))
    expect(status, output).toBe(0)
  })

  it('notices when an alert is not heard', () => {
    const [first] = CASES
    if (first === undefined) throw new Error('there are no cases')
    const { status, output } = run(testFile({ ...first, quiet: first.fires.map(({ at }) => at), fires: [] }))
    expect(status).toBe(1)
    expect(output).toContain('FAILED')
  })
})
