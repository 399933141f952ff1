import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentMb } from '../../bench/processes.ts'
import type { KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import { Dice } from '../simulation/time/dice.ts'
import { type Api, createApi, type Follower } from './api.ts'
import { type ClientDeps, Clients, NAMESPACE } from './clients.ts'
import { Judge } from './judge.ts'
import { remains, statesOf } from './leftovers.ts'
import { Phases } from './phases.ts'
import { planSoak } from './plan.ts'
import { type Failover, Prober } from './prober.ts'
import type { Figures } from './report.ts'
import { LIMITS, Site } from './site.ts'
import { Starvation } from './starvation.ts'
import { type Scene, setLimits, strike } from './strike.ts'
import { Tally } from './tally.ts'

export interface SoakOptions {
  readonly minutes: number
  readonly seed: number
  /** Where the logs of the replicas go in the end. */
  readonly logs?: string | undefined
  readonly tell: (text: string) => void
}

const PAUSE_MS = 2000
const LOOK_MS = 1000
/** The second write follows the first at once. */
const UNDELETED_MS = 5000
/** What clients have begun they bring to an end. */
const ENDING_MS = 300_000

export async function soak(options: SoakOptions): Promise<Figures> {
  options.tell('starting a control plane and two replicas')
  const site = await Site.open()
  const api = await createApi(site.plane.kubeconfig)
  try {
    return await run(options, site, api)
  } finally {
    api.close()
    if (options.logs !== undefined) await keepLogs(options.logs, site)
    await site.stop()
  }
}

async function keepLogs(folder: string, { seats }: Site): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [index, { muster }] of seats.entries())
    await copyFile(muster.logFile, join(folder, `replica-${index}.log`))
}

async function run({ minutes, seed, tell }: SoakOptions, site: Site, api: Api): Promise<Figures> {
  const now = () => performance.now()
  const judge = new Judge(now)
  for (const [queue, pods] of Object.entries(LIMITS)) judge.setLimit(queue, pods)
  const starvation = new Starvation(now)
  const tally = new Tally(now, {
    withheldSince: from => starvation.since(from),
    turnedAwaySince: from => site.balancer.turnedAwaySince(from),
    onFailure: (blame, what) => {
      if (blame === 'muster' || blame === 'unknown') tell(`${blame}: ${what}`)
    },
  })
  const prober = new Prober(api, tally, starvation, now)
  const pods = new Map<string, Pod>()
  const [jobs, workloads] = [new Map<string, KubeObject>(), new Map<string, KubeObject>()]
  const phases = new Phases()
  const watches = [
    api.follow(
      `/api/v1/namespaces/${NAMESPACE}/pods`,
      both(
        byName(pods),
        judge,
        seeing(pod => prober.see(pod as Pod)),
      ),
    ),
    api.follow(`/apis/batch/v1/namespaces/${NAMESPACE}/jobs`, byName(jobs)),
    api.follow(`/apis/muster.dev/v1alpha1/namespaces/${NAMESPACE}/workloads`, byName(workloads)),
    ...phases.watches(api),
  ]
  const endAt = now() + minutes * 60_000
  let [isOver, isDisturbed] = [false, true]
  const stopping = () => now() >= endAt || isOver
  const done = { pods: 0, groups: 0, jobs: 0, updates: 0, deletions: 0 }
  const stuck: string[] = []
  const onStuck = async (what: string) => {
    stuck.push(what)
    tell(`stuck: ${what}\n${await statesOf(api)}`)
  }
  const awaited = new Set<string>()
  const deps: ClientDeps = { api, tally, now, pods, jobs, workloads, stopping, onStuck, awaited, done }
  const working = Promise.all([
    ...startClients(new Clients(deps), new Dice(seed)),
    prober.run(() => stopping() && !isDisturbed),
  ])
  const pids = () => [process.pid, ...site.seats.map(({ muster }) => muster.pid)]
  const looking = Promise.all([
    look({ judge, tally, starvation }, tell, () => isOver),
    finishDeletions(api, pods, () => isOver),
    starvation.watch(pids, () => isOver),
  ])
  const failovers: Failover[] = []
  const leader = () => site.seats.find(({ leads }) => leads)
  const scene = {
    site,
    judge,
    tally,
    starvation,
    phases,
    leader,
    untilNextLift: () => prober.untilNextLift(),
    failovers,
  }
  const disturbances = await disturb({ minutes, seed, tell }, scene, endAt, now)
  await setLimits(LIMITS.changing, scene)
  isDisturbed = false
  tell('nothing goes wrong from here on')
  await Promise.race([working, sleep(Math.max(0, endAt - now()) + ENDING_MS)])
  const memoryMb = site.seats.map(({ muster }) => residentMb(muster.pid))
  const leftBehind = [
    ...stuck,
    ...[...awaited].map(what => `${what} has not ended when all had`),
    ...prober.unlifted.map(name => `${name} was never lifted`),
    ...(await remains(api, now)),
  ]
  isOver = true
  await looking
  api.close()
  await Promise.all(watches)
  const failed = {
    muster: tally.failures.get('muster') ?? [],
    'kill -9': tally.failures.get('kill -9') ?? [],
    'api server': tally.failures.get('api server') ?? [],
    machine: tally.failures.get('machine') ?? [],
    unknown: tally.failures.get('unknown') ?? [],
  }
  return {
    ...{ minutes, seed, disturbances, failed, leftBehind, memoryMb },
    requests: tally.requests,
    created: { pods: done.pods, groups: done.groups, jobs: done.jobs, probes: prober.waitsMs.length },
    ...{ updates: done.updates, deletions: done.deletions, lifts: judge.lifts, rotations: phases.counts },
    wrong: judge.wrong,
    failovers,
    withheldMs: starvation.totalMs,
    probeWaitsMs: prober.waitsMs,
    longestPartialMs: judge.longestPartialMs,
  }
}

