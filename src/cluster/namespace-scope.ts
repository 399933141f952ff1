import type { Configuration } from '../config/configuration.ts'
import type { LiveConfiguration } from '../config/live.ts'
import type { Informer } from '../kube/cache/informer.ts'
import { NAMESPACE_NAME_LABEL } from '../kube/vocabulary/names.ts'
import type { KubeObject, StringMap } from '../kube/vocabulary/objects.ts'
import { matchesSelector } from '../kube/vocabulary/selectors.ts'
import type { NamespaceScope } from '../reconciler/surroundings.ts'

/**
 * The namespaces that the configuration selects, for the reconciler: the webhooks ask the same selector. A pod may be
 * seen before its namespace is, and what nobody has seen nobody can judge.
 */
export function namespaceScope(
  live: LiveConfiguration,
  namespaces: Pick<Informer<KubeObject>, 'get' | 'subscribe' | 'values' | 'whenSynced'>,
): NamespaceScope {
  const matches = (name: string, labels: StringMap | null | undefined, config: Configuration = live.current): boolean =>
    matchesSelector(config.integrations.podOptions.namespaceSelector, { ...labels, [NAMESPACE_NAME_LABEL]: name })
  return {
    whenKnown: () => namespaces.whenSynced(),
    selects: name => {
      const known = namespaces.get('', name)
      return known && matches(name, known.metadata.labels)
    },
    onChange: changed => {
      const seen = namespaces.subscribe(({ object, previous }) => {
        const { name = '', labels } = object.metadata
        if (previous === undefined || matches(name, labels) !== matches(name, previous.metadata.labels)) changed(name)
      })
      const configured = live.onChange((next, before) => {
        for (const { metadata } of namespaces.values()) {
          const { name = '', labels } = metadata
          if (matches(name, labels, next) !== matches(name, labels, before)) changed(name)
        }
      })
      return () => {
        seen()
        configured()
      }
    },
  }
}
