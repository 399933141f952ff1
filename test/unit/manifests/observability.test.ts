import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { DASHBOARD_FILE, dashboard } from '../../../scripts/dashboard.ts'
import { createMetrics } from '../../../src/server/metrics.ts'
import { REASONS } from '../../../src/workload/reasons.ts'
import { CASES, SOUND } from '../../rules/cases.ts'
import { ALERTS, QUERIES } from '../../rules/rules.ts'
import { only, root } from './read.ts'

const folder = join(root, 'manifests/observability')
const metricsPage = readFileSync(join(root, 'docs/metrics.md'), 'utf8')
/** What the operator puts on every series of a PodMonitor. */
const TARGET_LABELS = ['namespace', 'pod']

interface Known {
  readonly labels: readonly string[]
  /** The words that the reference gives as values of its labels. */
  readonly values: readonly string[]
}

/** Every series name that a scrape of Muster shows, with its labels. */
function knownSeries(): ReadonlyMap<string, Known> {
  const { registry } = createMetrics({ version: 'test' })
  const known = new Map<string, Known>()
  for (const metric of registry.getMetricsAsArray()) {
    const row = metricsPage.split('\n').find(line => line.startsWith(`| \`${metric.name}\``)) ?? ''
    const values = [...row.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)
    const reasons = metric.name === 'muster_waiting_pods' ? REASONS : []
    const labels = 'labelNames' in metric ? (metric.labelNames as readonly string[]) : []
    const entry = { labels: [...TARGET_LABELS, ...labels], values: [...values, ...reasons] }
    const parts = String(metric.type) === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    for (const part of parts)
      known.set(metric.name + part, part === '_bucket' ? { ...entry, labels: [...entry.labels, 'le'] } : entry)
  }
  return known
}

const KNOWN = knownSeries()

/** The selectors of an expression: a name of ours or of the process, and what stands in braces behind it. */
function selectors(
  expr: string,
): readonly { readonly name: string; readonly matchers: readonly (readonly string[])[] }[] {
  return [...expr.matchAll(/\b((?:muster|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', braces = '']) => ({
    name,
    matchers: [...braces.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]),
  }))
}

/** Series that no scrape shows, labels that they do not have, and values that no reference names. */
function problems(expr: string): readonly string[] {
  const found: string[] = []
  const used = selectors(expr)
  for (const { name, matchers } of used) {
    const known = KNOWN.get(name)
    if (known === undefined) found.push(`there is no ${name}`)
    for (const [label = '', value = ''] of matchers) {
      if (known !== undefined && !known.labels.includes(label)) found.push(`${name} has no label ${label}`)
      if (known === undefined || [...TARGET_LABELS, 'webhook', 'resource', 'version', 'le'].includes(label)) continue
      const unknown = value.split('|').filter(word => !known.values.includes(word))
      if (unknown.length > 0) found.push(`${name} has no ${label} ${unknown.join(', ')}`)
    }
  }
  const carried = new Set(used.flatMap(({ name }) => KNOWN.get(name)?.labels ?? []))
  for (const [, list = ''] of expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)) {
    for (const label of list.split(', ')) if (!carried.has(label)) found.push(`nothing has the label ${label}`)
  }
  if (used.length === 0) found.push('it asks for nothing of Muster')
  return found
}

