import { type Fields, isObject } from '../kube/vocabulary/fields.ts'
import {
  COMPOSITES_VERSION,
  JOB_CONTROLLER_ROLE,
  KAI_GROUP,
  KAI_VERSION,
  SCHEDULING_GROUP,
  SCHEDULING_VERSIONS,
  type ServedScheduling,
  servedSchedulingOf,
} from '../kube/vocabulary/served-scheduling.ts'
import { kindOf } from './rules.ts'

/** What comes with a version of a group, where only the group is known. */
const USUAL: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    SCHEDULING_VERSIONS.map(version => [
      `${SCHEDULING_GROUP}/${version}`,
      version === 'v1alpha1' ? ['workloads'] : ['workloads', 'podgroups'],
    ]),
  ),
  [`${SCHEDULING_GROUP}/${COMPOSITES_VERSION}`]: ['compositepodgroups'],
  [`${KAI_GROUP}/${KAI_VERSION}`]: ['podgroups'],
}

/**
 * What an API server serves, as far as files tell: by its own words (`kubectl get --raw /apis`), by a CRD, or by an
 * object of a kind, for who has one serves it.
 */
export class ServedApis {
  readonly #versions = new Map<string, readonly string[]>()
  readonly #resources = new Map<string, readonly string[]>()
  #jobControllerRole: unknown

  /** Whether the object says what is served and nothing else: it has no name, as those in a cluster have. */
  add(object: Fields): boolean {
    const { kind, metadata } = object
    if (kind === 'APIGroupList') {
      for (const group of objectsIn(object, 'groups')) this.#addGroup(group)
      return true
    }
    if (kind === 'APIGroup') {
      this.#addGroup(object)
      return true
    }
    const name = isObject(metadata) ? metadata.name : undefined
    const { group, version } = kindOf(String(object.apiVersion), String(kind))
    if (kind === 'CustomResourceDefinition' && name === `podgroups.${KAI_GROUP}`)
      this.#addVersion(KAI_GROUP, KAI_VERSION)
    if (kind === 'ClusterRole' && name === JOB_CONTROLLER_ROLE) this.#jobControllerRole = object
    if (Object.hasOwn(USUAL, `${group}/${version}`)) this.#addVersion(group, version)
    return false
  }

  get scheduling(): ServedScheduling {
    return servedSchedulingOf({
      versions: this.#versions,
      resources: this.#resources,
      jobControllerRole: this.#jobControllerRole,
    })
  }

  #addGroup(group: Fields): void {
    for (const { version } of objectsIn(group, 'versions')) this.#addVersion(String(group.name), String(version))
  }

  #addVersion(group: string, version: string): void {
    this.#versions.set(group, [...(this.#versions.get(group) ?? []), version])
    const usual = Object.hasOwn(USUAL, `${group}/${version}`) ? USUAL[`${group}/${version}`] : undefined
    if (usual !== undefined) this.#resources.set(`${group}/${version}`, usual)
  }
}

function objectsIn(holder: Fields, field: string): readonly Fields[] {
  const list = holder[field]
  return Array.isArray(list) ? list.filter(isObject) : []
}
