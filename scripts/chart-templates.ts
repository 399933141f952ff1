// The templates of the chart: every object of manifests/, the choice between base and overlays, and holes for values.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { applyPatch, type PatchOperation } from '../src/admission/patch.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (...path: readonly string[]): string => readFileSync(join(root, 'manifests', ...path), 'utf8')

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: object }
  readonly [key: string]: unknown
}

type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'copy'; readonly from: string; readonly path: string }

interface Patch {
  readonly target?: { readonly kind: string; readonly name: string }
  readonly patch?: string
}

/** Stands where a value of the user's goes; what replaces it is Helm's. */
const HOLES = {
  IMAGE:
    '"{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}"',
  REPLICAS: '{{ .Values.replicas }}',
  // A list of strings in JSON is one in CEL.
  STATUS_WRITERS:
    '{{ printf "!(request.userInfo.username in %s)" (toJson .Values.configuration.guard.statusWriters) | toJson }}',
} as const
/** The same for what takes several lines: the value, which is then indented as deep as it has to be. */
const BLOCKS = {
  RESOURCES: '.Values.resources',
  CONFIGURATION: '.Values.configuration',
  SELECTOR: '.Values.configuration.integrations.podOptions.namespaceSelector',
} as const
const hole = (name: keyof typeof HOLES | keyof typeof BLOCKS): string => `__${name}__`

const objectsIn = (...path: readonly string[]): readonly Manifest[] =>
  parseAllDocuments(read(...path)).map(document => document.toJS())

function valueAt(document: unknown, path: string): unknown {
  let value = document
  for (const key of path.slice(1).split('/')) value = (value as Record<string, unknown> | undefined)?.[key]
  return value
}

function patched(manifest: Manifest, operations: readonly Operation[]): Manifest {
  let result = manifest
  for (const operation of operations) {
    const { op, path } = operation
    if (op === 'test') {
      if (!isDeepStrictEqual(valueAt(result, path), operation.value)) {
        throw new Error(`${manifest.kind} ${manifest.metadata.name} has something else at ${path}`)
      }
    } else if (op === 'copy') {
      result = applyPatch(result, [{ op: 'replace', path, value: valueAt(result, operation.from) }])
    } else {
      const change: PatchOperation = op === 'remove' ? { op, path } : { op, path, value: operation.value }
      result = applyPatch(result, [change])
    }
  }
  return result
}

/** As kustomize does it: the kind is a pattern. Patches that lie in files are the caller's business. */
function withPatches(manifest: Manifest, patches: readonly Patch[]): Manifest {
  const fitting = patches.filter(
    ({ target, patch }) =>
      target !== undefined &&
      patch !== undefined &&
      new RegExp(`^(?:${target.kind})$`).test(manifest.kind) &&
      target.name === manifest.metadata.name,
  )
  return fitting.reduce((result, { patch = '' }) => patched(result, parse(patch)), manifest)
}

/** The base as kustomize builds it, with holes for what users choose. */
function baseObjects(): readonly Manifest[] {
  const { resources, labels } = parse(read('base', 'kustomization.yaml'))
  const all: readonly Manifest[] = resources.flatMap((file: string) => objectsIn('base', file))
  return all.map(object => {
    const metadata = { ...object.metadata, labels: { ...object.metadata.labels, ...labels[0].pairs } }
    return withHoles({ ...object, metadata })
  })
}

function withHoles(object: Manifest): Manifest {
  const replace = (path: string, value: unknown): Operation => ({ op: 'replace', path, value })
  if (object.kind === 'Deployment') {
    const container = '/spec/template/spec/containers/0'
    return patched(object, [
      replace('/spec/replicas', hole('REPLICAS')),
      replace(`${container}/image`, hole('IMAGE')),
      replace(`${container}/resources`, hole('RESOURCES')),
    ])
  }
  if (object.kind === 'ConfigMap') return patched(object, [replace('/data/config.yaml', hole('CONFIGURATION'))])
  if (object.kind === 'ValidatingAdmissionPolicy' && object.metadata.name === 'muster-pod-status') {
    const conditions = valueAt(object, '/spec/matchConditions') as readonly { readonly name: string }[]
    const at = conditions.findIndex(({ name }) => name === 'not-a-status-writer')
    return patched(object, [replace(`/spec/matchConditions/${at}/expression`, hole('STATUS_WRITERS'))])
  }
  return object
}

interface Choice {
  /** When the objects of the overlay hold. */
  readonly condition: string
  readonly folder: string
  /** Before the patches of the overlay. */
  readonly prepare?: (object: Manifest) => Manifest
}

