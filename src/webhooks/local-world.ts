import type { Configuration } from '../config/configuration.ts'
import { NAMESPACE_NAME_LABEL, OFFLINE_IDENTITY } from '../kube/vocabulary/names.ts'
import { PLAIN_ROLES } from './roles.ts'
import type { World } from './world.ts'

/** The world without a cluster: a namespace has only its name, also as its uid and as a label, and no owner exists. */
export function localWorld(config: Configuration): World {
  return {
    config,
    self: OFFLINE_IDENTITY,
    holds: heldBy(config),
    namespace: name => ({ uid: name, labels: { [NAMESPACE_NAME_LABEL]: name } }),
    owner: () => 'absent',
    hasDefaultQueue: () => false,
    roles: PLAIN_ROLES,
  }
}

const BUILTIN: readonly string[] = ['pod', 'batch/job', 'jobset.x-k8s.io/jobset']

/** What the engine of a configuration queues, for those who have no engine to ask. */
function heldBy(config: Configuration): readonly string[] {
  const { frameworks } = config.integrations
  return config.engine === 'kueue' ? frameworks : BUILTIN.filter(name => name === 'pod' || frameworks.includes(name))
}
