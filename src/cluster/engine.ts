import { isDeepStrictEqual } from 'node:util'
import type { Configuration } from '../config/configuration.ts'
import type { LiveConfiguration } from '../config/live.ts'
import { type BuiltinEngine, builtinEngine } from '../engines/builtin/builtin.ts'
import type { ReadinessCheck } from '../kube/vocabulary/readiness.ts'
import type { Engine } from '../reconciler/engine.ts'
import { heldBy } from '../webhooks/local-world.ts'
import { KueueWatch, type KueueWatchDeps } from './kueue-watch.ts'

/** Where the reconciler has its engine from. Not every engine is there from the beginning, or stays. */
export interface EngineSource {
  /** Undefined: it is not there, and nothing can be admitted. */
  readonly engine: Engine | undefined
  ask(): Promise<void>
  onChange(changed: () => void): void
  start(): void
  stop(): void
  readiness(): readonly ReadinessCheck[]
}

/** The engine that the configuration asks for. */
export function engineSource(live: LiveConfiguration, deps: KueueWatchDeps): EngineSource {
  if (live.current.engine === 'kueue') return new KueueWatch(deps)
  const engine = builtinFor(live.current)
  live.onChange(({ queues }, previous) => {
    if (!isDeepStrictEqual(queues, previous.queues)) engine.reconfigure(queues)
  })
  return fixed(engine)
}

/** It queues no kind that the configuration leaves out; pods it always does. */
export function builtinFor(config: Configuration): BuiltinEngine {
  const engine = builtinEngine(config.queues)
  const held = heldBy(config)
  return { ...engine, holds: engine.holds.filter(name => held.includes(name)) }
}

function fixed(engine: Engine): EngineSource {
  return {
    engine,
    ask: async () => {},
    onChange: () => {},
    start: () => {},
    stop: () => {},
    readiness: () => [],
  }
}
