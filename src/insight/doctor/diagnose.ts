import { describeServed } from '../../cluster/scheduling-watch.ts'
import { inspect } from '../../tls/authority.ts'
import { currentPair } from '../../tls/record.ts'
import { recordIn } from '../../tls/secret.ts'
import { counted } from '../text.ts'
import { checkCertificates } from './certificates.ts'
import { complaint, type Diagnosis, diagnosisOf } from './diagnosis.ts'
import type { Facts } from './facts.ts'
import { checkObjects } from './objects.ts'
import { checkClock, checkReplicas } from './replicas.ts'
import { checkSurroundings } from './surroundings.ts'
import { checkWebhooks, ownIn } from './webhooks.ts'

/** Everything that a support engineer would look at, decided from what was read. */
export function diagnose(facts: Facts, unseen: readonly string[]): Diagnosis {
  const ofInstallation = isAbsent(facts)
    ? [complaint('NotInstalled', 'nothing of Muster is there')]
    : [...checkWebhooks(facts), ...checkCertificates(facts), ...checkReplicas(facts), ...checkSurroundings(facts)]
  const complaints = [...ofInstallation, ...checkObjects(facts), ...checkClock(facts)]
  return diagnosisOf(complaints, notesOn(facts), unseen)
}

/** What is not installed need not be told part by part; what it has left behind is told all the same. */
function isAbsent({ mutating, validating, crd, deployment }: Facts): boolean {
  const isNowhere = [mutating, validating].every(list => list !== 'denied' && ownIn(list) === undefined)
  return isNowhere && crd === 'absent' && deployment === 'absent'
}

/** What is in order and worth a line: whoever reports a problem sends it along. */
function notesOn({ kubernetes, served, config, lease, deployment, secret, version, now }: Facts): readonly string[] {
  const { exemptUsers = [], exemptGroups = [] } = config?.guard ?? {}
  const exempt = [...exemptUsers, ...exemptGroups]
  return [
    `this command is Muster ${version}`,
    ...(kubernetes === undefined ? [] : [`Kubernetes ${kubernetes.major}.${kubernetes.minor}`]),
    ...(config === undefined ? [] : [`engine ${config.engine}, ${counted(config.queues.length, 'queue')} with limits`]),
    `for placing pods together the API server serves ${describeServed(served)}`,
    ...(typeof deployment === 'object'
      ? [`${counted(deployment.status?.availableReplicas ?? 0, 'replica')} available`]
      : []),
    ...(typeof lease === 'object' && lease.spec?.holderIdentity ? [`the leader is ${lease.spec.holderIdentity}`] : []),
    ...expiry(secret, now),
    ...(exempt.length > 0 ? [`the guard exempts ${exempt.join(', ')}`] : []),
  ]
}

function expiry(secret: Facts['secret'], now: number): readonly string[] {
  const pair = typeof secret === 'object' ? currentPair(recordIn(secret)) : undefined
  try {
    if (pair === undefined) return []
    const { notAfter } = inspect(pair.certificate)
    const until = new Date(notAfter).toISOString()
    return [now < notAfter ? `the certificate is good until ${until}` : `the certificate was good until ${until}`]
  } catch {
    // What cannot be read is a finding, and no note.
    return []
  }
}
