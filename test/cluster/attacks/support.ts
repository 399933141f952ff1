import { expect } from 'vitest'
import type { KubeObject, Pod } from '../../../src/kube/vocabulary/objects.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import type { KubectlOptions } from '../support/kubectl.ts'
import { queuedPod } from '../support/manifests.ts'
import { Muster } from '../support/muster.ts'
import { eventually } from '../support/wait.ts'

/** Where the attackers are tenants, and where somebody else is. */
export const RED = 'red'
export const BLUE = 'blue'

/** Admits nothing, so what is in it waits. */
export const CLOSED = 'closed'

/** As kubectl impersonates them. */
export type User = Pick<KubectlOptions, 'as' | 'asGroups' | 'kubeconfig'>

/** Admin of his namespace by Kubernetes' own role, and whatever subresources of pods there are. */
export const ADMIN: User = { as: 'admin-of-red', asGroups: ['system:authenticated'] }
/** May create pods and look at them. */
export const CREATOR: User = { as: 'creator-in-red', asGroups: ['system:authenticated'] }
/** May do everything with everything in his namespace. */
export const OWNER: User = { as: 'owner-of-red', asGroups: ['system:authenticated'] }
export const EDITOR: User = { as: 'editor-in-red', asGroups: ['system:authenticated'] }
export const VIEWER: User = { as: 'viewer-in-red', asGroups: ['system:authenticated'] }
/** May do everything in the whole cluster; that is no exemption. */
export const ROOT: User = { as: 'root', asGroups: ['system:masters', 'system:authenticated'] }
/** The same person, in need. */
export const IN_NEED: User = { as: 'root', asGroups: ['system:masters', 'muster:break-glass', 'system:authenticated'] }
/** A kubelet. */
export const NODE: User = { as: 'system:node:node-0', asGroups: ['system:nodes', 'system:authenticated'] }
export const POD_GARBAGE_COLLECTOR: User = { as: 'system:serviceaccount:kube-system:pod-garbage-collector' }
/** Somebody who got hold of Muster's token. */
export const THIEF: User = { as: 'system:serviceaccount:muster-system:muster' }

/** One plane with Muster installed by its manifests, and tenants with their rights. */
export class Battlefield {
  readonly plane: ControlPlane
  readonly muster: Muster

  private constructor(plane: ControlPlane, muster: Muster) {
    this.plane = plane
    this.muster = muster
  }

  static async open(
    name: string,
    config: Parameters<typeof Muster.install>[1] = {},
    featureGates: 'none' | 'all' = 'none',
    jobset = false,
  ): Promise<Battlefield> {
    const plane = await startControlPlane({ name, featureGates, audited: true, jobset })
    try {
      for (const namespace of [RED, BLUE]) await plane.createNamespace(namespace)
      await plane.kubectl(['create', '-f', '-'], { stdin: { apiVersion: 'v1', kind: 'List', items: rights() } })
      const muster = await Muster.install(plane, { queues: [{ name: CLOSED, limits: { pods: 0 } }], ...config })
      const field = new Battlefield(plane, muster)
      await eventually('the tenants have their rights', async () => {
        await field.passes(ADMIN, ['get', 'workloads.muster.dev'])
        await field.passes(OWNER, ['get', 'workloads.muster.dev'])
        return true
      })
      return field
    } catch (error) {
      await plane.stop()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.muster.stop()
    await this.plane.stop()
  }

  /** What kubectl says when it is refused; that it is, is the test. */
  async refused(user: User, args: readonly string[], stdin?: object, namespace: string = RED): Promise<string> {
    const options = { ...user, expectFailure: true, ...(stdin && { stdin }) }
    const { stderr } = await this.plane.kubectl([...args, '-n', namespace], options)
    // What RBAC, the API or kubectl itself refuses would prove nothing.
    expect(stderr).toMatch(/admission webhook|ValidatingAdmissionPolicy|is invalid:|failed calling webhook/)
    return stderr.trim()
  }

  async passes(user: User, args: readonly string[], stdin?: object, namespace: string = RED): Promise<string> {
    const { stdout } = await this.plane.kubectl([...args, '-n', namespace], { ...user, ...(stdin && { stdin }) })
    return stdout.trim()
  }

  async get<T extends KubeObject = Pod>(name: string, kind = 'pod', namespace: string = RED): Promise<T> {
    return await this.plane.kubectl.json<T>(['get', kind, name, '-n', namespace])
  }

  /** A pod of the queue `team-a`, which has no limits. */
  async runningPod(name: string, more: object = {}): Promise<Pod> {
    await this.passes(ADMIN, ['create', '-f', '-'], queuedPod({ namespace: RED, name, ...more }))
    return await eventually(`${name} runs`, async () => {
      const pod = await this.get(name)
      return pod.status?.phase === 'Running' ? pod : undefined
    })
  }

  async waitingPod(name: string, more: object = {}): Promise<Pod> {
    await this.passes(ADMIN, ['create', '-f', '-'], queuedPod({ namespace: RED, name, queue: CLOSED, ...more }))
    return await this.get(name)
  }

  /** The Workload of a single pod. */
  async workloadOf(pod: Pod): Promise<QueuedWorkload> {
    return await eventually(`${pod.metadata.name} has a Workload`, async () => {
      const { items } = await this.plane.kubectl.json<{ items: QueuedWorkload[] }>([
        ...['get', 'workloads.muster.dev', '-n', RED],
      ])
      return items.find(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid))
    })
  }

