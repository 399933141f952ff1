// Two controllers whose pods are scheduled together, with the builder of this package: a `Batch` has one kind of pods, a
// `Pipeline` has stages that start together. docs/workloadbuilder.md explains the steps.
//
//   npm install @muster-dev/muster
//   node examples/workloadbuilder.ts
import {
  type AllowLists,
  createBuilder,
  type FieldError,
  groupsOf,
  type SchedulingCallback,
  type WorkloadInput,
  type WorkloadItem,
  workloadErrors,
  workloadName,
} from '@muster-dev/muster/workloadbuilder'

interface Meta {
  readonly name: string
  readonly namespace: string
  readonly uid: string
}

/** Story 2 of KEP-6089: one level. The user's `scheduling` has the building blocks of scheduling.k8s.io. */
export interface Batch {
  readonly kind: 'Batch'
  readonly metadata: Meta
  readonly spec: { readonly pods: number; readonly scheduling?: Scheduling }
}

/** Story 3: two levels. Each stage has a block; the whole is what the controller makes it. */
export interface Pipeline {
  readonly kind: 'Pipeline'
  readonly metadata: Meta
  readonly spec: {
    readonly stages: readonly { readonly name: string; readonly pods: number; readonly scheduling?: Scheduling }[]
  }
}

interface Scheduling {
  readonly policy?: NonNullable<WorkloadInput['policy']>['group']
  readonly constraints?: NonNullable<WorkloadInput['constraints']>['group']
}

/** What this controller has thought about. An option that Kubernetes adds later stays out until it is listed here. */
const ALLOW: AllowLists = { policies: ['basic', 'gang'], disruptionModes: ['single'] }

/** A user who asks for a gang and names no size means all pods. */
const gangOfAll =
  (pods: number): SchedulingCallback =>
  config =>
    config.policy?.gang === undefined
      ? config
      : { ...config, policy: { gang: { minCount: pods, ...config.policy.gang } } }

/** Errors come at these paths, so that users find them in their manifest. */
const groupOf = (name: string, path: string, pods: number, { policy, constraints }: Scheduling = {}): WorkloadItem => ({
  name,
  path,
  defaults: { policy: { basic: {} } },
  input: { policy: { group: policy, path: ['policy'] }, constraints: { group: constraints, path: ['constraints'] } },
  callbacks: [gangOfAll(pods)],
})

/** A Batch is one group of pods; a Pipeline is a group of groups, none of which starts without the others. */
function treeOf(owner: Batch | Pipeline): WorkloadItem {
  if (owner.kind === 'Batch') return groupOf('pods', 'spec.scheduling', owner.spec.pods, owner.spec.scheduling)
  const { stages } = owner.spec
  return {
    name: 'whole',
    defaults: { policy: { gang: { minCount: stages.length } } },
    children: stages.map(({ name, pods, scheduling }, index) =>
      groupOf(name, `spec.stages[${index}].scheduling`, pods, scheduling),
    ),
  }
}

/** The objects to create, in this order, or what to tell the user. */
export function objectsFor(owner: Batch | Pipeline): readonly object[] | { readonly errors: readonly FieldError[] } {
  const { name, namespace, uid } = owner.metadata
  const reference = { apiVersion: 'example.com/v1', kind: owner.kind, name, uid, controller: true }
  const builder = createBuilder(treeOf(owner), {
    name: workloadName(name, uid),
    namespace,
    owner: reference,
    allow: ALLOW,
  })
  const errors = builder.validate()
  if (errors.length > 0) return { errors }
  const built = builder.buildWorkload()
  if ('errors' in built) return built
  // What the API server would refuse, it would refuse for ever: better to say so than to try again and again.
  const refused = workloadErrors(built.ok)
  return refused.length > 0 ? { errors: refused } : [built.ok, ...groupsOf(built.ok, [reference])]
}

export const EXAMPLES: readonly (Batch | Pipeline)[] = [
  {
    kind: 'Batch',
    metadata: { name: 'nightly', namespace: 'team-a', uid: '7d0e5d3c-52a1-4f5e-9d5c-0e7f5a0f5a11' },
    spec: { pods: 4, scheduling: { policy: { gang: {} } } },
  },
  {
    kind: 'Pipeline',
    metadata: { name: 'tune', namespace: 'team-a', uid: '1b9f3f6e-6c0d-4d0b-8a55-3f6a2f1c7b22' },
    spec: {
      stages: [
        { name: 'driver', pods: 1 },
        {
          name: 'workers',
          pods: 8,
          scheduling: { policy: { gang: {} }, constraints: { topology: [{ key: 'topology.kubernetes.io/rack' }] } },
        },
      ],
    },
  },
]

if (process.argv[1] === import.meta.filename) {
  for (const owner of EXAMPLES) console.log(JSON.stringify(objectsFor(owner), null, 2))
}
