import { describe, expect, it } from 'vitest'
import { namespaceScope } from '../../../src/cluster/namespace-scope.ts'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { LiveConfiguration } from '../../../src/config/live.ts'
import type { Change } from '../../../src/kube/cache/store.ts'
import type { KubeObject, StringMap } from '../../../src/kube/vocabulary/objects.ts'

const namespace = (name: string, labels: StringMap = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
})

function scoped(
  namespaceSelector: Configuration['integrations']['podOptions']['namespaceSelector'],
  ...known: readonly KubeObject[]
) {
  const { integrations } = DEFAULT_CONFIGURATION
  const podOptions = { ...integrations.podOptions, namespaceSelector }
  let tell: (change: Change<KubeObject>) => void = () => {}
  const live = new LiveConfiguration({ ...DEFAULT_CONFIGURATION, integrations: { ...integrations, podOptions } })
  const scope = namespaceScope(live, {
    get: (_, name) => known.find(({ metadata }) => metadata.name === name),
    subscribe: listener => {
      tell = listener
      return () => {
        tell = () => {}
      }
    },
    values: () => known.values(),
    whenSynced: () => Promise.resolve(),
  })
  return { scope, live, tell: (change: Change<KubeObject>) => tell(change) }
}

describe('the namespaces of the reconciler', () => {
  it('are those of the configuration', () => {
    const names = ['ml', 'kube-system', 'muster-system']
    const { namespaceSelector } = DEFAULT_CONFIGURATION.integrations.podOptions
    const { scope } = scoped(namespaceSelector, ...names.map(name => namespace(name)))
    expect(names.map(scope.selects)).toEqual([true, false, false])
  })

  it('are not known before they are seen, whatever the selector says', () => {
    for (const selector of [{}, { matchLabels: { queued: 'yes' } }]) {
      expect(scoped(selector).scope.selects('new')).toBeUndefined()
    }
  })

  it('are selected by their labels', () => {
    const { scope } = scoped({ matchLabels: { queued: 'yes' } }, namespace('ml', { queued: 'yes' }), namespace('web'))
    expect(['ml', 'web'].map(scope.selects)).toEqual([true, false])
  })

  it('are others when the configuration says so, and only those that come in or go out are told', () => {
    const known = [
      namespace('ml', { queued: 'yes' }),
      namespace('web'),
      namespace('both', { queued: 'yes', gpu: 'yes' }),
    ]
    const { scope, live } = scoped({ matchLabels: { queued: 'yes' } }, ...known)
    const changed: string[] = []
    scope.onChange(name => changed.push(name))
    const { integrations } = live.current
    const podOptions = { ...integrations.podOptions, namespaceSelector: { matchLabels: { gpu: 'yes' } } }
    live.replace({ ...live.current, integrations: { ...integrations, podOptions } })
    expect(['ml', 'web', 'both'].map(scope.selects)).toEqual([false, false, true])
    expect(changed).toEqual(['ml'])
  })

  it('are told when one is seen, comes in or goes out, and not otherwise', () => {
    const { scope, tell } = scoped({ matchLabels: { queued: 'yes' } })
    const changed: string[] = []
    const cancel = scope.onChange(name => changed.push(name))
    tell({ type: 'added', object: namespace('web') })
    tell({ type: 'added', object: namespace('ml', { queued: 'yes' }) })
    tell({
      type: 'updated',
      object: namespace('ml', { queued: 'yes', more: 'x' }),
      previous: namespace('ml', { queued: 'yes' }),
    })
    tell({ type: 'updated', object: namespace('ml'), previous: namespace('ml', { queued: 'yes' }) })
    expect(changed).toEqual(['web', 'ml', 'ml'])
    cancel()
    tell({ type: 'added', object: namespace('late') })
    expect(changed).toHaveLength(3)
  })
})
