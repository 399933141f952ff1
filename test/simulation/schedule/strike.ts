import type { Cluster, Seat } from '../cluster/cluster.ts'
import { type Fault, FOLLOWERS, LEADER } from './schedule.ts'

/** Lets a fault happen. Conditions carry the time until which they hold; nothing has to be undone. */
export function strike(fault: Fault, cluster: Cluster): void {
  const { agenda, hub, nodes, seats } = cluster
  const { now } = agenda
  switch (fault.kind) {
    case 'lose-node':
      nodes.lose(fault.node)
      return
    case 'refuse-lifts':
      cluster.liftsRefusedUntil = now + fault.ms
      return
    case 'outage':
      for (const seat of seats) {
        seat.link.outageUntil = now + fault.ms
        closeWatches(seat, new Error('connection reset'))
      }
      if (fault.compact) hub.forget()
      return
    default:
      for (const seat of victims(fault.replica, seats)) strikeSeat(fault, seat, cluster)
  }
}

function victims(replica: number, seats: readonly Seat[]): readonly Seat[] {
  if (replica === LEADER) return seats.filter(seat => seat.replica.leads)
  if (replica === FOLLOWERS) return seats.filter(seat => !seat.replica.leads)
  return seats.slice(replica, replica + 1)
}

type SeatFault = Exclude<Fault, { kind: 'lose-node' | 'refuse-lifts' | 'outage' }>

function strikeSeat(fault: SeatFault, seat: Seat, cluster: Cluster): void {
  const { link, machine, replica } = seat
  const { agenda, hub } = cluster
  const until = agenda.now + ('ms' in fault ? fault.ms : 0)
  switch (fault.kind) {
    case 'crash':
      cluster.crash(seat, fault.downMs)
      return
    case 'crash-on-write':
      seat.fuse = {
        at: replica.writes + fault.nth,
        moment: fault.moment,
        burn: () => cluster.crash(seat, fault.downMs),
      }
      return
    case 'restart':
      void replica.stop().then(() => agenda.after(fault.downMs, () => cluster.reboot(seat)))
      return
    case 'pause':
      replica.pausedUntil = until
      return
    case 'partition':
      link.partitionedUntil = until
      for (const stream of replica.channel.streams) stream.die()
      return
    case 'clock-jump':
      machine.skewMs += fault.ms
      return
    case 'errors':
      link.errors = { until, status: fault.status, rate: fault.rate, retryAfter: fault.status === 429 ? 1 : 0 }
      return
    case 'loss':
      link.loss = { until, before: fault.before, after: fault.after }
      return
    case 'resend':
      link.resend = { until, rate: fault.rate }
      return
    case 'slow':
      link.slow = { until, ms: fault.delayMs }
      return
    case 'lag':
      link.lag.set(fault.resource, { until, ms: fault.lagMs })
      return
    case 'duplicates':
      link.duplicates = { until, rate: fault.rate }
      return
    case 'silent-watch':
      for (const stream of replica.channel.streams) if (stream.resource.plural === fault.resource) stream.die()
      return
    case 'close-watches':
      closeWatches(seat, fault.error ? new Error('connection reset') : 'closed')
      return
    case 'compact':
      link.expiredAs = fault.as
      hub.forget()
      closeWatches(seat, 'closed')
  }
}

function closeWatches({ replica }: Seat, reason: Error | 'closed'): void {
  for (const stream of replica.channel.streams) stream.end(reason)
}
