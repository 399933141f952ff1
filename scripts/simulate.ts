import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { explain, runCampaign } from '../test/simulation/runs/campaign.ts'

const FLAGS = '[--jobs] [--jobsets] [--gangs] [--kai] [--kueue] [--limits]'
const USAGE = `npm run simulate -- [--seeds N] [--from S] [--failures K] ${FLAGS}

  --seeds N     how many runs (1000)
  --from S      the first seed (1)
  --failures K  stop after so many failures (1); each is shrunk and printed as a timeline
  --jobs        runs with Jobs among the pods
  --jobsets     runs with Jobs and JobSets among the pods
  --gangs       runs where kube-scheduler places groups
  --kai         runs where KAI places some of the pods
  --kueue       runs where Kueue admits
  --limits      runs where the limits of queues change`

/** Numbers only: a seed that was mistyped must not silently be another one. */
function count(text: string, flag: string): number {
  if (!/^\d{1,10}$/.test(text))
    throw new Error(`--${flag} takes a whole number, not ${JSON.stringify(text)}\n\n${USAGE}`)
  return Number(text)
}

/** A bar on a terminal, nothing in a log file. */
function progress(total: number): (done: number, failures: number) => void {
  const startedAt = performance.now()
  const { stderr } = process
  if (!stderr.isTTY) return () => {}
  let shownAt = 0
  return (done, failures) => {
    const now = performance.now()
    if (now - shownAt < 100 && done < total) return
    shownAt = now
    const width = 30
    const filled = Math.round((done / total) * width)
    const rate = done / ((now - startedAt) / 1000)
    const bar = `${'#'.repeat(filled)}${'.'.repeat(width - filled)}`
    stderr.write(`\r[${bar}] ${done}/${total}  ${rate.toFixed(0)}/s  ${failures} failed `)
    if (done === total) stderr.write('\n')
  }
}

export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      failures: { type: 'string', default: '1' },
      jobs: { type: 'boolean', default: false },
      jobsets: { type: 'boolean', default: false },
      kueue: { type: 'boolean', default: false },
      gangs: { type: 'boolean', default: false },
      kai: { type: 'boolean', default: false },
      limits: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  const [seeds, from, enough] = [
    count(values.seeds, 'seeds'),
    count(values.from, 'from'),
    count(values.failures, 'failures'),
  ]
  const { gangs, kai, limits } = values
  const engine = values.kueue ? ('kueue' as const) : ('builtin' as const)
  const subject = { jobs: values.jobs || values.jobsets, sets: values.jobsets, gangs, kai, limits, engine }
  const startedAt = performance.now()
  const campaign = await runCampaign({ from, seeds, subject, enough, onSeed: progress(seeds) })
  for (const failure of campaign.failures) console.log(`${await explain(failure, subject)}\n`)
  const seconds = (performance.now() - startedAt) / 1000
  const hours = campaign.virtualMs / 3_600_000
  console.log(
    `${campaign.seeds} seeds, ${campaign.failures.length} failed; ${hours.toFixed(1)} virtual hours ` +
      `in ${seconds.toFixed(1)} s, ${(campaign.seeds / seconds).toFixed(1)} seeds per second`,
  )
  return campaign.failures.length === 0 ? 0 : 1
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await main(process.argv.slice(2))
}
