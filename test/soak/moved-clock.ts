// Loaded into Muster before anything else: its wall clock is off by as many milliseconds as a file says, which is read
// again and again. Timers and the monotonic clock stay as they are, as on a machine whose clock is set.
import { readFileSync } from 'node:fs'

const file = new URL(import.meta.url).searchParams.get('offset') ?? ''
const LOOK_MS = 100

const read = (): number => {
  const offset = Number(readFileSync(file, 'utf8'))
  return Number.isFinite(offset) ? offset : 0
}

let offsetMs = read()
setInterval(() => {
  offsetMs = read()
}, LOOK_MS).unref()

const realNow = Date.now
const RealDate = Date
Date.now = () => realNow() + offsetMs
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [Date.now()] : args, newTarget),
})
