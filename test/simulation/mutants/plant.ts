import { registerHooks } from 'node:module'

/** One piece of source text that becomes another. */
export interface Replacement {
  readonly name: string
  /** Below the root of the repository. */
  readonly file: string
  readonly find: string
  readonly replace: string
}

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

function replaced(text: string, { name, file, find, replace }: Replacement): string {
  if (text.split(find).length === 2) return text.replace(find, () => replace)
  throw new Error(`"${name}": ${file} does not have its text exactly once: ${find}`)
}
