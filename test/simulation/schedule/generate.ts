import type { Stored } from '../model/server.ts'
import { Dice } from '../time/dice.ts'
import { faultItems, lateness, takeover, withJobs } from './faults.ts'
import { hostileItems } from './hostile.ts'
import { jobSetItems } from './job-sets.ts'
import { asGangs, jobItems } from './jobs.ts'
import { asKai, kaiItems } from './kai.ts'
import type { Item, Schedule, Setting, UnitName } from './schedule.ts'
import { unitItems } from './units.ts'

const DOOMED = 'doomed'
/** Some pods name another pool: their admission contradicts them. */
const PLACE = { nodeLabels: { pool: 'a' }, tolerations: [{ key: 'pool', operator: 'Exists' }] }

/**
 * What a run is mostly about. Most bugs need two or three things at once; a theme brings them together more often than
 * chance would.
 * - `handover`: the leader falls while its followers are behind and people take admissions back.
 * - `churn`: pods are deleted and come back under their old names while writes and watches are late.
 */
type Theme = 'mixed' | 'handover' | 'churn'

/** What a campaign is about; by default pods, and the built-in engine. */
export type Subject = Partial<Pick<Setting, 'engine' | 'jobs' | 'sets' | 'gangs' | 'kai' | 'limits'>>

/** A run, from nothing but its seed. */
export function generate(seed: number, subject: Subject = {}): Schedule {
  const { engine = 'builtin', sets = false, jobs = sets, gangs = false, kai = false, limits = false } = subject
  const dice = new Dice(seed)
  const theme = dice.weighted<Theme>([
    [6, 'mixed'],
    [2, 'handover'],
    [2, 'churn'],
  ])
  const doomed = dice.chance(0.08)
  const namespaces = doomed ? ['ml', DOOMED] : ['ml']
  const setting = {
    ...settingOf(dice.split('setting'), seed, namespaces, theme),
    engine,
    jobs,
    sets,
    gangs,
    kai,
    limits,
  }
  const items: Item[] = []
  const units = dice.int(2, 8)
  for (let index = 0; index < units; index++) {
    const own = dice.split(`unit ${index}`)
    const at = own.next() * 25_000
    const namespace = own.pick(namespaces)
    const queue = own.weighted([
      [5, 'small'],
      [3, 'cpu'],
      [1, 'unlimited'],
    ])
    if (sets && own.split('set').chance(0.6)) {
      items.push(...jobSetItems(own, { namespace, queue, name: `s${index}`, at, returning: theme === 'churn' }))
      continue
    }
    if (jobs && own.split('kind').chance(0.7)) {
      const place = { namespace, queue, name: `j${index}`, at, returning: theme === 'churn' }
      items.push(...(gangs ? asGangs(own.split('gang'), jobItems(own, place)) : jobItems(own, place)))
      continue
    }
    const plain = unitItems(own, { namespace, queue, name: `u${index}`, at, returning: theme !== 'mixed' })
    const created = kai && own.split('scheduler').chance(0.8) ? asKai(own.split('kai'), plain) : plain
    if (kai) items.push(...kaiItems(own.split('kai groups'), created, namespaces))
    items.push(...created, ...interference(own, created))
    if (gangs) items.push(...meddling(own.split('pod group'), created))
    if (theme === 'handover') items.push(...withdrawal(own, created))
    if (theme === 'churn') items.push(...resubmission(own, created))
  }
  if (limits) items.push(...limitChanges(dice.split('limits')))
  items.push(...hostility(dice.split('hostility'), namespaces))
  if (doomed) items.push({ at: 8000 + dice.next() * 15_000, kind: 'delete-namespace', namespace: DOOMED })
  const faults = faultItems(dice.split('faults'), setting.replicas.length)
  items.push(...(jobs ? withJobs(dice.split('job faults'), faults) : faults))
  if (theme === 'handover') items.push(...takeover(dice.split('takeover'), 4000 + dice.next() * 14_000))
  if (theme === 'churn') items.push(...lateness(dice.split('lateness'), dice.next() * 10_000))
  return { setting, items: items.sort((a, b) => a.at - b.at) }
}

