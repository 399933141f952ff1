import { Sight } from '../insight/sight.ts'
import { systemClock } from '../kube/vocabulary/clock.ts'
import { decideUninstall } from '../uninstall/decide.ts'
import { CHOICES, type Choice } from '../uninstall/remains.ts'
import {
  countsOf,
  progressOf,
  renderReport,
  reportDeed,
  reportPlan,
  type UninstallReport,
} from '../uninstall/report.ts'
import { leave } from '../uninstall/run.ts'
import type { Phase } from '../uninstall/steps.ts'
import { survey } from '../uninstall/survey.ts'
import { asking, type CallersCluster, openCallersCluster } from './callers-cluster.ts'
import { CannotLook, EXIT } from './command.ts'
import { type Parsed, UsageError } from './flags.ts'
import { interrupted } from './interruption.ts'
import { print } from './outputs.ts'
import { oneOf } from './review.ts'

const FORMATS = ['text', 'json'] as const

/** Of what may not be seen, as much as somebody reads. */
const SHOWN = 4

/** `muster uninstall`: takes everything of Muster out of a cluster, also when Muster itself is gone. */
export async function uninstall(flags: Parsed): Promise<number> {
  const format = oneOf(flags, 'output', FORMATS)
  const choice = choiceIn(flags)
  const cluster = await openCallersCluster(flags)
  const look = async () => {
    const sight = new Sight(cluster.api, systemClock)
    const remains = await survey(sight)
    if (sight.unseen.length === 0) return remains
    const [unseen, more] = [sight.unseen.slice(0, SHOWN).join('; '), sight.unseen.length - SHOWN]
    const rest = more > 0 ? ` and ${more} more` : ''
    throw new CannotLook(`it takes somebody who may see everything, an administrator; not seen: ${unseen}${rest}`)
  }
  const report = await asking(cluster, async () => {
    const plan = decideUninstall(await look(), choice)
    if (flags.given('dry-run')) return reportPlan(plan, choice)
    const waiting = plan.waiting.pods + plan.waiting.jobs
    if (choice === undefined && waiting > 0) {
      const [wait, them] = waiting === 1 ? ['waits', 'it'] : ['wait', 'them']
      throw new UsageError(
        `${countsOf(plan.waiting)} ${wait}, and nobody will start ${them}: say what becomes of ` +
          `${them} with --start-waiting, --keep-waiting or --delete-waiting. Nothing was changed`,
      )
    }
    return reportDeed(await leaveCluster(cluster, look, choice), choice)
  })
  await print(format === 'json' ? `${JSON.stringify(report, null, 2)}\n` : renderReport(report))
  return exitCode(report)
}

const exitCode = ({ left }: UninstallReport): number => (left.length > 0 ? EXIT.denied : EXIT.ok)

function choiceIn(flags: Parsed): Choice | undefined {
  const given = CHOICES.filter(choice => flags.given(`${choice}-waiting`))
  if (given.length > 1) throw new UsageError(`--${given.join('-waiting and --')}-waiting contradict each other`)
  return given[0]
}

async function leaveCluster(
  { api, credentials }: CallersCluster,
  look: Parameters<typeof leave>[0]['survey'],
  choice: Choice | undefined,
) {
  const stopping = new AbortController()
  const progress = new Progress()
  interrupted().addEventListener('abort', () => {
    progress.end()
    stopping.abort(new CannotLook('interrupted: the same command goes on where it was'))
  })
  process.stderr.write(`Muster leaves ${credentials.server.origin}\n`)
  const { signal } = stopping
  const deed = await leave({ api, clock: systemClock, signal, survey: look, choice, onProgress: progress.tell })
  signal.throwIfAborted()
  return deed
}

/** On a terminal one line that changes; elsewhere a line for each phase when it is done. */
class Progress {
  #isOpen = false

  readonly tell = (phase: Phase, done: number): void => {
    const isLast = done === phase.steps.length
    if (process.stderr.isTTY) {
      process.stderr.write(`\r\u001b[K${progressOf(phase, done)}`)
      this.#isOpen = true
      if (isLast) this.end()
    } else if (isLast) process.stderr.write(`${progressOf(phase, done)}\n`)
  }

  /** Whatever is said next has a line of its own. */
  end(): void {
    if (this.#isOpen) process.stderr.write('\n')
    this.#isOpen = false
  }
}
