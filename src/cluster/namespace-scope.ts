import type { Configuration } from '../config/configuration.ts'
import type { Informer } from '../kube/cache/informer.ts'
import { NAMESPACE_NAME_LABEL } from '../kube/vocabulary/names.ts'
import type { KubeObject, StringMap } from '../kube/vocabulary/objects.ts'
import { matchesSelector } from '../kube/vocabulary/selectors.ts'
import type { NamespaceScope } from '../reconciler/loop.ts'

/**
 * The namespaces that the configuration selects, for the reconciler: the webhooks ask the same selector. A pod may be
 * seen before its namespace is, and what nobody has seen nobody can judge.
 */
export function namespaceScope(
  { integrations }: Configuration,
  namespaces: Pick<Informer<KubeObject>, 'get' | 'subscribe' | 'whenSynced'>,
): NamespaceScope {
  const { namespaceSelector } = integrations.podOptions
  const matches = (name: string, labels: StringMap | null | undefined): boolean =>
    matchesSelector(namespaceSelector, { ...labels, [NAMESPACE_NAME_LABEL]: name })
  return {
    whenKnown: () => namespaces.whenSynced(),
    selects: name => {
      const known = namespaces.get('', name)
      return known && matches(name, known.metadata.labels)
    },
    onChange: changed => {
      namespaces.subscribe(({ object, previous }) => {
        const { name = '', labels } = object.metadata
        if (previous === undefined || matches(name, labels) !== matches(name, previous.metadata.labels)) changed(name)
      })
    },
  }
}
