import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createKubeClient, type KubeClient } from '../src/kube/client.ts'
import { systemClock } from '../src/kube/clock.ts'
import { kubeconfigCredentials } from '../src/kube/credentials.ts'
import type { Pod } from '../src/kube/objects.ts'
import { PODS } from '../src/kube/resources.ts'
import { ADMISSION_GATE } from '../src/names.ts'
import { type ControlPlane, startControlPlane } from '../test/cluster/support/control-plane.ts'
import { queuedPod } from '../test/cluster/support/manifests.ts'
import { Muster } from '../test/cluster/support/muster.ts'

const GOALS = { group: 1.5, groupBusy: 2, singles: 0.25, residentMb: 200, syncSeconds: 10, idlePercent: 2 }
const RAW_GATE = 'example.com/raw'
const PARALLEL = 16

const { values } = parseArgs({
  options: {
    group: { type: 'string', default: '300' },
    singles: { type: 'string', default: '500' },
    many: { type: 'string', default: '10000' },
  },
})
const sizes = { group: Number(values.group), singles: Number(values.singles), many: Number(values.many) }

const results: { readonly what: string; readonly figure: string; readonly goal: string; readonly met: boolean }[] = []

const plane = await startControlPlane({ name: 'bench', featureGates: 'none' })
const admin = createKubeClient({
  credentials: await kubeconfigCredentials({ file: plane.kubeconfig, clock: systemClock }),
  clock: systemClock,
})
let muster: Muster | undefined
try {
  await main(plane, admin)
} finally {
  await muster?.stop()
  await admin.close()
  await plane.stop()
}
for (const { what, figure, goal, met } of results) {
  process.stdout.write(`${met ? 'met   ' : 'MISSED'}  ${what.padEnd(58)} ${figure.padStart(26)}   goal ${goal}\n`)
}
if (results.some(({ met }) => !met)) process.exitCode = 1

async function main(plane: ControlPlane, api: KubeClient): Promise<void> {
  for (const namespace of ['raw', 'bench', 'busy', 'many']) await plane.createNamespace(namespace)
  // The raw limit needs no Muster: its pods ask for no queue.
  muster = await Muster.install(plane, { queues: [{ name: 'closed', limits: { pods: 0 } }] }, { logLevel: 'warn' })

  const raw = await rawLiftSeconds(api, Math.max(sizes.group, sizes.singles))
  const rawRate = Math.max(sizes.group, sizes.singles) / raw
  process.stdout.write(`raw limit: ${rawRate.toFixed(0)} gate patches/s over ${PARALLEL} keep-alive connections\n`)

  const group = await groupSeconds(api, 'bench', 'quiet')
  const rawForGroup = sizes.group / rawRate
  note(
    `group of ${sizes.group}: last create to last lift, times the raw limit`,
    group / rawForGroup,
    GOALS.group,
    'at most',
    `${group.toFixed(2)} s`,
  )

  const busy = create(api, sizes.singles, index =>
    queuedPod({ namespace: 'busy', name: `early-${index}`, outcome: 'succeed' }),
  )
  await busy
  const cleanup = deleteAll(api, 'busy')
  const groupBusy = await groupSeconds(api, 'bench', 'busy')
  await cleanup
  note(
    `the same while ${sizes.singles} earlier pods are cleaned up`,
    groupBusy / rawForGroup,
    GOALS.groupBusy,
    'at most',
    `${groupBusy.toFixed(2)} s`,
  )

  const started = performance.now()
  const lifted = untilLifted(api, 'bench', sizes.singles, name => name.startsWith('single-'))
  await create(api, sizes.singles, index => queuedPod({ namespace: 'bench', name: `single-${index}` }))
  await lifted
  const rate = sizes.singles / ((performance.now() - started) / 1000)
  note(
    `${sizes.singles} single pods, first create to last lift, of the raw rate`,
    rate / rawRate,
    GOALS.singles,
    'at least',
    `${rate.toFixed(0)} pods/s`,
  )
  await deleteAll(api, 'bench')

  await create(api, sizes.many, index => queuedPod({ namespace: 'many', name: `pod-${index}`, queue: 'closed' }))
  await sleep(3_000)
  await muster.stop()
  const starting = performance.now()
  await muster.start()
  note(
    `${sizes.many} managed pods: start to ready`,
    (performance.now() - starting) / 1000,
    GOALS.syncSeconds,
    'at most',
    's',
  )
  await sleep(15_000)
  const pid = muster.pid
  note(`${sizes.many} managed pods: resident memory`, residentMb(pid), GOALS.residentMb, 'at most', 'MB')
  const before = cpuSeconds(pid)
  await sleep(10_000)
  note(`${sizes.many} managed pods: idle CPU`, (cpuSeconds(pid) - before) * 10, GOALS.idlePercent, 'at most', '%')
}

