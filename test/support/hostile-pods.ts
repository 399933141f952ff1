import { GROUP_NAME, GROUP_SETS, ROLE_HASH } from '../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../src/kube/vocabulary/objects.ts'
import type { Flood } from './fake-api-server.ts'
import { managedPod } from './pods.ts'

/** About as much as etcd takes for one object. */
const LARGEST = 1_400_000

const fill = <T>(bytesEach: number, item: (index: number) => T): T[] =>
  Array.from({ length: Math.floor(LARGEST / bytesEach) }, (_, index) => item(index))

const mapOf = (bytesEach: number, key: (index: number) => string, value: string): Record<string, string> =>
  Object.fromEntries(fill(bytesEach, index => [key(index), value]))

/** A control character is one byte in etcd and six in JSON. */
export const CONTROL = '\u0001'

type Changes = { readonly metadata?: object; readonly spec?: object; readonly status?: object }

const changed = (name: string, { metadata, spec, status }: Changes): Pod => {
  const pod = managedPod({ name })
  return {
    ...pod,
    metadata: { ...pod.metadata, ...metadata },
    spec: { ...pod.spec, ...spec },
    status: { ...pod.status, ...status },
  }
}

const containers = () => fill(60, index => ({ name: `c${index}`, resources: { requests: { cpu: '1' } } }))

/** Pods as large as the API server lets anybody create, each large in another place. */
export const HOSTILE_PODS: Readonly<Record<string, (name: string) => Pod>> = {
  'control characters in a field that nobody reads': name =>
    changed(name, { spec: { containers: [{ name: 'main', command: [CONTROL.repeat(LARGEST)] }] } }),
  'control characters in an annotation that nobody reads': name =>
    changed(name, { metadata: { annotations: { [ROLE_HASH]: 'dc85db45', junk: CONTROL.repeat(200_000) } } }),
  'a role hash without end': name => changed(name, { metadata: { annotations: { [ROLE_HASH]: 'a'.repeat(200_000) } } }),
  'a group name without end': name =>
    changed(name, { metadata: { annotations: { [GROUP_NAME]: CONTROL.repeat(200_000) } } }),
  'an announcement without end': name =>
    changed(name, { metadata: { annotations: { [GROUP_SETS]: `[${'{"name":"a"},'.repeat(15_000)}0]` } } }),
  labels: name => changed(name, { metadata: { labels: mapOf(20, index => `label-${index}`, 'x') } }),
  finalizers: name => changed(name, { metadata: { finalizers: fill(30, index => `example.com/finalizer-${index}`) } }),
  owners: name =>
    changed(name, {
      metadata: {
        ownerReferences: fill(90, index => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: `o-${index}`,
          uid: `${index}`,
        })),
      },
    }),
  containers: name => changed(name, { spec: { containers: containers() } }),
  'init containers': name => changed(name, { spec: { initContainers: containers() } }),
  'requests of one container': name =>
    changed(name, {
      spec: { containers: [{ name: 'main', resources: { requests: mapOf(30, i => `example.com/device-${i}`, '1') } }] },
    }),
  'scheduling gates': name =>
    changed(name, { spec: { schedulingGates: fill(30, index => ({ name: `example.com/gate-${index}` })) } }),
  'node selector': name => changed(name, { spec: { nodeSelector: mapOf(20, index => `label-${index}`, 'x') } }),
  tolerations: name =>
    changed(name, { spec: { tolerations: fill(20, index => ({ key: `taint-${index}`, operator: 'Exists' })) } }),
  'a status message without end': name => changed(name, { status: { message: CONTROL.repeat(LARGEST) } }),
}

const NAME = 'name-of-the-pod'

/** All kinds of hostile pods in turn, written down once and sent as often as somebody asks. */
export function hostileFlood(count: number, kinds: readonly string[] = Object.keys(HOSTILE_PODS)): Flood {
  const texts = kinds.map(kind =>
    JSON.stringify(HOSTILE_PODS[kind]?.(NAME))
      .split(NAME)
      .map(part => Buffer.from(part)),
  )
  return {
    count,
    *json(index) {
      const [first = '', ...rest] = texts[index % texts.length] ?? []
      yield first
      for (const part of rest) {
        yield `${NAME}-${index}`
        yield part
      }
    },
  }
}

/** Pods of which as much is kept as is ever kept of one. */
export function keptFlood(count: number): Flood {
  const mark = 'x'.repeat(250)
  const sidecars = Array.from({ length: 16 }, (_, index) => ({
    name: `sidecar-${index}`,
    resources: { requests: { cpu: '1m' } },
  }))
  return {
    count,
    *json(index) {
      const pod = managedPod({ name: `pod-${index}`, group: `${index}.${'g'.repeat(60)}`, count: 5, role: mark })
      const requests = Object.fromEntries(
        Array.from({ length: 30 }, (_, i) => [`example.com/device-${index}-${i}`, '1']),
      )
      const tolerations = Array.from({ length: 24 }, (_, i) => ({ key: `taint-${index}-${i}`, operator: 'Exists' }))
      const main = { name: 'main', resources: { requests } }
      yield JSON.stringify({
        ...pod,
        spec: { ...pod.spec, containers: [main, ...sidecars], tolerations },
        status: { phase: 'Pending', message: `${index}${CONTROL.repeat(1020)}` },
      })
    },
  }
}