/** Up and down, also so far down that what waits could never start. */
function limitChanges(dice: Dice): readonly Item[] {
  return Array.from({ length: dice.int(1, 4) }, (): Item => {
    const at = dice.next() * 40_000
    if (dice.chance(0.6)) return { at, kind: 'set-limits', queue: 'small', limits: { pods: dice.int(1, 12) } }
    const limits = { cpu: dice.pick(['1', '2500m', '5', '9']), pods: dice.pick([2, 10, 30]) }
    return { at, kind: 'set-limits', queue: 'cpu', limits }
  })
}

/** In a part of all runs a tenant tries to cheat, while everybody else goes about their business. */
function hostility(dice: Dice, namespaces: readonly string[]): readonly Item[] {
  const attacks = dice.chance(0.3) ? dice.int(1, 2) : 0
  return Array.from({ length: attacks }, (_, index) => {
    const own = dice.split(`attack ${index}`)
    const queue = own.weighted([
      [4, 'small'],
      [4, 'cpu'],
      [1, 'unlimited'],
    ])
    const place = {
      namespace: own.pick(namespaces),
      queue,
      name: `x${index}`,
      at: own.next() * 15_000,
      returning: false,
    }
    return hostileItems(own, place)
  }).flat()
}

function settingOf(
  dice: Dice,
  seed: number,
  namespaces: readonly string[],
  theme: Theme,
): Omit<Setting, 'engine' | 'jobs' | 'sets' | 'gangs' | 'kai' | 'limits'> {
  const replicas = dice.weighted([
    [theme === 'handover' ? 0 : 3, 1],
    [5, 2],
    [2, 3],
  ])
  const lag = dice.pick([2, 20, 300])
  return {
    seed,
    namespaces,
    queues: [
      { name: 'small', limits: { pods: dice.int(3, 7) } },
      { name: 'cpu', limits: { cpu: dice.pick(['2', '3500m', '6']), pods: 20 }, ...PLACE },
    ],
    replicas: Array.from({ length: replicas }, () => ({
      rate: 1 + (dice.next() - 0.5) * 0.06,
      skewMs: dice.chance(0.3) ? (dice.next() - 0.5) * 7_200_000 : 0,
      watchLagMs: lag,
      streaming: dice.chance(0.7),
      pageLimit: dice.pick([500, 2]),
    })),
  }
}

/** What people do to a unit while it waits, runs or ends. */
function interference(dice: Dice, created: readonly Item[]): readonly Item[] {
  const pods = podsOf(created)
  const [first] = pods
  if (first === undefined) return []
  const unit = unitName(first)
  const begin = latest(created)
  const soon = () => begin + dice.next() * dice.pick([300, 3000, 15_000])
  const items: Item[] = []
  for (const pod of pods) {
    if (dice.chance(0.14)) items.push(...deletion(dice, pod, soon()))
    items.push(...touches(dice, pod, soon))
  }
  if (dice.chance(0.1)) items.push({ at: soon(), kind: 'delete-workload', unit })
  if (dice.chance(0.12)) {
    const at = soon()
    items.push({ at, kind: 'set-active', unit, active: false })
    if (dice.chance(0.6)) items.push({ at: at + dice.next() * 9000, kind: 'set-active', unit, active: true })
  }
  if (dice.chance(0.08))
    items.push({ at: soon(), kind: 'touch-workload', unit, what: dice.pick(['label', 'condition']) })
  return items
}

