// Writes a Helm chart that is made of manifests/: `npm run package:helm [-- FOLDER]`. The manifests stay the one place
// where an object is written down; what the chart adds is the choice between base and overlays, and a few values.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { chartTemplates } from './chart-templates.ts'
import { SCHEMAS } from './schemas.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, 'manifests/chart', file), 'utf8')

/** A misspelt key of the configuration is an error of the installation, and not of the start. */
function schema(): object {
  const { $schema, ...configuration } = SCHEMAS.configuration as { readonly $schema: string }
  const string = { type: 'string' }
  const boolean = { type: 'boolean' }
  const properties = {
    image: {
      type: 'object',
      additionalProperties: false,
      properties: { repository: string, tag: string, digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' } },
    },
    replicas: { type: 'integer', minimum: 1 },
    resources: { type: 'object' },
    createNamespace: boolean,
    certManager: boolean,
    allPods: boolean,
    observability: boolean,
    configuration,
    // Helm's own.
    global: { type: 'object' },
  }
  return { $schema, title: 'Values of the chart', type: 'object', additionalProperties: false, properties }
}

export function chartFiles(): Readonly<Record<string, string>> {
  const { version, description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const chart = {
    apiVersion: 'v2',
    name: 'muster',
    type: 'application',
    version,
    appVersion: version,
    description,
    kubeVersion: '>=1.30.0-0',
    annotations: { 'artifacthub.io/license': license },
  }
  const made = Object.entries(chartTemplates()).map(([file, content]) => [`templates/${file}`, content])
  return {
    'Chart.yaml': stringify(chart),
    'values.yaml': read('values.yaml'),
    'values.schema.json': `${JSON.stringify(schema(), null, 2)}\n`,
    'templates/NOTES.txt': read('NOTES.txt'),
    ...Object.fromEntries(made),
  }
}

export function writeChart(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'templates'), { recursive: true })
  for (const [file, content] of Object.entries(chartFiles())) writeFileSync(join(folder, file), content)
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(root, 'dist/chart/muster'))
  writeChart(folder)
  console.log(`helm install muster ${folder}`)
}
