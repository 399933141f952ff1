import {
  ApiError,
  type ListOptions,
  type ObjectRef,
  type Patch,
  type Resource,
} from '../../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import type { DeleteOptions, Stored } from '../model/server.ts'
import { Names, refusal } from './names.ts'
import type { Stage } from './stage.ts'
import type { Entry, Transcript } from './transcript.ts'
import { isNoMarker, Watching, type WatchingOptions } from './watching.ts'

/** A part of the script that needs nothing from the others, in a namespace of its name. */
export interface Chapter {
  readonly name: string
  /** It takes the server's memory away, so nobody else may be on stage. */
  readonly alone?: boolean
  /** Steps at which the model is known to answer differently, and why that is left so. */
  readonly notModelled?: Readonly<Record<string, string>>
  play(play: Play): Promise<void>
}

export interface Page {
  readonly version: string
  readonly next: string
}

const LONGEST_WAIT_MS = 60_000
const LOOK_EVERY_MS = 100

export async function perform(chapter: Chapter, stage: Stage): Promise<Transcript> {
  await stage.createNamespace(chapter.name)
  const play = new Play(stage, chapter.name)
  try {
    await chapter.play(play)
  } finally {
    play.close()
  }
  return play.transcript
}

/** The verbs of the script. Each writes the answer down under the title of its step. */
export class Play {
  readonly namespace: string
  readonly stage: Stage
  readonly #names = new Names()
  readonly #entries: Entry[] = []
  readonly #watches: Watching[] = []

  constructor(stage: Stage, namespace: string) {
    this.stage = stage
    this.namespace = namespace
  }

  get transcript(): Transcript {
    return this.#entries
  }

  /** An object of this chapter. */
  at(name: string, subresource?: string): ObjectRef {
    return { namespace: this.namespace, name, ...(subresource !== undefined && { subresource }) }
  }

  create(step: string, resource: Resource, object: Stored): Promise<Stored> {
    const metadata = resource.namespaced ? { namespace: this.namespace, ...object.metadata } : object.metadata
    return this.#object(step, () => this.stage.api.create(resource, { ...object, metadata } as KubeObject))
  }

  get(step: string, resource: Resource, ref: ObjectRef): Promise<Stored> {
    return this.#object(step, () => this.stage.api.get(resource, ref))
  }

  replace(step: string, resource: Resource, ref: ObjectRef, object: Stored): Promise<Stored> {
    return this.#object(step, () => this.stage.api.replace(resource, ref, object))
  }

  merge(step: string, resource: Resource, ref: ObjectRef, body: object): Promise<Stored> {
    return this.#patch(step, resource, ref, { type: 'merge', body })
  }

  strategic(step: string, resource: Resource, ref: ObjectRef, body: object): Promise<Stored> {
    return this.#patch(step, resource, ref, { type: 'strategic', body })
  }

  json(step: string, resource: Resource, ref: ObjectRef, body: unknown): Promise<Stored> {
    return this.#patch(step, resource, ref, { type: 'json', body })
  }

  apply(step: string, resource: Resource, ref: ObjectRef, body: object): Promise<Stored> {
    return this.#patch(step, resource, ref, { type: 'apply', body, fieldManager: 'script' })
  }

