import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { chartFiles } from '../../../scripts/chart.ts'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { parseConfiguration } from '../../../src/config/load.ts'
import { manifests, only, root } from './read.ts'

// What Helm makes of the chart is compared with manifests/ where there is a Helm: test/cluster/chart.test.ts.
const files = chartFiles()
const values = parse(files['values.yaml'] ?? '')
const templates = Object.entries(files).filter(([file]) => file.startsWith('templates/'))

describe('the Helm chart', () => {
  it('has the defaults of Muster as its own, with nothing left out that users change', () => {
    expect(parseConfiguration(stringify(values.configuration), 'values.yaml')).toEqual({
      configuration: DEFAULT_CONFIGURATION,
      warnings: [],
    })
    expect(values.configuration).toEqual(parse(only('ConfigMap').data['config.yaml']))
    const { replicas, template } = only('Deployment').spec
    expect([values.replicas, values.resources]).toEqual([replicas, template.spec.containers[0].resources])
  })

  it('has values that its own schema accepts', () => {
    const validate = new Ajv({ strict: false }).compile(JSON.parse(files['values.schema.json'] ?? ''))
    expect(validate(values), JSON.stringify(validate.errors)).toBe(true)
    expect(validate({ ...values, replicass: 3 })).toBe(false)
  })

  it('has a template for every object, with no hole left in it', () => {
    const text = templates.map(([, content]) => content).join('\n')
    for (const { kind, metadata } of manifests) {
      expect(text).toMatch(new RegExp(`kind: ${kind}\nmetadata:\n {2}name: ${metadata.name}\n`))
    }
    expect(text).not.toMatch(/__[A-Z_]+__/)
  })

  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(parse(files['Chart.yaml'] ?? '')).toMatchObject({ version, appVersion: version, kubeVersion: '>=1.30.0-0' })
  })

  it('has every value in docs/helm.md, with its default', () => {
    const page = readFileSync(join(root, 'docs/helm.md'), 'utf8')
    const rows = [...page.matchAll(/^\| `([\w.]+)` \|([^|]*)\|/gm)].map(([, name, fallback = '']) => [
      name,
      fallback.trim(),
    ])
    const { image, resources: _resources, configuration: _configuration, ...flat } = values
    const shown = (value: unknown): string => (value === '' ? '' : `\`${value}\``)
    expect(Object.fromEntries(rows)).toEqual({
      ...Object.fromEntries(Object.entries(image).map(([key, value]) => [`image.${key}`, shown(value)])),
      ...Object.fromEntries(Object.entries(flat).map(([key, value]) => [key, shown(value)])),
      resources: 'as in the manifests',
      configuration: 'the [defaults](configuration.md)',
    })
  })
})
