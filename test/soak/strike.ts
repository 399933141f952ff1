import { setTimeout as sleep } from 'node:timers/promises'
import { issuePair, SERVING_NAMES } from '../../src/tls/authority.ts'
import { LIFE_MS } from '../../src/tls/rotation.ts'
import type { Judge } from './judge.ts'
import type { Phases } from './phases.ts'
import type { Disturbance } from './plan.ts'
import type { Failover } from './prober.ts'
import { LIMITS, type Seat, type Site } from './site.ts'
import type { Starvation } from './starvation.ts'
import type { Tally } from './tally.ts'

export interface Scene {
  readonly site: Site
  readonly judge: Judge
  readonly tally: Tally
  readonly leader: () => Seat | undefined
  /** Resolves when a pod that was created after now has been lifted. */
  readonly untilNextLift: () => Promise<Failover>
  readonly starvation: Starvation
  readonly phases: Phases
  readonly failovers: Failover[]
}

/** Lets one thing happen, and resolves when whoever was taken away is back. */
export async function strike(disturbance: Disturbance, scene: Scene): Promise<void> {
  const { site, tally } = scene
  const { plane, seats } = site
  switch (disturbance.kind) {
    case 'rolling restart':
      for (const seat of seats) {
        await seat.muster.stop()
        await seat.muster.start()
        await seat.muster.untilReady()
        await untilListed(seat)
      }
      return
    case 'kill -9':
      await kill(disturbance, scene)
      return
    case 'partition':
      await partition(disturbance.ms, scene)
      return
    case 'API server restart': {
      const back = tally.away('api server')
      await plane.restartApiServer()
      back()
      return
    }
    case 'API server crash': {
      const back = tally.away('api server')
      await plane.killApiServer()
      await sleep(disturbance.downMs)
      await plane.startApiServer()
      back()
      return
    }
    case 'etcd compaction':
      await plane.compactEtcd()
      return
    case 'other limits':
      await setLimits(disturbance.pods, scene)
      return
    case 'wrong configuration':
      await seats[0]?.muster.rewriteConfiguration('queues: [{name: changing, limits: {pods: many}}]\n')
      await sleep(disturbance.ms)
      await setLimits(LIMITS.changing, scene)
      return
    case 'rotation':
      await rotate(disturbance.expiresMs, scene)
      return
    case 'clock set':
      await site.setClock(disturbance.ms)
  }
}

/** A Deployment takes the next one away when this one is ready in the eyes of who sends callers to it, and no sooner. */
async function untilListed(seat: Seat): Promise<void> {
  while (!seat.ready) await sleep(100)
}

async function kill(
  { victim, downMs }: Extract<Disturbance, { kind: 'kill -9' }>,
  { site, tally, leader, untilNextLift, failovers }: Scene,
): Promise<void> {
  const leading = leader()
  const seat = victim === 'leader' ? leading : site.seats.find(other => other !== leading)
  if (seat === undefined) throw new Error(`kill -9: there is no ${victim}`)
  const next = untilNextLift()
  const back = tally.away('kill -9')
  await seat.muster.kill()
  back()
  await sleep(downMs)
  await seat.muster.start()
  await seat.muster.untilReady()
  if (victim === 'leader') failovers.push(await next)
}

async function partition(ms: number, { leader, untilNextLift, failovers }: Scene): Promise<void> {
  const seat = leader()
  if (seat === undefined) throw new Error('partition: there is no leader')
  const next = untilNextLift()
  seat.wire.cut()
  await sleep(ms)
  seat.wire.mend()
  failovers.push(await next)
  await seat.muster.untilReady()
}

/** In the end, too: who asks for more than there is now would wait for ever. */
export async function setLimits(pods: number, { site, judge }: Scene): Promise<void> {
  judge.setLimit('changing', pods)
  await site.configure(pods)
}

/**
 * A clock that runs ahead of that of the API server must find nothing to issue: it would issue what is not valid yet
 * there. So beyond the first step the clocks wait until the rotation that it has begun is over.
 */
async function rotate(expiresMs: number, { site, phases }: Scene): Promise<void> {
  if (!site.isClockMoved) await age(expiresMs, site)
  else if (site.isClockAtStart || (await phases.isServed(site.seats.map(({ muster }) => muster.port)))) {
    await site.moveClock()
  }
}

/** Somebody restores a Secret of long ago: due at once, of an authority that nobody knows, and soon to expire. */
async function age(expiresMs: number, { plane }: Site): Promise<void> {
  const pair = await issuePair(SERVING_NAMES, Date.now() - LIFE_MS + expiresMs)
  const encoded = (text: string): string => Buffer.from(text).toString('base64')
  const data = {
    'ca.crt': encoded(pair.bundle),
    'tls.crt': encoded(pair.certificate),
    'tls.key': encoded(pair.key),
  }
  await plane.kubectl(['patch', 'secret', 'muster-tls', '-n', 'muster-system', '-p', JSON.stringify({ data })])
}
