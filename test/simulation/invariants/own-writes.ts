import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { EVENTS, JOB_SETS, JOBS } from '../../../src/kube/vocabulary/resources.ts'
import { isWrite, type Request } from '../network/wire.ts'

/** A write that was decided before an answer came may still wait for its turn when the answer is there. */
const TURN_MS = 6000

/**
 * F3: no decision is older than our own last write. A process whose write was confirmed does not send it again, and
 * does not send a write that builds on a version from before it.
 */
export class OwnWrites {
  readonly #fail: (message: string) => void
  readonly #now: () => number
  /** By object: the version that our last write made. */
  readonly #versions = new Map<string, { readonly version: number; readonly at: number }>()
  /** Writes without a version that were confirmed, by their text. */
  readonly #done = new Map<string, number>()

  constructor(fail: (message: string) => void, now: () => number) {
    this.#fail = fail
    this.#now = now
  }

  sending(request: Request): void {
    if (!isWrite(request) || request.resource === EVENTS) return
    const { verb, resource, namespace, name, body } = request
    const what = `${verb} ${resource.plural} ${namespace}/${name}`
    const based = versionOf(body)
    const known = this.#versions.get(keyOf(request))
    if (based !== undefined && known !== undefined && based < known.version && this.#isOld(known.at)) {
      this.#fail(`sends ${what} on version ${based}, though its own last write made version ${known.version}`)
    }
    const doneAt = namesUid(body) ? this.#done.get(textOf(request)) : undefined
    if (doneAt !== undefined && this.#isOld(doneAt)) this.#fail(`sends ${what} again, which was confirmed`)
  }

  answered(request: Request, object: KubeObject): void {
    if (request.resource === EVENTS) return
    const version = Number(object.metadata.resourceVersion ?? 0)
    const known = this.#versions.get(keyOf(request))
    if (known === undefined || version > known.version) this.#versions.set(keyOf(request), { version, at: this.#now() })
    // A Job is started and stopped time and again, each time by the same words: only the last ones may not be repeated.
    if (request.resource === JOBS || request.resource === JOB_SETS) this.#forget(request)
    if (request.verb === 'patch' && namesUid(request.body)) this.#done.set(textOf(request), this.#now())
  }

  #forget(request: Request): void {
    for (const text of this.#done.keys()) if (text.startsWith(`${keyOf(request)} `)) this.#done.delete(text)
  }

  #isOld(at: number): boolean {
    return this.#now() - at > TURN_MS
  }
}

const keyOf = ({ resource, namespace, name }: Request): string => `${resource.plural} ${namespace}/${name}`
const textOf = (request: Request): string => `${keyOf(request)} ${JSON.stringify(request.body)}`

/** Without a uid the same text can mean a successor of the same name; that is for others to judge. */
function namesUid(body: unknown): boolean {
  const { metadata } = (body ?? {}) as { metadata?: { uid?: string; resourceVersion?: string } }
  return metadata?.uid !== undefined && metadata.resourceVersion === undefined
}

function versionOf(body: unknown): number | undefined {
  const { metadata } = (body ?? {}) as { metadata?: { resourceVersion?: string } }
  return metadata?.resourceVersion === undefined ? undefined : Number(metadata.resourceVersion)
}