function startClients(clients: Clients, dice: Dice): readonly Promise<void>[] {
  return [
    ...['s0', 's1', 's2', 's3'].map(name => clients.singles(name, 'steady', dice.split(name))),
    ...['c0', 'c1'].map(name => clients.singles(name, 'changing', dice.split(name))),
    ...['g0', 'g1'].map(name => clients.groups(name, 'steady', dice.split(name))),
    ...['h0', 'h1'].map(name => clients.groups(name, 'changing', dice.split(name))),
    clients.jobs('j0', 'steady', dice.split('j0')),
    ...['k0', 'k1'].map(name => clients.jobs(name, 'changing', dice.split(name))),
  ]
}

/** One after the other, at its time, or later where the machine took longer to recover from the last. */
async function disturb(
  { minutes, seed, tell }: SoakOptions,
  scene: Scene,
  endAt: number,
  now: () => number,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  const startAt = endAt - minutes * 60_000
  for (const { atMs, ...disturbance } of planSoak(seed, minutes)) {
    await sleep(Math.max(PAUSE_MS, startAt + atMs - now()))
    if (now() > endAt) break
    tell(JSON.stringify(disturbance))
    await strike(disturbance, scene)
    const name = disturbance.kind === 'kill -9' ? `kill -9 of the ${disturbance.victim}` : disturbance.kind
    counts.set(name, (counts.get(name) ?? 0) + 1)
    await untilLed(scene)
    tell(stateOf(scene))
  }
  return counts
}

/** So that whoever ends it early, or watches it, knows how it stands. */
function stateOf({ tally, judge, failovers }: Scene): string {
  const failed = (['muster', 'unknown', 'machine', 'kill -9', 'api server'] as const).map(
    blame => `${blame} ${tally.count(blame)}`,
  )
  const last = failovers.at(-1) ?? { ms: 0, withheldMs: 0 }
  const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`
  return `${tally.requests} requests, failed: ${failed.join(', ')}; lifted wrongly ${judge.wrong.length}; last failover ${seconds(last.ms)}, of which ${seconds(last.withheldMs)} waiting for the CPU`
}

/** Whoever is struck next is the leader or is not: so there has to be one. */
async function untilLed({ leader, site }: Scene): Promise<void> {
  for (let attempt = 0; attempt < 3000; attempt++) {
    if (leader() !== undefined && site.seats.every(({ ready }) => ready)) return
    await sleep(100)
  }
  throw new Error('five minutes after it was disturbed Muster is not ready, or nobody leads')
}

async function look(
  { judge, tally, starvation }: Pick<Scene, 'judge' | 'tally' | 'starvation'>,
  tell: SoakOptions['tell'],
  isOver: () => boolean,
): Promise<void> {
  let told = 0
  while (!isOver()) {
    judge.look(from => tally.apiAwaySince(from) + starvation.since(from))
    for (const wrong of judge.wrong.slice(told)) tell(`wrong: ${wrong}`)
    told = judge.wrong.length
    await sleep(LOOK_MS)
  }
}

/**
 * An API server takes the last finalizer off in one write and the pod away in the next: one that is killed between them
 * leaves a pod that goes by another deletion only. A kubelet sends it; KWOK, which stands for the kubelets here, does not.
 */
async function finishDeletions(api: Api, pods: ReadonlyMap<string, Pod>, isOver: () => boolean): Promise<void> {
  const seen = new Set<string>()
  while (!isOver()) {
    const undeleted = [...pods.values()].filter(({ metadata: { deletionGracePeriodSeconds, finalizers } }) => {
      return deletionGracePeriodSeconds === 0 && (finalizers ?? []).length === 0
    })
    for (const { metadata } of undeleted.filter(({ metadata: { uid = '' } }) => seen.has(uid))) {
      const path = `/api/v1/namespaces/${NAMESPACE}/pods/${metadata.name}`
      await api.send('DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } })
    }
    seen.clear()
    for (const { metadata } of undeleted) seen.add(metadata.uid ?? '')
    await sleep(UNDELETED_MS)
  }
}

function byName<T extends KubeObject>(map: Map<string, T>): Follower {
  return {
    replaced: objects => {
      map.clear()
      for (const object of objects) map.set(object.metadata.name ?? '', object as T)
    },
    changed: object => void map.set(object.metadata.name ?? '', object as T),
    gone: ({ metadata: { name = '', uid } }) => {
      if (map.get(name)?.metadata.uid === uid) map.delete(name)
    },
  }
}

const seeing = (see: (object: KubeObject) => void): Follower => ({
  replaced: objects => objects.forEach(see),
  changed: see,
  gone: () => {},
})

const both = (...followers: readonly Follower[]): Follower => ({
  replaced: objects => {
    for (const follower of followers) follower.replaced(objects)
  },
  changed: object => {
    for (const follower of followers) follower.changed(object)
  },
  gone: object => {
    for (const follower of followers) follower.gone(object)
  },
})
