import { describeServed } from '../../cluster/scheduling-watch.ts'
import { inspect } from '../../tls/authority.ts'
import { currentPair } from '../../tls/record.ts'
import { recordIn } from '../../tls/secret.ts'
import { checkCertificates } from './certificates.ts'
import { type Diagnosis, diagnosisOf } from './diagnosis.ts'
import type { Facts } from './facts.ts'
import { checkObjects } from './objects.ts'
import { checkClock, checkReplicas } from './replicas.ts'
import { checkSurroundings } from './surroundings.ts'
import { checkWebhooks } from './webhooks.ts'

/** Everything that a support engineer would look at, decided from what was read. */
export function diagnose(facts: Facts, unseen: readonly string[]): Diagnosis {
  const complaints = [
    ...checkWebhooks(facts),
    ...checkCertificates(facts),
    ...checkReplicas(facts),
    ...checkSurroundings(facts),
    ...checkObjects(facts),
    ...checkClock(facts),
  ]
  return diagnosisOf(complaints, notesOn(facts), unseen)
}

/** What is in order and worth a line: whoever reports a problem sends it along. */
function notesOn({ kubernetes, served, config, lease, deployment, secret, version }: Facts): readonly string[] {
  const { exemptUsers = [], exemptGroups = [] } = config?.guard ?? {}
  const exempt = [...exemptUsers, ...exemptGroups]
  return [
    `this command is Muster ${version}`,
    ...(kubernetes === undefined ? [] : [`Kubernetes ${kubernetes.major}.${kubernetes.minor}`]),
    ...(config === undefined ? [] : [`engine ${config.engine}, ${config.queues.length} queues with limits`]),
    `for placing pods together the API server serves ${describeServed(served)}`,
    ...(typeof deployment === 'object' ? [`${deployment.status?.availableReplicas ?? 0} replicas are available`] : []),
    ...(typeof lease === 'object' && lease.spec?.holderIdentity ? [`the leader is ${lease.spec.holderIdentity}`] : []),
    ...expiry(secret),
    ...(exempt.length > 0 ? [`the guard exempts ${exempt.join(', ')}`] : []),
  ]
}

function expiry(secret: Facts['secret']): readonly string[] {
  const pair = typeof secret === 'object' ? currentPair(recordIn(secret)) : undefined
  try {
    return pair === undefined
      ? []
      : [`the certificate is good until ${new Date(inspect(pair.certificate).notAfter).toISOString()}`]
  } catch {
    // What cannot be read is a finding, and no note.
    return []
  }
}
