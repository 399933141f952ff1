import { SERVICE_NAME, SYSTEM_NAMESPACE } from '../../kube/vocabulary/names.ts'
import { counted } from '../text.ts'
import { type Complaint, complaint } from './diagnosis.ts'
import type { EndpointSlice, Facts, Lease, Replica } from './facts.ts'
import { ownIn } from './webhooks.ts'

/** Who runs, where, in which version, and who leads. */
export function checkReplicas(facts: Facts): readonly Complaint[] {
  return [...ofDeployment(facts), ...ofService(facts), ...ofPods(facts), ...ofLease(facts)]
}

function ofDeployment({ deployment }: Facts): readonly Complaint[] {
  if (deployment === 'denied') return []
  if (deployment === 'absent') return [complaint('ReplicasMissing', 'there is no Deployment muster-system/muster')]
  const wanted = deployment.spec?.replicas ?? 1
  const available = deployment.status?.availableReplicas ?? 0
  return [
    ...(wanted === 0 ? [complaint('ReplicasMissing', 'the Deployment asks for none: scale it to 2')] : []),
    ...(available < wanted ? [complaint('ReplicasMissing', `${available} of ${wanted} replicas are available`)] : []),
    ...(wanted === 1 ? [complaint('SingleReplica', 'the Deployment asks for one replica')] : []),
  ]
}

/** Without a port of its own a webhook means this one. */
const HTTPS = 443

/** Webhooks that are called by a URL, as from a laptop, need no Service. */
function ofService({ mutating, validating, service, endpoints, deployment }: Facts): readonly Complaint[] {
  const called = [ownIn(mutating), ownIn(validating)].flatMap(own => own?.webhooks ?? [])
  const ports = called.flatMap(({ clientConfig }) =>
    clientConfig.service === undefined ? [] : (clientConfig.service.port ?? HTTPS),
  )
  if (ports.length === 0 || service === 'denied') return []
  if (service === 'absent') return [complaint('ServiceMissing', `there is no Service ${NAME}`)]
  const open = (service.spec?.ports ?? []).map(({ port }) => port)
  const closed = [...new Set(ports)].filter(port => !open.includes(port))
  if (closed.length > 0) {
    return [
      complaint('ServiceMissing', `webhooks are called at port ${closed.join(', ')}, which Service ${NAME} has not`),
    ]
  }
  const available = typeof deployment === 'object' ? (deployment.status?.availableReplicas ?? 0) : 0
  if (available === 0 || endpoints === 'denied' || endpoints.some(isReady)) return []
  return [complaint('ServiceMissing', `${counted(available, 'replica')} available, and none behind Service ${NAME}`)]
}

const NAME = `${SYSTEM_NAMESPACE}/${SERVICE_NAME}`

/** As for kube-proxy, unknown is ready. */
const isReady = ({ endpoints }: EndpointSlice): boolean =>
  endpoints?.some(({ conditions }) => conditions?.ready !== false) ?? false

function ofPods({ replicas, version }: Facts): readonly Complaint[] {
  if (replicas === 'denied') return []
  const running = replicas.filter(runs)
  const nodes = new Set(running.flatMap(({ spec }) => spec?.nodeName ?? []))
  const images = new Set(running.flatMap(imageOf))
  const tags = [...images].map(image => /:(\d[^:@/]*)(?:@|$)/.exec(image)?.[1]).filter(tag => tag !== undefined)
  const isOther = tags.some(tag => tag !== version)
  return [
    ...(running.length > 1 && nodes.size === 1 ? [complaint('ReplicasTogether', `all on ${[...nodes].join()}`)] : []),
    ...(images.size > 1 ? [complaint('VersionsDiffer', `replicas run ${[...images].join(' and ')}`)] : []),
    ...(isOther
      ? [complaint('VersionsDiffer', `replicas run ${tags.join(', ')}, and this command is ${version}`)]
      : []),
  ]
}

/** An evicted pod stays for long after its end, with the node and the image that it had. */
const runs = ({ metadata, status }: Replica): boolean =>
  metadata.deletionTimestamp == null && status?.phase !== 'Failed' && status?.phase !== 'Succeeded'

const imageOf = ({ spec }: Replica): readonly string[] =>
  spec?.containers?.slice(0, 1).flatMap(each => each.image ?? []) ?? []

/** How far clocks may differ before times mean something else to each. */
const MOST_SKEW_MS = 5_000

/** By the API server's clock, as far as it is known. */
function ofLease({ lease, now, skewMs = 0 }: Facts): readonly Complaint[] {
  if (lease === 'denied') return []
  if (lease === 'absent') return [complaint('LeaderMissing', 'there is no Lease muster-system/muster: nobody ever led')]
  const { holderIdentity, leaseDurationSeconds, renewTime } = lease.spec ?? {}
  if (!holderIdentity) return [complaint('LeaderMissing', 'the last leader gave the Lease back, and nobody took it')]
  const skew = leaderSkew(lease)
  const renewed = Date.parse(renewTime ?? '') + (skew ?? 0)
  const silentMs = now + skewMs - renewed
  const patience = ((leaseDurationSeconds ?? 15) + 5) * 1000
  const age = Math.round(silentMs / 1000)
  return [
    ...(silentMs > patience ? [complaint('LeaderMissing', `${holderIdentity} renewed the Lease ${age} s ago`)] : []),
    ...(skew !== undefined && Math.abs(skew) > MOST_SKEW_MS
      ? [complaint('ClockSkew', `the clock of the leader is ${behind(skew)} that of the API server`)]
      : []),
  ]
}

/** The API server notes by its own clock when a field was written, and the leader writes its own time into the field. */
function leaderSkew({ metadata, spec }: Lease): number | undefined {
  const times = (metadata.managedFields ?? []).flatMap(({ time }) => (time === undefined ? [] : [Date.parse(time)]))
  const written = Math.max(...times)
  const own = Date.parse(spec?.renewTime ?? '')
  // The API server writes whole seconds.
  return Number.isFinite(written) && !Number.isNaN(own) ? written - Math.floor(own / 1000) * 1000 : undefined
}

export function checkClock({ skewMs }: Facts): readonly Complaint[] {
  if (skewMs === undefined || Math.abs(skewMs) <= MOST_SKEW_MS) return []
  return [complaint('ClockSkew', `the clock of this machine is ${behind(skewMs)} that of the API server`)]
}

const behind = (skewMs: number): string =>
  `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'behind' : 'ahead of'}`
