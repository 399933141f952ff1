import { ApiError, type KubeApi, type ObjectRef } from '../kube/vocabulary/api.ts'
import { sleep } from '../kube/vocabulary/backoff.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import type { Phase, Step } from './steps.ts'

export interface Hands {
  readonly api: Pick<KubeApi, 'get' | 'create' | 'patch' | 'delete'>
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** What could not be written, and what was said to it. */
export interface Refusal {
  readonly what: string
  readonly message: string
}

export interface Outcome {
  readonly done: readonly Step[]
  readonly refused: readonly Refusal[]
}

/** As many writes at once as an API server takes from one client without making others wait. */
const PARALLEL = 16
/** How long something may take to go that was told to: a namespace with two replicas that end in peace, and more. */
const GOING_MS = 120_000
const POLL_MS = 300

/** Does all steps of a phase, a few at a time, and goes on after one that is refused. */
export async function performPhase({ steps }: Phase, hands: Hands, told: (done: number) => void): Promise<Outcome> {
  const done: Step[] = []
  const refused: Refusal[] = []
  const left = [...steps]
  const work = async (): Promise<void> => {
    for (let step = left.shift(); step !== undefined && !hands.signal.aborted; step = left.shift()) {
      const message = await perform(step, hands)
      if (message === undefined) done.push(step)
      else refused.push({ what: describe(step), message })
      told(done.length)
    }
  }
  await Promise.all(Array.from({ length: Math.min(PARALLEL, steps.length) }, work))
  return { done, refused }
}

/** Undefined: it is so. What is gone, or has a successor of its name, needs nothing any more. */
async function perform(step: Step, hands: Hands): Promise<string | undefined> {
  try {
    await send(step, hands)
    return step.kind === 'delete' && step.awaited ? await untilGone(step, hands) : undefined
  } catch (error) {
    if (isGone(error, step)) return undefined
    return error instanceof Error ? error.message : String(error)
  }
}

function isGone(error: unknown, { kind }: Step): boolean {
  if (!(error instanceof ApiError)) return false
  if (kind === 'create') return error.status === 409
  return error.status === 404 || (error.status === 422 && error.causes.some(({ field }) => field === 'metadata.uid'))
}

async function send(step: Step, { api, signal }: Hands): Promise<void> {
  const { resource, object } = step
  const options = { signal, metadataOnly: true }
  if (step.kind === 'create') await api.create(resource, object, { signal })
  else if (step.kind === 'patch') await api.patch(resource, refOf(object), step.patch, options)
  else await api.delete(resource, refOf(object), preconditions(object), { signal, propagation: 'Background' })
}

const preconditions = ({ metadata: { uid } }: KubeObject): { uid?: string } => (uid === undefined ? {} : { uid })

async function untilGone({ resource, object }: Step, { api, clock, signal }: Hands): Promise<string | undefined> {
  const deadline = clock.monotonic() + GOING_MS
  while (clock.monotonic() < deadline && !signal.aborted) {
    const found = await api.get(resource, refOf(object), { signal, metadataOnly: true })
    if (found.metadata.uid !== object.metadata.uid) return undefined
    await sleep(clock, POLL_MS, signal)
  }
  return `it was deleted and is still there after ${GOING_MS / 1000} s: see what holds it (metadata.finalizers, status)`
}

const refOf = ({ metadata: { namespace, name = '' } }: KubeObject): ObjectRef => ({
  name,
  ...(namespace !== undefined && { namespace }),
})

export function describe({ resource, object: { metadata } }: Step): string {
  const { namespace, name } = metadata
  return `${resource.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}
