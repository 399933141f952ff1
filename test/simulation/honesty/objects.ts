import type { ObjectMeta } from '../../../src/kube/vocabulary/objects.ts'
import type { Stored } from '../model/server.ts'

export const GATE = 'example.com/gate'
export const HOLD = 'example.com/hold'
export const KEEP = 'example.com/keep'
export const GUARD = 'example.com/guard'
/** A node that is not there: no kubelet, and nobody who plays one, touches its pods. */
export const NODE = 'nowhere'
/** A uid that no object has. */
export const OTHER_UID = '00000000-0000-0000-0000-000000000000'
export const IMAGE = 'registry.example/none:1'
export const QUEUE = 'team-a'

/** Named as an admission plugin would add them otherwise. */
export const TOLERATIONS = ['not-ready', 'unreachable'].map(condition => ({
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}))

/** No scheduler serves it, so it stays where the script puts it. */
export function pod(name: string, metadata: ObjectMeta = {}, spec: object = {}): Stored {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: {
      schedulerName: 'nobody',
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 30,
      automountServiceAccountToken: false,
      tolerations: TOLERATIONS,
      containers: [{ name: 'main', image: IMAGE }],
      ...spec,
    },
  }
}

export const gated = (...names: readonly string[]) => ({ schedulingGates: names.map(name => ({ name })) })

export function workload(name: string, metadata: ObjectMeta = {}, spec: object = {}): Stored {
  const template = { spec: { containers: [{ name: 'main', image: IMAGE }] } }
  return {
    apiVersion: 'muster.dev/v1alpha1',
    kind: 'Workload',
    metadata: { name, ...metadata },
    spec: { queueName: QUEUE, podSets: [{ name: 'main', count: 1, template }], ...spec },
  }
}

/** Another controller than Kubernetes' own is named for it, which is not there: its status is the script's to write. */
export function job(name: string, spec: object = {}): Stored {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: IMAGE }] } }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: { managedBy: 'example.com/nobody', template, ...spec },
  }
}

export function owner({ kind = '', metadata }: Stored, controller = false) {
  const { name = '', uid = '' } = metadata
  return { apiVersion: 'v1', kind, name, uid, ...(controller && { controller }) }
}

export function condition(type: string, status = 'True') {
  return { type, status, reason: 'Because', message: 'because', lastTransitionTime: '2026-11-16T10:00:02Z' }
}

/** As the reconciler tells a pod why it waits. */
export function event(name: string, namespace: string): Stored & { readonly regarding: object } {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name },
    ...{
      eventTime: '2026-11-16T10:00:02.000000Z',
      reportingController: 'example.com/script',
      reportingInstance: 'one',
    },
    ...{ action: 'Look', reason: 'Because', note: 'because', type: 'Normal' },
    regarding: { apiVersion: 'v1', kind: 'Pod', name: 'it', namespace },
  }
}
