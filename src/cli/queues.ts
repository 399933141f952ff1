import { readInstallation } from '../insight/installation.ts'
import { changesBetween } from '../insight/queues/changes.ts'
import { gatherWorkloads } from '../insight/queues/gather.ts'
import { renderQueues } from '../insight/queues/render.ts'
import { type QueuesReport, reportQueues } from '../insight/queues/report.ts'
import { type Scope, scopeOf } from '../insight/scope.ts'
import { SILENT, Sight } from '../insight/sight.ts'
import { Informer } from '../kube/cache/informer.ts'
import { UNOBSERVED } from '../kube/cache/observer.ts'
import { sleep } from '../kube/vocabulary/backoff.ts'
import { systemClock } from '../kube/vocabulary/clock.ts'
import { nearest } from '../kube/vocabulary/nearest.ts'
import type { Engine } from '../reconciler/engine.ts'
import { oneLine } from '../review/formats/formatter.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import { asking, type CallersCluster, failureOf, givenConfiguration, openCallersCluster } from './callers-cluster.ts'
import { CannotLook, EXIT } from './command.ts'
import type { Parsed } from './flags.ts'
import { interrupted } from './interruption.ts'
import { paintFor, print, timestamp } from './outputs.ts'
import { oneOf } from './review.ts'

const FORMATS = ['table', 'wide', 'json'] as const
type Format = (typeof FORMATS)[number]

/** Changes come in bursts, and nobody reads faster than this. */
const SETTLE_MS = 500
/** Ages grow and limits change without any Workload changing. */
const REFRESH_MS = 10_000
const RETRY_MS = 2_000

/** `muster queues`: limits, usage, who holds, who waits and since when. */
export async function queues(flags: Parsed): Promise<number> {
  const format = oneOf(flags, 'output', FORMATS)
  const config = await givenConfiguration(flags)
  const cluster = await openCallersCluster(flags)
  const wanted = new Set(flags.positionals)
  const only = (report: QueuesReport): QueuesReport =>
    wanted.size === 0 ? report : { ...report, queues: report.queues.filter(({ name }) => wanted.has(name)) }
  const fallback = flags.given('all-namespaces') ? undefined : cluster.namespace
  const look = async (workloads?: Iterable<QueuedWorkload>): Promise<QueuesReport> => {
    const sight = new Sight(cluster.api, systemClock)
    const installation = await readInstallation(sight, config)
    const all = workloads ?? (await gatherWorkloads(sight, installation, cluster.namespace))
    return reportQueues(installation, [...all], sight.unseen)
  }
  return await asking(cluster, async () => {
    if (flags.given('watch') || fallback === undefined) {
      const { engine } = await readInstallation(new Sight(cluster.api, systemClock), config)
      const scope = await scopeFor(cluster, engine, fallback)
      if (flags.given('watch')) {
        return await follow(cluster, { engine, scope }, format, async workloads => only(await look(workloads)))
      }
    }
    const report = await look()
    const strange = [...wanted].filter(name => report.queues.every(queue => queue.name !== name))
    if (wanted.size === 0 || strange.length < wanted.size) await print(shown(only(report), format))
    if (strange.length > 0) throw new CannotLook(strangers(strange, report))
    return EXIT.ok
  })
}

/** As many as somebody reads. */
const SHOWN = 10

/** A queue needs no object: it is one because somebody has listed it, or is in it. */
function strangers(names: readonly string[], { queues }: QueuesReport): string {
  const known = queues.map(({ name }) => name)
  const close = nearest(names[0] ?? '', known)
  const hint = close === undefined ? '' : ` (did you mean ${close}?)`
  const listed = known.length === 0 ? 'no queue' : known.slice(0, SHOWN).join(', ')
  const more = known.length > SHOWN ? ` and ${known.length - SHOWN} more` : ''
  return oneLine(`nobody has listed ${names.join(', ')}, and nobody is in it${hint}; there is ${listed}${more}`)
}

function shown(report: QueuesReport, format: Format): string {
  if (format === 'json') return `${JSON.stringify(report, null, 2)}\n`
  return renderQueues(report, { now: systemClock.now(), paint: paintFor(process.stdout), all: format === 'wide' })
}

/** Without a fallback it is all namespaces, and the API server refuses who may not read them. */
async function scopeFor({ api }: CallersCluster, { workloads }: Engine, fallback: string | undefined): Promise<Scope> {
  if (fallback === undefined) {
    await api.list(workloads, { limit: 1 })
    return {}
  }
  return (await scopeOf(api, workloads, fallback)) ?? { namespace: fallback }
}

/** On a terminal the table is drawn anew; elsewhere each change is a line, which `grep` and logs can use. */
async function follow(
  cluster: CallersCluster,
  { engine, scope }: { readonly engine: Engine; readonly scope: Scope },
  format: Format,
  look: (workloads: Iterable<QueuedWorkload>) => Promise<QueuesReport>,
): Promise<number> {
  const { api } = cluster
  const stopping = interrupted()
  const informer = new Informer<QueuedWorkload>({
    ...{ api, clock: systemClock, random: Math.random, log: SILENT, observer: UNOBSERVED },
    resource: engine.workloads,
    ...scope,
    transform: workload => engine.forCache(workload),
  })
  let changes = 0
  let wake = (): void => {}
  stopping.addEventListener('abort', () => wake())
  informer.subscribe(() => {
    changes += 1
    wake()
  })
  informer.start()
  try {
    await informer.whenSynced()
    let last: QueuesReport | undefined
    let trouble = ''
    while (!stopping.aborted) {
      const seen = changes
      // A cluster may be away for a moment; the informer goes on by itself, and so does this.
      const report = await look(informer.values()).catch((error: unknown) => failureOf(error, cluster))
      if (typeof report === 'string') {
        if (report !== trouble) process.stderr.write(`muster queues: ${report}; trying again\n`)
        trouble = report
      } else {
        await print(drawn(last, report, format))
        last = report
        trouble = ''
      }
      const cancel = systemClock.after(trouble === '' ? REFRESH_MS : RETRY_MS, () => wake())
      if (seen === changes && !stopping.aborted) {
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
      cancel()
      await sleep(systemClock, SETTLE_MS, stopping)
    }
    return EXIT.ok
  } finally {
    await informer.stop()
  }
}

const CLEAR = '\u001b[H\u001b[2J\u001b[3J'

function drawn(last: QueuesReport | undefined, report: QueuesReport, format: Format): string {
  if (process.stdout.isTTY && format !== 'json') return CLEAR + shown(report, format)
  const lines = changesBetween(last, report, timestamp(systemClock.now()))
  if (format === 'json') return last === undefined || lines.length > 0 ? `${JSON.stringify(report)}\n` : ''
  return lines.map(line => `${line}\n`).join('')
}