  async isGone(name: string, kind = 'pod', namespace: string = RED): Promise<void> {
    await eventually(`${kind} ${name} is gone`, async () => {
      const args = ['get', kind, name, '-n', namespace, '--ignore-not-found', '-o', 'name']
      return (await this.plane.kubectl(args)).stdout === ''
    })
  }
}

/** Arguments of a merge patch. */
export const patch = (kind: string, name: string, change: object, ...more: readonly string[]): readonly string[] => [
  ...['patch', kind, name, '--type=merge', '-p', JSON.stringify(change), ...more],
]

/** Arguments of a strategic merge patch, which knows lists by their keys. */
export const strategic = (
  kind: string,
  name: string,
  change: object,
  ...more: readonly string[]
): readonly string[] => [...['patch', kind, name, '-p', JSON.stringify(change), ...more]]

const POD_SUBRESOURCES = ['binding', 'ephemeralcontainers', 'eviction', 'resize', 'status'].map(name => `pods/${name}`)

function rights(): readonly object[] {
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' }
  const role = (name: string, rules: readonly object[]): object => ({
    ...rbac,
    kind: 'Role',
    metadata: { name, namespace: RED },
    rules,
  })
  const bind = ({ as: name }: User, kind: 'Role' | 'ClusterRole', to: string): object => ({
    ...rbac,
    kind: 'RoleBinding',
    metadata: { name: `${name?.replaceAll(':', '.')}-${to}`, namespace: RED },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: to },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  })
  const verbs = ['create', 'get', 'list', 'watch', 'update', 'patch', 'delete']
  return [
    role('pods-and-all', [
      { apiGroups: [''], resources: ['pods', 'bindings', ...POD_SUBRESOURCES], verbs },
      { apiGroups: ['batch'], resources: ['jobs', 'jobs/status'], verbs },
      { apiGroups: ['muster.dev'], resources: ['workloads', 'workloads/status'], verbs },
    ]),
    role('creator', [{ apiGroups: [''], resources: ['pods'], verbs: ['create', 'get', 'list'] }]),
    role('everything', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]),
    bind(ADMIN, 'ClusterRole', 'admin'),
    bind(ADMIN, 'Role', 'pods-and-all'),
    bind(CREATOR, 'Role', 'creator'),
    bind(OWNER, 'Role', 'everything'),
    bind(EDITOR, 'ClusterRole', 'edit'),
    bind(VIEWER, 'ClusterRole', 'view'),
    // kubectl looks at what it patches; kubelets and controllers need not.
    role('reads-status', [{ apiGroups: [''], resources: ['pods/status'], verbs: ['get'] }]),
    bind(NODE, 'Role', 'reads-status'),
    bind(POD_GARBAGE_COLLECTOR, 'Role', 'reads-status'),
  ]
}
