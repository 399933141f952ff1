import type { Configuration } from '../config/configuration.ts'
import { builtinEngine } from '../engines/builtin/builtin.ts'
import type { Engine } from '../reconciler/engine.ts'

/** The engine that the configuration asks for. It queues no kind that the configuration leaves out; pods it always does. */
export function engineOf({ queues, integrations }: Configuration): Engine {
  const engine = builtinEngine(queues)
  const holds = engine.holds.filter(name => name === 'pod' || integrations.frameworks.includes(name))
  return { ...engine, holds }
}
