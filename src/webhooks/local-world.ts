import type { Configuration } from '../config/configuration.ts'
import { NAMESPACE_NAME_LABEL, OFFLINE_IDENTITY } from '../kube/vocabulary/names.ts'
import { NOTHING_SERVED } from '../kube/vocabulary/served-scheduling.ts'
import { OWN_FRAMEWORKS } from '../workload/jobs/job-kinds.ts'
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
    scheduling: () => NOTHING_SERVED,
    roles: PLAIN_ROLES,
  }
}

/** What is queued with a configuration: by Muster, or, beside pods, by Kueue where that is the engine. */
export function heldBy(config: Configuration): readonly string[] {
  const { frameworks } = config.integrations
  return config.engine === 'kueue'
    ? frameworks
    : OWN_FRAMEWORKS.filter(name => name === 'pod' || frameworks.includes(name))
}
