import { enableCompileCache, registerHooks } from 'node:module'
import { type Replacement, replaced } from '../../support/planting.ts'

/** Replaces source text as it is loaded: the simulator runs the very code that ships, but for this. */
export function plant(replacements: readonly Replacement[]): void {
  // A thread compiles the whole simulator for itself, which takes longer than ten runs of it. What is kept is found by
  // the text that was compiled, so nobody ever gets the code of another bug.
  enableCompileCache()
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      const own = replacements.filter(({ file }) => url.endsWith(`/${file}`))
      return own.length === 0 ? loaded : { ...loaded, source: own.reduce(replaced, String(loaded.source)) }
    },
  })
}
