import { KUEUE_RESOURCE_IN_USE } from '../kube/vocabulary/kueue.ts'
import { RESOURCE_IN_USE } from '../kube/vocabulary/names.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import { CLUSTER_ROLES, NAMESPACES } from '../kube/vocabulary/resources.ts'
import { WORKLOAD_GROUP, WORKLOAD_POD } from '../workload/queued-workload.ts'
import { settleGroups } from './groups.ts'
import { deleteJob, freeJob, waits as jobWaits } from './jobs.ts'
import { CRDS, OF_EVERY_NAMESPACE } from './kinds.ts'
import { foreignIn, ownOf, ownOfKinds } from './own.ts'
import { deletePod, freePod, isOurs, waits as podWaits } from './pods.ts'
import type { Choice, Of, Remains } from './remains.ts'
import { merged, type Phase, type PhaseName, remove, removed, type Step } from './steps.ts'

export interface Plan {
  /**
   * Stop, free, remove. A stage begins when nothing is left of the one before: so nobody makes anew what was taken away,
   * and nothing guards what has to be written.
   */
  readonly stages: readonly (readonly Phase[])[]
  /** Who waits, and whom nobody would start. */
  readonly waiting: { readonly pods: number; readonly jobs: number }
  /** Of others in Muster's namespace: for their sake it stays. */
  readonly foreign: readonly string[]
}

/** What is left to do, from nothing but what is there. Who is interrupted begins here again. */
export function decideUninstall(remains: Remains, choice: Choice | undefined): Plan {
  const pods = remains.pods.filter(pod => isOurs(pod, remains))
  const jobs = remains.jobs.flatMap(({ kind, objects }) => objects.map(job => ({ kind, job })))
  const foreign = foreignIn(remains)
  const stop = [
    phase('TakeRights', ownOfKinds(remains, 'bindings').map(deleted)),
    phase('StopServer', ownOfKinds(remains, 'deployment').map(deleted)),
    phase('RemoveWebhooks', ownOfKinds(remains, 'webhooks').map(deleted)),
    phase('RemovePolicyBindings', ownOfKinds(remains, 'policyBindings').map(deleted)),
    phase('RemovePolicies', ownOfKinds(remains, 'policies').map(deleted)),
  ]
  const free = [
    phase('SettleGroups', settleGroups(remains)),
    phase(
      'FreePods',
      pods.flatMap(pod => freePod(pod, choice, remains.kaiPodGroups) ?? []),
    ),
    phase(
      'DeletePods',
      pods.flatMap(pod => deletePod(pod, choice) ?? []),
    ),
    phase(
      'FreeJobs',
      jobs.flatMap(({ kind, job }) => freeJob(kind, job, choice) ?? []),
    ),
    phase(
      'DeleteJobs',
      jobs.flatMap(({ kind, job }) => deleteJob(kind, job, choice) ?? []),
    ),
    phase('FreeWorkloads', [
      ...released(remains.workloads, RESOURCE_IN_USE),
      ...released(ofKueue(remains), KUEUE_RESOURCE_IN_USE),
    ]),
    phase(
      'DeleteKueueWorkloads',
      ofKueue(remains).objects.map(object => remove(ofKueue(remains).resource, object)),
    ),
  ]
  const last = [
    phase(
      'RemoveCrd',
      ownOf(remains.wide, CRDS).map(crd => removed(CRDS, crd)),
    ),
    phase(
      'RemoveRoles',
      ownOf(remains.wide, CLUSTER_ROLES).map(role => remove(CLUSTER_ROLES, role)),
    ),
    ...withNamespace(remains, foreign),
  ]
  return {
    stages: [stop, free, last].map(phases => phases.filter(({ steps }) => steps.length > 0)),
    waiting: { pods: pods.filter(podWaits).length, jobs: jobs.filter(({ job }) => jobWaits(job)).length },
    foreign,
  }
}

const phase = (name: PhaseName, steps: readonly Step[]): Phase => ({ name, steps })

const deleted = ({ resource, object }: ReturnType<typeof ownOfKinds>[number]): Step => remove(resource, object)

/** Muster's Workloads go with their definition, if nothing holds them. Finalizers of others stay where they are. */
const released = ({ resource, objects }: Of<KubeObject>, finalizer: string): readonly Step[] =>
  objects
    .filter(({ metadata }) => metadata.finalizers?.includes(finalizer))
    .map(object => {
      const { finalizers, resourceVersion } = object.metadata
      const others = (finalizers ?? []).filter(name => name !== finalizer)
      return merged(resource, object, { resourceVersion, finalizers: others })
    })

/** Of Kueue's Workloads those that Muster has made for pods; all others are Kueue's, or of who made them. */
function ofKueue({ kueueWorkloads, workloads }: Remains): Of<KubeObject> {
  if (kueueWorkloads === undefined) return { ...workloads, objects: [] }
  const { resource, objects } = kueueWorkloads
  const isMade = ({ metadata }: KubeObject): boolean =>
    [WORKLOAD_POD, WORKLOAD_GROUP].some(key => Object.hasOwn(metadata.annotations ?? {}, key))
  return { resource, objects: objects.filter(isMade) }
}

/** All in it goes with the namespace, unless somebody else has put something there. */
function withNamespace(remains: Remains, foreign: readonly string[]): readonly Phase[] {
  const { namespace, narrow } = remains
  if (namespace === undefined) return []
  if (foreign.length === 0) return [phase('RemoveNamespace', [removed(NAMESPACES, namespace)])]
  const own = narrow.flatMap(({ resource }) => ownOf(narrow, resource).map(object => ({ resource, object })))
  const steps = own
    .filter(({ object }) => !OF_EVERY_NAMESPACE.includes(object.metadata.name ?? ''))
    .map(({ resource, object }) => remove(resource, object))
  return [phase('RemoveObjects', steps)]
}