function note(what: string, value: number, goal: number, sense: 'at most' | 'at least', detail: string): void {
  const met = sense === 'at most' ? value <= goal : value >= goal
  results.push({ what, figure: `${value.toFixed(2)} (${detail})`, goal: `${sense} ${goal}`, met })
}

/** A bare loop that does nothing but remove a gate: nobody can lift faster than this. */
async function rawLiftSeconds(api: KubeClient, count: number): Promise<number> {
  await create(api, count, index => {
    const pod = queuedPod({ namespace: 'raw', name: `raw-${index}`, gates: [RAW_GATE] }) as Pod
    return { ...pod, metadata: { ...pod.metadata, labels: {} } }
  })
  const body = { spec: { schedulingGates: [{ $patch: 'delete', name: RAW_GATE }] } }
  const started = performance.now()
  await inParallel(count, index =>
    api.patch(PODS, { namespace: 'raw', name: `raw-${index}` }, { type: 'strategic', body }),
  )
  const seconds = (performance.now() - started) / 1000
  await deleteAll(api, 'raw')
  return seconds
}

async function groupSeconds(api: KubeClient, namespace: string, name: string): Promise<number> {
  const member = (index: number) => queuedPod({ namespace, name: `${name}-${index}`, group: name, count: sizes.group })
  const lifted = untilLifted(api, namespace, sizes.group, pod => pod.startsWith(`${name}-`))
  await create(api, sizes.group, member)
  const created = performance.now()
  await lifted
  return (performance.now() - created) / 1000
}

/** Watches, as a user's `kubectl get -w` would: the lift counts when others can see it. */
async function untilLifted(
  api: KubeClient,
  namespace: string,
  count: number,
  ours: (name: string) => boolean,
): Promise<void> {
  const lifted = new Set<string>()
  const stop = new AbortController()
  for await (const event of api.watch<Pod>(PODS, { namespace }, stop.signal)) {
    if (event.type !== 'MODIFIED' || !ours(event.object.metadata.name ?? '')) continue
    if (event.object.spec.schedulingGates?.some(gate => gate.name === ADMISSION_GATE)) continue
    lifted.add(event.object.metadata.uid ?? '')
    if (lifted.size >= count) return stop.abort()
  }
  throw new Error(`the watch ended with ${lifted.size} of ${count} lifted`)
}

async function create(api: KubeClient, count: number, pod: (index: number) => object): Promise<void> {
  await inParallel(count, index => api.create<Pod>(PODS, pod(index) as Pod, { timeoutMs: 60_000 }))
}

async function deleteAll(api: KubeClient, namespace: string): Promise<void> {
  const { items } = await api.list<Pod>(PODS, { namespace })
  await inParallel(items.length, async index => {
    const name = items[index]?.metadata.name ?? ''
    await api.delete(PODS, { namespace, name }, {}).catch(() => undefined)
  })
  for (;;) {
    const rest = await api.list<Pod>(PODS, { namespace, limit: 1 })
    if (rest.items.length === 0) return
    await sleep(200)
  }
}

async function inParallel(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
