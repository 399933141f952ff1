import type { Configuration } from '../config/configuration.ts'
import { builtinEngine } from '../engines/builtin/builtin.ts'
import type { Engine } from '../reconciler/engine.ts'

/** The engine that the configuration asks for. */
export function engineOf(config: Configuration): Engine {
  return builtinEngine(config.queues)
}