describe('the alerts', () => {
  it.each(ALERTS.map(({ alert, expr }) => [alert, expr] as const))('%s asks for what Muster counts', (_alert, expr) => {
    expect(problems(expr)).toEqual([])
  })

  it('show what is wrong with a question', () => {
    expect(problems('sum by (pot) (rate(muster_reconcile_total{result="eror",colour="red"}[5m]))')).toEqual([
      'muster_reconcile_total has no result eror',
      'muster_reconcile_total has no label colour',
      'muster_reconcile_total has no colour red',
      'nothing has the label pot',
    ])
    expect(problems('muster_reconciles_total > 0')).toEqual(['there is no muster_reconciles_total'])
  })

  it('use in their sentences only labels that their expression keeps', () => {
    for (const { alert, expr, annotations } of ALERTS) {
      const named = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label)
      const kept = /^(?:sum|min|max|count) by \(([^)]*)\)|sum by \(([^)]*)\)/.exec(expr)
      const labels = kept === null ? TARGET_LABELS : (kept[1] ?? kept[2] ?? '').split(', ')
      for (const label of named) expect(labels, alert).toContain(label)
    }
  })

  it('are each tried when they have to be heard, and when not', () => {
    for (const { alert } of ALERTS) {
      const cases = CASES.filter(one => one.alert === alert)
      expect(cases.flatMap(({ fires }) => fires).length, alert).toBeGreaterThan(0)
      expect(cases.flatMap(({ quiet }) => quiet).length, alert).toBeGreaterThan(0)
    }
    expect(CASES.filter(({ alert }) => !ALERTS.some(rule => rule.alert === alert))).toEqual([])
  })

  it('are tried on series as Muster has them', () => {
    const all = [...CASES.flatMap(({ series }) => Object.keys(series)), ...Object.keys(SOUND)]
    expect(all.flatMap(problems)).toEqual([])
  })

  it('have a severity, and a section in docs/alerts.md that their runbook names', () => {
    const page = readFileSync(join(root, 'docs/alerts.md'), 'utf8')
    const sections = [...page.matchAll(/^## (Muster\w+)$/gm)].map(([, name]) => name)
    expect(sections).toEqual(ALERTS.map(({ alert }) => alert))
    const rows = [...page.matchAll(/^\| \[(\w+)\]\(#(\w+)\) \| (\w+) \|/gm)].map(([, ...cells]) => cells)
    expect(rows).toEqual(ALERTS.map(({ alert, labels }) => [alert, alert.toLowerCase(), labels.severity]))
    for (const { alert, annotations } of ALERTS) {
      expect(annotations.runbook_url).toMatch(new RegExp(`/docs/alerts\\.md#${alert.toLowerCase()}$`))
      const section = page.split(`\n## ${alert}\n`)[1]?.split('\n## ')[0] ?? ''
      expect(section, alert).toContain('**Do:**')
    }
  })

  it('know the memory limit of the Deployment', () => {
    const [container] = only('Deployment').spec.template.spec.containers
    expect(container.resources.limits.memory).toBe('512Mi')
    expect(ALERTS.find(({ alert }) => alert === 'MusterMemoryHigh')?.expr).toContain('0.9 * 512 * 1024 * 1024')
  })
})

describe('the dashboard', () => {
  it('is what the script writes, else run: node scripts/dashboard.ts', () => {
    expect(JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8'))).toEqual(dashboard())
  })

  it.each(QUERIES.map(({ title, expr }) => [title, expr] as const))(
    '%s asks for what Muster counts: %s',
    (_title, expr) => {
      expect(problems(expr)).toEqual([])
    },
  )

  it('shows every metric of Muster', () => {
    const shown = new Set(QUERIES.flatMap(({ expr }) => selectors(expr).map(({ name }) => name)))
    const { registry } = createMetrics({ version: 'test', processMetrics: false })
    const all = registry.getMetricsAsArray().map(({ name }) => name)
    expect(all.filter(name => ![...shown].some(series => series.replace(/_(bucket|count)$/, '') === name))).toEqual([])
  })

  it('names in a legend only labels that the query keeps', () => {
    const { panels } = JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8'))
    for (const { targets = [] } of panels) {
      for (const { expr, legendFormat } of targets) {
        const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label)
        const kept = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? TARGET_LABELS
        for (const label of named) expect(kept, expr).toContain(label)
      }
    }
  })
})

describe('the installation of both', () => {
  const kustomization = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'))
  const monitor = parse(readFileSync(join(folder, 'podmonitor.yaml'), 'utf8'))

  it('scrapes the port of the Deployment on which metrics are', () => {
    const { template } = only('Deployment').spec
    expect(template.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels)
    const { port, path } = monitor.spec.podMetricsEndpoints[0]
    const named = template.spec.containers[0].ports.find(({ name }: { name: string }) => name === port)
    expect([named.containerPort, path]).toEqual([8080, '/metrics'])
  })

  it('is one kustomization of its own, with the dashboard as Grafana’s sidecar looks for it', () => {
    expect(kustomization.resources).toEqual(['podmonitor.yaml', 'prometheusrule.yaml'])
    expect(kustomization.namespace).toBe(only('Namespace').metadata.name)
    expect(kustomization.configMapGenerator[0]).toMatchObject({
      files: ['muster.json=dashboard.json'],
      options: { labels: { grafana_dashboard: '1' } },
    })
  })
})