/** What people do to the PodGroup of a group. */
function meddling(dice: Dice, created: readonly Item[]): readonly Item[] {
  const [first] = podsOf(created)
  const { namespace, group } = first === undefined ? { namespace: '', group: undefined } : unitName(first)
  if (group === undefined) return []
  const begin = latest(created)
  const soon = () => begin + dice.next() * dice.pick([300, 3000, 10_000])
  const of = { namespace, group }
  const items: Item[] = []
  if (dice.chance(0.2)) items.push({ at: soon(), kind: 'delete-pod-group', ...of, force: dice.chance(0.6) })
  if (dice.chance(0.1)) items.push({ at: soon(), kind: 'shrink-pod-group', ...of })
  if (dice.chance(0.15)) {
    const at = Math.max(0, begin - dice.next() * 2000)
    items.push({ at, kind: 'take-pod-group', ...of, backMs: 1000 + dice.next() * 8000 })
  }
  return items
}

/** Admission is taken back, and perhaps given again; or the pods go, and their Workload with them. */
function withdrawal(dice: Dice, created: readonly Item[]): readonly Item[] {
  const pods = podsOf(created)
  const [first] = pods
  const at = latest(created) + 1000 + dice.next() * 12_000
  if (first === undefined || dice.chance(0.3)) return []
  if (dice.chance(0.4)) return pods.flatMap(pod => deletion(dice, pod, at + dice.next() * 200))
  const unit = unitName(first)
  if (dice.chance(0.3)) return [{ at, kind: 'delete-workload', unit }]
  const back: Item = { at: at + 15_000 * dice.next(), kind: 'set-active', unit, active: true }
  return [{ at, kind: 'set-active', unit, active: false }, ...(dice.chance(0.5) ? [back] : [])]
}

/** Everything again, under the same names: as people do when something did not work. */
function resubmission(dice: Dice, created: readonly Item[]): readonly Item[] {
  if (dice.chance(0.4)) return []
  const at = latest(created) + 500 + dice.next() * 15_000
  return podsOf(created).map(pod => {
    const { namespace = '', name = '' } = pod.metadata
    return { at: at + dice.next() * 300, kind: 'delete-pod', namespace, name, again: pod }
  })
}

function podsOf(created: readonly Item[]): readonly Stored[] {
  return created.flatMap(item => (item.kind === 'create-pod' ? [item.pod] : []))
}

const latest = (created: readonly Item[]): number => created.reduce((last, item) => Math.max(last, item.at), 0)

function unitName({ metadata: { namespace = '', name = '', labels } }: Stored): UnitName {
  const group = labels?.['kueue.x-k8s.io/pod-group-name']
  return group === undefined ? { namespace, pod: name } : { namespace, group }
}

function deletion(dice: Dice, pod: Stored, at: number): readonly Item[] {
  const { namespace = '', name = '' } = pod.metadata
  const graceSeconds = dice.chance(0.15) ? 0 : undefined
  return [
    {
      at,
      kind: 'delete-pod',
      namespace,
      name,
      ...(graceSeconds !== undefined && { graceSeconds }),
      ...(dice.chance(0.45) && { again: pod }),
    },
  ]
}

function touches(dice: Dice, pod: Stored, soon: () => number): readonly Item[] {
  const { namespace = '', name = '', finalizers } = pod.metadata
  const { schedulingGates } = pod.spec as { schedulingGates?: readonly unknown[] }
  const items: Item[] = []
  if (schedulingGates) items.push({ at: soon(), kind: 'touch-pod', namespace, name, what: 'drop-gate' })
  if (finalizers) items.push({ at: soon() + 2000, kind: 'touch-pod', namespace, name, what: 'drop-finalizer' })
  if (dice.chance(0.12)) {
    const what = dice.pick(['label', 'annotation', 'add-finalizer', 'steal-gate'] as const)
    const at = soon()
    items.push({ at, kind: 'touch-pod', namespace, name, what })
    if (what === 'add-finalizer') {
      items.push({ at: at + 500 + dice.next() * 9000, kind: 'touch-pod', namespace, name, what: 'drop-finalizer' })
    }
  }
  if (dice.chance(0.03)) items.push({ at: soon(), kind: 'not-retriable', namespace, name })
  if (dice.chance(0.04)) items.push({ at: soon(), kind: 'set-queue', namespace, name, queue: 'unlimited' })
  return items
}
