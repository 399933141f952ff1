import { type FieldError, forbidden, invalid } from '../../../src/validation/field-error.ts'
import { equal } from './patches.ts'
import type { Stored } from './server.ts'

interface Toleration {
  readonly tolerationSeconds?: number
}

type Spec = Readonly<Record<string, unknown>> & {
  readonly containers?: readonly { readonly image?: string }[]
  readonly schedulingGates?: readonly { readonly name: string }[]
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly tolerations?: readonly Toleration[]
  readonly activeDeadlineSeconds?: number
  readonly nodeName?: string
  readonly terminationGracePeriodSeconds?: number
}

const COLLECTIONS: ReadonlySet<string> = new Set(['schedulingGates', 'nodeSelector', 'tolerations'])
const DEFAULT_GRACE = 30

/** An empty list or map is stored as none. */
export function tidyPod(pod: Stored): Stored {
  const kept = Object.entries(pod.spec as Spec).filter(
    ([key, value]) => !COLLECTIONS.has(key) || (value && Object.keys(value).length > 0),
  )
  return { ...pod, spec: Object.fromEntries(kept) }
}

/** What the API server lets change in the spec of a pod (ValidatePodUpdate), in the order in which it looks. */
export function podUpdateProblem(before: Stored, after: Stored): FieldError | undefined {
  const [was, is] = [before.spec as Spec, after.spec as Spec]
  if (was === is || equal(was, is)) return undefined
  if (was.containers?.length !== is.containers?.length) {
    return forbidden('spec.containers', 'pod updates may not add or remove containers')
  }
  if (is.activeDeadlineSeconds !== was.activeDeadlineSeconds && !isShorter(was, is)) {
    const problem = 'must be less than or equal to previous value'
    return invalid('spec.activeDeadlineSeconds', is.activeDeadlineSeconds, problem)
  }
  if (!keepsTolerations(was.tolerations, is.tolerations)) {
    return forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')
  }
  const gatesWere = (was.schedulingGates ?? []).map(gate => gate.name)
  const added = (is.schedulingGates ?? []).findIndex(gate => !gatesWere.includes(gate.name))
  if (added >= 0) return forbidden(`spec.schedulingGates[${added}].name`, 'only deletion is allowed')
  const gated = gatesWere.length > 0
  if (gated && Object.entries(was.nodeSelector ?? {}).some(([key, value]) => is.nodeSelector?.[key] !== value)) {
    return invalid('spec.nodeSelector', is.nodeSelector, 'only additions are allowed (no mutations or deletions)')
  }
  return equal(fixed(was, gated), fixed(is, gated))
    ? undefined
    : forbidden('spec', 'pod updates may not change fields other than these')
}

/** A pod that is on no node, or has ended, needs no time to stop. */
export function graceOf(pod: Stored, asked: number | undefined): number {
  const { nodeName, terminationGracePeriodSeconds = DEFAULT_GRACE } = pod.spec as Spec
  const phase = (pod.status as { phase?: string } | undefined)?.phase
  if (!nodeName || phase === 'Succeeded' || phase === 'Failed') return 0
  return asked ?? terminationGracePeriodSeconds
}

function isShorter({ activeDeadlineSeconds: was }: Spec, { activeDeadlineSeconds: is }: Spec): boolean {
  return is !== undefined && (was === undefined || is < was)
}

function keepsTolerations(was: Spec['tolerations'] = [], is: Spec['tolerations'] = []): boolean {
  const patient = ({ tolerationSeconds: _, ...rest }: Toleration) => rest
  return was.every(old => is.some(kept => equal(patient(old), patient(kept))))
}

function fixed(spec: Spec, gated: boolean): object {
  const { schedulingGates: _, tolerations: __, activeDeadlineSeconds: ___, nodeSelector, ...rest } = spec
  const containers = rest.containers?.map(({ image: _, ...others }) => others)
  return { ...rest, containers, ...(!gated && { nodeSelector }) }
}