const CHOICES: readonly Choice[] = [
  { condition: '.Values.certManager', folder: 'overlays/cert-manager' },
  { condition: 'eq .Values.configuration.engine "kueue"', folder: 'overlays/kueue' },
  {
    condition: '.Values.allPods',
    folder: 'overlays/all-pods',
    // In place of the file in which users of the overlay write their selector.
    prepare: object =>
      object.kind.endsWith('WebhookConfiguration')
        ? patched(object, [{ op: 'replace', path: '/webhooks/0/namespaceSelector', value: hole('SELECTOR') }])
        : object,
  },
]

const NO_SELECTOR = `{{- if .Values.allPods }}
{{- if eq (toJson ${BLOCKS.SELECTOR}) (toJson (dict "matchExpressions" (list (dict "key" "kubernetes.io/metadata.name" "operator" "NotIn" "values" (list "kube-system" "muster-system"))))) }}
{{- fail "allPods: while Muster is away nothing can be created in the namespaces that are selected. Say in configuration.integrations.podOptions.namespaceSelector which ones these are: there is no default" }}
{{- end }}
{{- end }}
`

function text(object: Manifest): string {
  let yaml = stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })
  for (const [name, expression] of Object.entries(HOLES)) yaml = yaml.replaceAll(`__${name}__`, expression)
  for (const [name, value] of Object.entries(BLOCKS)) {
    const pattern = new RegExp(`^( *)([- ]*)([\\w.]+): __${name}__$`, 'gm')
    yaml = yaml.replace(pattern, (_line, indent: string, dash: string, key: string) => {
      const deeper = indent.length + dash.length + 2
      const literal = key.endsWith('.yaml') ? ' |' : ''
      return `${indent}${dash}${key}:${literal}\n${' '.repeat(deeper)}{{- toYaml ${value} | nindent ${deeper} }}`
    })
  }
  return yaml
}

const when = (condition: string, then: string, otherwise = ''): string =>
  `{{- if ${condition} }}\n${then}${otherwise === '' ? '' : `{{- else }}\n${otherwise}`}{{- end }}\n`

function template(object: Manifest): string {
  if (object.kind === 'Namespace') return when('.Values.createNamespace', text(object))
  const variants = CHOICES.flatMap(({ condition, folder, prepare }) => {
    const { patches } = parse(read(folder, 'kustomization.yaml'))
    const changed = withPatches(prepare?.(object) ?? object, patches)
    return isDeepStrictEqual(changed, object) ? [] : [when(condition, text(changed), text(object))]
  })
  if (variants.length > 1) throw new Error(`two overlays change ${object.kind} ${object.metadata.name}`)
  return variants[0] ?? text(object)
}

/** What an overlay adds. */
function additions({ condition, folder }: Choice): string | undefined {
  const { resources } = parse(read(folder, 'kustomization.yaml'))
  const added: readonly Manifest[] = resources
    .filter((file: string) => file !== '../../base')
    .flatMap((file: string) => objectsIn(folder, file))
  return added.length === 0 ? undefined : when(condition, added.map(text).join('---\n'))
}

/** What is in braces there is Prometheus' and Grafana's, and not Helm's. */
const quoted = (yaml: string): string => yaml.replace(/\{\{.*?\}\}/g, braces => `{{ ${JSON.stringify(braces)} }}`)

function observability(): string {
  const { namespace, resources, labels, configMapGenerator } = parse(read('observability', 'kustomization.yaml'))
  const { pairs } = labels[0]
  const objects: readonly Manifest[] = resources.flatMap((file: string) => objectsIn('observability', file))
  const [{ name, files, options }] = configMapGenerator
  const [key = '', file = ''] = files[0].split('=')
  const dashboard = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { ...options.labels, ...pairs } },
    data: { [key]: read('observability', file) },
  }
  const labelled = objects.map(object => ({ ...object, metadata: { ...object.metadata, labels: pairs } }))
  return when('.Values.observability', [...labelled, dashboard].map(one => quoted(text(one))).join('---\n'))
}

export function chartTemplates(): Readonly<Record<string, string>> {
  const files: Record<string, string> = { 'checks.yaml': NO_SELECTOR, 'observability.yaml': observability() }
  for (const object of baseObjects()) {
    files[`${object.kind.toLowerCase()}-${object.metadata.name}.yaml`] = template(object)
  }
  for (const choice of CHOICES) {
    const added = additions(choice)
    if (added !== undefined) files[`${choice.folder.replace('overlays/', 'with-')}.yaml`] = added
  }
  return files
}
