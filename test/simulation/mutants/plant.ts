import { registerHooks } from 'node:module'
import { type Replacement, replaced } from '../../support/planting.ts'

/** Replaces source text as it is loaded: the simulator runs the very code that ships, but for this. */
export function plant(replacements: readonly Replacement[]): void {
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      const own = replacements.filter(({ file }) => url.endsWith(`/${file}`))
      return own.length === 0 ? loaded : { ...loaded, source: own.reduce(replaced, String(loaded.source)) }
    },
  })
}
