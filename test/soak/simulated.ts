import { CertificateModel } from '../simulation/certificates/model.ts'
import { generate } from '../simulation/schedule/generate.ts'
import { type Fault, type Item, isFault, LEADER, type Schedule } from '../simulation/schedule/schedule.ts'
import { Dice } from '../simulation/time/dice.ts'
import { type Planned, planSoak } from './plan.ts'

const SECOND = 1000
const DAY = 86_400 * SECOND
/** The queue of the simulator whose limits change. */
const CHANGING = 'small'
/** As long as a process takes to stop and start, and an API server to come back. */
const START_MS = 4 * SECOND
const API_START_MS = 6 * SECOND

/**
 * The plan of a soak for the simulator: what clients do comes from the seed as everywhere there, what goes wrong from
 * the plan and from nowhere else.
 */
export function simulatedSoak(seed: number, minutes: number): Schedule {
  const { setting, items } = generate(seed, { jobs: true, limits: true })
  const [first] = setting.replicas
  const replicas = [first, setting.replicas[1] ?? first].flatMap(replica => replica ?? [])
  const clients = items.filter(item => !isFault(item) && item.kind !== 'set-limits')
  // Clients of the simulator are done after half a minute.
  const spread = clients.map(item => ({ ...item, at: item.at * 2 * minutes }))
  const struck = planSoak(seed, minutes).flatMap(simulated)
  return { setting: { ...setting, replicas }, items: [...spread, ...struck].sort((one, other) => one.at - other.at) }
}

/** Rotations are not in it: certificates have a model of their own. */
function simulated({ atMs: at, ...disturbance }: Planned): readonly Item[] {
  const strike = (...faults: readonly Fault[]): readonly Item[] => faults.map(fault => ({ at, ...fault }))
  switch (disturbance.kind) {
    case 'rolling restart':
      return [0, 1].map(replica => ({ at: at + replica * 2 * START_MS, kind: 'restart', replica, downMs: START_MS }))
    case 'kill -9':
      return strike({
        kind: 'crash',
        replica: disturbance.victim === 'leader' ? LEADER : 1,
        downMs: disturbance.downMs,
      })
    case 'partition':
      return strike({ kind: 'partition', replica: LEADER, ms: disturbance.ms })
    case 'API server restart':
      return strike({ kind: 'outage', ms: API_START_MS, compact: false })
    case 'API server crash':
      return strike({ kind: 'outage', ms: API_START_MS + disturbance.downMs, compact: true })
    case 'etcd compaction':
      return [0, 1].flatMap(replica => strike({ kind: 'compact', as: 'http', replica }))
    case 'other limits':
      return [{ at, kind: 'set-limits', queue: CHANGING, limits: { pods: disturbance.pods } }]
    case 'clock set':
      return [0, 1].flatMap(replica => strike({ kind: 'clock-jump', replica, ms: disturbance.ms }))
    case 'wrong configuration':
    case 'rotation':
      return []
  }
}

/** The same plan for the certificates, second by second: what was served before it was trusted, or stayed half done. */
export function simulatedRotations(seed: number, minutes: number): readonly string[] {
  const model = new CertificateModel(new Dice(seed).split('certificates'), 2)
  const act = () => {
    model.hearAll()
    for (const replica of [...model.replicas]) model.act(replica)
  }
  const plan = planSoak(seed, minutes)
  let [cutUntil, awayUntil] = [0, 0]
  for (let second = 0; second < minutes * 60 + 60; second++) {
    const nowMs = second * SECOND
    for (const { atMs, ...disturbance } of plan) {
      if (Math.floor(atMs / SECOND) !== second) continue
      if (disturbance.kind === 'rotation') model.pass(21 * DAY)
      if (disturbance.kind === 'partition') cutUntil = nowMs + disturbance.ms
      if (/^API server/.test(disturbance.kind)) awayUntil = nowMs + API_START_MS
      if (/^(kill -9|rolling restart)$/.test(disturbance.kind)) replaceFirst(model)
    }
    model.pass(SECOND)
    if (nowMs < awayUntil) continue
    if (nowMs >= cutUntil) act()
    else if (model.replicas[1] !== undefined) {
      model.hear(model.replicas[1], 'record')
      model.hear(model.replicas[1], 'bundles')
      model.act(model.replicas[1])
    }
  }
  // Whatever nothing in the record explains stays for ten minutes.
  for (let look = 0; look < 15; look++) {
    act()
    model.pass(60 * SECOND)
  }
  model.hearAll()
  return [...model.broken, ...model.unsettled()]
}

function replaceFirst(model: CertificateModel): void {
  const [first] = model.replicas
  if (first !== undefined) model.crash(first)
  model.start()
}
