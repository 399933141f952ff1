// Two replicas on a real control plane, under load, while everything is taken away from them that can be: for as many
// minutes as it is told. docs/reliability.md says what it does and what it has found.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { complaints, goalsOf, table } from './report.ts'
import { soak } from './soak.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const LONGEST_MINUTES = 24 * 60

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    logs: { type: 'string' },
  },
})
const [minutes, seed] = [Number(values.minutes), Number(values.seed)]
if (!(minutes >= 1 && minutes <= LONGEST_MINUTES) || !Number.isSafeInteger(seed)) {
  console.error(`soak: --minutes from 1 to ${LONGEST_MINUTES}, --seed a whole number`)
  process.exit(2)
}
// Nothing outlives this process: replicas end with its exit, and the control plane has a watchdog.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const built = spawnSync(process.execPath, [join(ROOT, 'scripts/build.ts')], { stdio: 'inherit' })
if (built.status !== 0) process.exit(1)
const tell = (text: string) => console.error(`${new Date().toISOString()} ${text}`)
const figures = await soak({ minutes, seed, logs: values.logs, tell })
console.log(table(figures))
for (const complaint of complaints(figures).slice(0, 100)) console.log(`- ${complaint}`)
process.exit(goalsOf(figures).every(({ isMet }) => isMet) ? 0 : 1)
