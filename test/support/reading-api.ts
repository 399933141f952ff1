import type { ReadOnlyApi } from '../../src/insight/sight.ts'
import {
  ApiError,
  type ListOptions,
  type ObjectList,
  type ObjectRef,
  type Resource,
} from '../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'

/** What was asked: `get pods ml/train`, `list workloads`. */
type Denies = (call: string) => boolean

/** Objects that can be read and nothing else, with the rights that a test gives. Anything but a read is a mistake. */
export class ReadingApi implements ReadOnlyApi {
  readonly calls: string[] = []
  denies: Denies = () => false
  serves: (resource: Resource) => boolean = () => true
  readonly #objects: readonly (readonly [Resource, KubeObject])[]

  constructor(objects: readonly (readonly [Resource, KubeObject])[]) {
    this.#objects = objects
  }

  async get<T extends KubeObject>(resource: Resource, { namespace, name }: ObjectRef): Promise<T> {
    this.#enter(`get ${resource.plural} ${namespace === undefined ? '' : `${namespace}/`}${name}`)
    const found = this.#of(resource, namespace).find(({ metadata }) => metadata.name === name)
    if (found === undefined) throw new ApiError(404, 'NotFound', `${resource.plural} "${name}" not found`)
    return found as T
  }

  async list<T extends KubeObject>(resource: Resource, query: ListOptions): Promise<ObjectList<T>> {
    this.#enter(`list ${resource.plural}${query.namespace === undefined ? '' : ` in ${query.namespace}`}`)
    if (!this.serves(resource)) throw new ApiError(404, 'NotFound', 'the server could not find the requested resource')
    const wanted = query.labelSelector?.split(',').map(part => part.split('=')) ?? []
    const uid = /^regarding\.uid=(.+)$/.exec(query.fieldSelector ?? '')?.[1]
    const items = this.#of(resource, query.namespace)
      .filter(({ metadata }) => wanted.every(([key = '', value]) => metadata.labels?.[key] === value))
      .filter(object => uid === undefined || (object as { regarding?: { uid: string } }).regarding?.uid === uid)
    return { metadata: {}, items: items as readonly KubeObject[] as readonly T[] }
  }

  async discover(path: readonly string[]): Promise<unknown> {
    this.#enter(`discover /${path.join('/')}`)
    return { groups: [] }
  }

  #enter(call: string): void {
    this.calls.push(call)
    if (this.denies(call)) throw new ApiError(403, 'Forbidden', `${call}: forbidden`)
  }

  #of({ group, plural }: Resource, namespace: string | undefined): readonly KubeObject[] {
    return this.#objects
      .filter(([resource]) => resource.group === group && resource.plural === plural)
      .map(([, object]) => object)
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
  }
}
