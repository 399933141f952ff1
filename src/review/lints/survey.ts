import type { Configuration } from '../../config/configuration.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { ROLE_HASH } from '../../kube/vocabulary/names.ts'
import type { ObjectMeta, Pod, PodSpec } from '../../kube/vocabulary/objects.ts'
import { askedOf } from '../../workload/asked.ts'
import { composeGroup } from '../../workload/compose.ts'
import { GROUP_MARKS, groupNameOf, groupNamePath, groupOf, isAdmittedAhead } from '../../workload/group.ts'
import { POD_MARKS, queueOf } from '../../workload/pod-facts.ts'
import { roleHash } from '../../workload/role-hash.ts'
import { nameOf } from '../results.ts'
import type { Subject } from '../subjects.ts'
import { pathText, podTemplatesIn } from '../templates.ts'
import type { Found } from './catalog.ts'
import { isNamespaced } from './kinds.ts'
import { hasTexts } from './metadata.ts'
import { podsMadeOf } from './pods-made.ts'
import { tooSmall } from './queues.ts'

/** Which object of the inputs, counted from 0, and which of its templates. */
export const subjectKey = (index: number, path = ''): string => `${index} ${path}`

/** Where a name was first seen, as one number: half a million objects take less memory than their text. */
const MAX_LINES = 2 ** 32

interface Group {
  readonly members: Pod[]
  /** Nobody knows how many of its pods a controller makes. */
  isOpen: boolean
  readonly first: string
  readonly field: string
}

/**
 * What only shows when all objects are known. It goes over the inputs once, before they are reviewed, and keeps of each
 * object no more than its name and, of the members of groups, what decides about a group.
 */
export class Survey {
  readonly #config: Configuration
  readonly #namespace: string
  readonly #names = new Map<string, number>()
  readonly #files: string[] = []
  readonly #groups = new Map<string, Group>()
  readonly #texts = new Map<string, string>()
  readonly #found = new Map<string, Found[]>()
  #index = 0

  /** `namespace`: of objects that name none. */
  constructor(config: Configuration, namespace: string) {
    this.#config = config
    this.#namespace = namespace
  }

  /** In the order of the inputs: the review will ask by the same counting. */
  add({ source, request, isReview }: Subject): void {
    const index = this.#index++
    const { object, operation, kind } = request
    if (isReview || operation !== 'CREATE' || !isObject(object)) return
    const key = subjectKey(index)
    this.#addName(key, source, request)
    const namespace = request.namespace ?? ''
    if (kind.kind === 'Pod' && kind.group === '') this.#addMember(object, namespace, key, 1, nameOf(request))
    for (const { steps, template } of podTemplatesIn(object, kind, this.#config)) {
      const name = `${nameOf(request)}-*`
      this.#addMember(template, namespace, subjectKey(index, pathText(steps)), podsMadeOf(object, kind, steps), name)
    }
  }

  /** When all objects are known. */
  finish(): void {
    for (const [key, group] of this.#groups) this.#judge(key.slice(key.indexOf('\n') + 1), group)
    this.#groups.clear()
    this.#names.clear()
    this.#texts.clear()
  }

  findingsOf(key: string): readonly Found[] {
    return this.#found.get(key) ?? []
  }

  #note(key: string, found: Found): void {
    const known = this.#found.get(key)
    if (known === undefined) this.#found.set(key, [found])
    else known.push(found)
  }

  #addName(key: string, { file, line }: Subject['source'], request: Subject['request']): void {
    const { kind } = request
    const name = nameOf(request)
    if (name === '' || name.endsWith('*')) return
    const namespace = request.namespace || (isNamespaced(kind.group, kind.kind) ? this.#namespace : '')
    const id = `${kind.group}\n${kind.kind}\n${namespace}\n${name}`
    const earlier = this.#names.get(id)
    if (earlier === undefined) {
      if (this.#files.at(-1) !== file) this.#files.push(file)
      this.#names.set(id, (this.#files.length - 1) * MAX_LINES + line)
      return
    }
    const place = `${this.#files[Math.floor(earlier / MAX_LINES)]}:${earlier % MAX_LINES}`
    const message = `${kind.kind} "${name}" is also at ${place}: the later one would replace it`
    // A base and its overlays have the same names in different files, and nobody applies both.
    const severity = place.startsWith(`${file}:`) ? 'error' : 'warning'
    this.#note(key, { code: 'DuplicateName', severity, message, field: 'metadata.name' })
  }

  #addMember(given: Fields, namespace: string, key: string, count: number | undefined, name: string): void {
    const { metadata, spec } = given
    if (!isObject(metadata) || !isObject(spec)) return
    const pod = { metadata, spec } as unknown as Pod
    if (!hasTexts(metadata) || groupNameOf(pod) === undefined || groupOf(pod) === undefined) return
    const id = `${namespace}\n${groupNameOf(pod)}`
    const group = this.#groups.get(id) ?? { members: [], isOpen: false, first: key, field: groupNamePath(pod) }
    this.#groups.set(id, group)
    const member = this.#slim(pod, namespace, name)
    if (count === undefined) group.isOpen = true
    for (let each = 0; each < (count ?? 1); each++) group.members.push(member)
  }

  /** What decides about a group. Most members are alike, so their texts are kept once. */
  #slim(pod: Pod, namespace: string, name: string): Pod {
    const marks = { labels: {} as Record<string, string>, annotations: {} as Record<string, string> }
    for (const mark of [...POD_MARKS, ...GROUP_MARKS]) {
      const value = mark.of(pod)
      if (value !== undefined) marks[mark.in][mark.key] = this.#shared(value)
    }
    marks.annotations[ROLE_HASH] ??= this.#shared(roleHash(pod.spec))
    const metadata: ObjectMeta = { name, namespace, ...marks }
    return { metadata, spec: {} as PodSpec, asks: this.#shared(JSON.stringify(askedOf(pod.spec))) } as Pod
  }

  #shared(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, text)
    return text
  }

  /** What Muster would say of the group, if these were its pods. */
  #judge(name: string, { members, isOpen, first, field }: Group): void {
    const [pod] = members
    if (pod === undefined) return
    const composed = composeGroup(name, members)
    // Whether its pods contradict each other can be said, but not whether they are too few or too many.
    if (isOpen && ('plan' in composed || composed.reason !== 'InvalidGroup')) return
    if ('plan' in composed) {
      for (const found of tooSmall(queueOf(pod), composed.plan.podSets, this.#config)) this.#note(first, found)
      const seats = composed.plan.podSets.reduce((sum, { count }) => sum + count, 0)
      if (members.length <= seats || isAdmittedAhead(pod)) return
      const message = `group ${name} has ${members.length} pods here and declares ${seats}: what is too many never starts`
      this.#note(first, { code: 'GroupExcess', message, field })
      return
    }
    if (composed.reason === 'InvalidGroup') {
      this.#note(first, { code: 'GroupInvalid', message: composed.note, field })
      return
    }
    const message = `${composed.note}: it waits for the others (${composed.reason})`
    this.#note(first, { code: 'GroupIncomplete', message, field })
  }
}
