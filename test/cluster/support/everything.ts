import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import type { ControlPlane } from './control-plane.ts'

/** Events go by themselves after an hour, and nodes renew what they renew. */
const PASSING = /^(events(\.|$)|leases\.|componentstatuses$)/

/**
 * Every object of every kind that the API server lists, by name: what is there now and was not before is left over. The
 * controllers of Kubernetes make accounts of their own in kube-system when they first need them.
 */
export async function everything({ kubectl }: ControlPlane): Promise<readonly string[]> {
  const { stdout } = await kubectl(['api-resources', '--verbs=list', '-o', 'name', '--cached=false'])
  const kinds = stdout.split('\n').filter(kind => kind !== '' && !PASSING.test(kind))
  const { items } = await kubectl.json<{ items: KubeObject[] }>(['get', kinds.join(','), '-A', '--ignore-not-found'])
  return items
    .filter(({ metadata }) => metadata.namespace !== 'kube-system')
    .map(({ kind, apiVersion, metadata }) => `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`)
    .sort()
}