  async delete(step: string, resource: Resource, ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    await this.#write(step, async () => {
      if (options.graceSeconds === undefined) await this.stage.api.delete(resource, ref, options)
      else await this.stage.delete(resource, ref, options)
      return 'ok'
    })
  }

  async bind(step: string, ref: ObjectRef, nodeName: string): Promise<void> {
    await this.#write(step, async () => {
      await this.stage.bind(ref, nodeName)
      return 'ok'
    })
  }

  list(step: string, resource: Resource, query: ListOptions): Promise<Page> {
    return this.#list(step, resource, query, undefined)
  }

  /** The rest of a list that came in pages. */
  more(step: string, resource: Resource, page: Page, limit?: number): Promise<Page> {
    return this.#list(step, resource, { continue: page.next, ...(limit && { limit }) }, page)
  }

  /** The list as it was when that page was read. */
  asOf(step: string, resource: Resource, page: Page): Promise<Page> {
    return this.#list(step, resource, { resourceVersion: page.version, resourceVersionMatch: 'Exact' }, page)
  }

  watch(resource: Resource, query: WatchingOptions): Watching {
    const watching = new Watching(
      this.stage.api,
      resource,
      { namespace: this.namespace, ...query },
      this.#watches.length + 1,
    )
    this.#watches.push(watching)
    return watching
  }

  /** What the watch has shown since the last time. */
  async shown(step: string, watching: Watching): Promise<void> {
    await this.#write(step, async () => (await watching.upToNow()).map(event => this.#event(event, step)))
  }

  /** What the watch shows until its initial events are complete. */
  async shownAtFirst(step: string, watching: Watching): Promise<void> {
    await this.#write(step, async () => (await watching.toTheBookmark()).map(event => this.#event(event, step)))
  }

  /** What the watch shows until the server ends it. */
  async shownToTheEnd(step: string, watching: Watching): Promise<void> {
    await this.#write(step, async () => (await watching.toTheEnd()).map(event => this.#event(event, step)))
  }

  /** Controllers take their time: writes down the object as it is when the condition holds. */
  async until(step: string, resource: Resource, ref: ObjectRef, holds: (object: Stored) => boolean): Promise<void> {
    await this.#object(step, () =>
      this.#eventually(step, async () => {
        const object = await this.stage.api.get<Stored>(resource, ref)
        return holds(object) ? object : undefined
      }),
    )
  }

  async gone(step: string, resource: Resource, ref: ObjectRef): Promise<void> {
    await this.#write(step, () =>
      this.#eventually(step, async () => {
        try {
          await this.stage.api.get(resource, ref)
          return undefined
        } catch (error) {
          if (error instanceof ApiError && error.status === 404) return 'gone'
          throw error
        }
      }),
    )
  }

  close(): void {
    for (const watching of this.#watches) watching.close()
  }

  #event(event: Awaited<ReturnType<Watching['upToNow']>>[number], step: string): object {
    if (event.type === 'ERROR') return { type: event.type, code: event.object.code, reason: event.object.reason }
    if (event.type !== 'BOOKMARK') return { type: event.type, object: this.#names.object(event.object, step) }
    const { annotations, resourceVersion } = event.object.metadata
    return { type: event.type, annotations, version: this.#names.moment(resourceVersion) }
  }

  async #list(step: string, resource: Resource, query: ListOptions, first: Page | undefined): Promise<Page> {
    let page: Page = { version: '', next: '' }
    await this.#write(step, async () => {
      const { items, metadata } = await this.stage.api.list<Stored>(resource, { namespace: this.namespace, ...query })
      page = { version: metadata.resourceVersion ?? '', next: metadata.continue ?? '' }
      // Items of a list carry no kind; everything else about them is as everywhere.
      const shown = items.filter(isNoMarker).map(item => this.#names.object({ ...item, kind: resource.kind }, step))
      const sameMoment = first === undefined ? this.#names.moment(page.version) : page.version === first.version
      return { items: shown, version: sameMoment, more: page.next !== '' }
    })
    return page
  }

  async #eventually<T>(step: string, look: () => Promise<T | undefined>): Promise<T> {
    for (let waited = 0; waited < LONGEST_WAIT_MS; waited += LOOK_EVERY_MS) {
      const found = await look()
      if (found !== undefined) return found
      await this.stage.sleep(LOOK_EVERY_MS)
    }
    throw new Error(`${this.namespace}, step "${step}": not within ${LONGEST_WAIT_MS / 1000} s`)
  }

  #patch(step: string, resource: Resource, ref: ObjectRef, patch: Patch): Promise<Stored> {
    return this.#object(step, () => this.stage.api.patch(resource, ref, patch))
  }

  /** Of a refused call an object without uid and version comes back: later steps then fail by their own answers. */
  async #object(step: string, call: () => Promise<KubeObject>): Promise<Stored> {
    let object: Stored = { metadata: {} }
    await this.#write(step, async () => {
      object = await call()
      return this.#names.object(object, step)
    })
    return object
  }

  async #write(step: string, call: () => Promise<unknown>): Promise<void> {
    if (this.#entries.some(entry => entry.step === step)) throw new Error(`two steps are called "${step}"`)
    try {
      this.#entries.push({ step, answer: await call() })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.#entries.push({ step, answer: refusal(error) })
    }
  }
}
