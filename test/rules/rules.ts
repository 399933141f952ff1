import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

export interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string }
}

interface Groups {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[]
}

const folder = fileURLToPath(new URL('../../manifests/observability', import.meta.url))

/** The rules as the operator would write them into a file of Prometheus. */
export const RULES: Groups = parse(readFileSync(join(folder, 'prometheusrule.yaml'), 'utf8')).spec

export const ALERTS: readonly Rule[] = RULES.groups.flatMap(({ rules }) => rules)

interface PanelJson {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

const dashboard: { readonly panels: readonly PanelJson[] } = JSON.parse(
  readFileSync(join(folder, 'dashboard.json'), 'utf8'),
)

/** What the panels ask, with what Grafana would put in place of its variables. */
export const QUERIES: readonly { readonly title: string; readonly expr: string }[] = dashboard.panels.flatMap(
  ({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      title,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$namespace', 'muster-system'),
    })),
)
