import { type ReadDocument, readDocuments } from '../documents/documents.ts'
import { formatUnreadable, type Unreadable } from '../documents/place.ts'
import { readSources } from '../documents/sources.ts'
import { writeYaml } from '../documents/yaml-writer.ts'
import { parseApiVersion } from '../kube/vocabulary/api-version.ts'
import { type Fields, isObject } from '../kube/vocabulary/fields.ts'
import { oneLine } from '../review/formats/formatter.ts'
import { objectsOf } from '../review/subjects.ts'
import { describe } from '../validation/field-error.ts'
import { inVersion, KUBERNETES_VERSIONS } from '../workload/builder/versions.ts'
import { mapJob } from '../workload/mappers/job.ts'
import { mapJobSet } from '../workload/mappers/jobset.ts'
import { asWorkload } from '../workload/mappers/parent.ts'
import type { MapOptions, MapResult } from '../workload/mappers/source.ts'
import { EXIT } from './command.ts'
import { type Parsed, UsageError } from './flags.ts'
import { print } from './outputs.ts'
import { oneOf } from './review.ts'

const FORMATS = ['yaml', 'json'] as const

/** `muster build`: what the scheduler will see of a Job or a JobSet. */
export async function build(flags: Parsed): Promise<number> {
  const version = oneOf(flags, 'kubernetes-version', KUBERNETES_VERSIONS)
  const format = oneOf(flags, 'output', FORMATS)
  const uid = flags.text('uid')
  const { found, unreadable } = await readInputs(inputsOf(flags))
  const workloads = found.flatMap(({ object, kind }) => (kind === 'Workload' ? (asWorkload(object) ?? []) : []))
  const objects: unknown[] = []
  let isWrong = false
  for (const each of found) {
    const result = mapObject(each, { version, uid, workloads })
    if (result === undefined) continue
    if ('errors' in result) {
      isWrong = true
      for (const error of result.errors) tell(each, `${error.field}: ${describe(error)}`)
      continue
    }
    const versioned = inVersion(result.objects, version)
    objects.push(...versioned.objects)
    for (const note of [...result.notes, ...versioned.lost]) tell(each, `note: ${note}`)
  }
  if (!found.some(({ kind }) => MAKES_PODS.has(kind)) && unreadable.length === 0) {
    // A build that prints nothing because a path changed must not be green.
    const message = 'nothing to build: there is no Job and no JobSet in it'
    unreadable.push({ file: inputsOf(flags).join(', '), line: 0, column: 0, message })
  }
  for (const each of unreadable) process.stderr.write(`${formatUnreadable(each)}\n`)
  await print(format === 'json' ? listOf(objects) : objects.map(object => `---\n${writeYaml(object)}`).join(''))
  if (unreadable.length > 0) return EXIT.unreadable
  return isWrong ? EXIT.denied : EXIT.ok
}

function inputsOf(flags: Parsed): readonly string[] {
  const inputs = [...flags.positionals, ...flags.texts('filename')]
  if (inputs.length === 0) {
    throw new UsageError('nothing to build: name a file or a folder, or "-" for standard input')
  }
  if (inputs.filter(name => name === '-').length > 1) {
    throw new UsageError('"-" is there twice, but standard input can be read only once')
  }
  return inputs
}

type Kind = 'Job' | 'JobSet' | 'CronJob' | 'Workload' | 'other'

const MAKES_PODS: ReadonlySet<Kind> = new Set<Kind>(['Job', 'JobSet', 'CronJob'])

interface Found {
  readonly object: Fields
  readonly kind: Kind
  readonly place: Omit<Unreadable, 'message'>
}

async function readInputs(names: readonly string[]): Promise<{ found: Found[]; unreadable: Unreadable[] }> {
  const all: (Found | Unreadable)[] = []
  for await (const source of readSources(names, { stdin: process.stdin })) {
    if ('message' in source) all.push(source)
    else
      for (const read of readDocuments(source.text, source.file))
        all.push(...('message' in read ? [read] : foundIn(read)))
  }
  return { found: all.filter(each => 'object' in each), unreadable: all.filter(each => 'message' in each) }
}

function foundIn(document: ReadDocument): readonly (Found | Unreadable)[] {
  const { file, line: first } = document.source
  return objectsOf(document).map(({ value, line, problem }) => {
    const place = { file, line, column: line === first ? document.column : 1 }
    if (problem !== undefined) return { ...place, message: problem }
    const object = reviewed(value)
    if (isObject(object)) return { object, kind: kindOf(object), place }
    return { ...place, message: 'is no object: a manifest has apiVersion, kind and metadata' }
  })
}

/** An AdmissionReview is as good as the object in it. */
function reviewed(value: unknown): unknown {
  if (!isObject(value) || value.kind !== 'AdmissionReview' || !isObject(value.request)) return value
  return value.request.object
}

function kindOf({ apiVersion, kind }: Fields): Kind {
  const group = typeof apiVersion === 'string' ? parseApiVersion(apiVersion).group : ''
  if (group === 'batch' && (kind === 'Job' || kind === 'CronJob')) return kind
  if (group === 'jobset.x-k8s.io' && kind === 'JobSet') return kind
  return group === 'scheduling.k8s.io' && kind === 'Workload' ? kind : 'other'
}

function mapObject({ object, kind }: Found, options: MapOptions): MapResult | undefined {
  switch (kind) {
    case 'Job':
      return mapJob(object, options)
    case 'JobSet':
      return mapJobSet(object, options)
    case 'CronJob':
      return {
        objects: [],
        notes: ['its Jobs have it as their controller, and of such Jobs Kubernetes makes no groups'],
      }
    default:
      return undefined
  }
}

function tell({ object, place }: Found, message: string): void {
  const metadata = isObject(object.metadata) ? object.metadata : {}
  const name = `${String(object.kind)} ${String(metadata.name ?? metadata.generateName ?? '')}`
  process.stderr.write(`${formatUnreadable({ ...place, message: oneLine(`${name}: ${message}`) })}\n`)
}

/** One document, as kubectl prints several objects and takes them back. */
function listOf(items: readonly unknown[]): string {
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`
}
