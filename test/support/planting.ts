/** One piece of source text that becomes another. */
export interface Replacement {
  readonly name: string
  /** Below the root of the repository. */
  readonly file: string
  /** Occurs exactly once: what no longer fits the code fails its test and has to be looked at. */
  readonly find: string
  readonly replace: string
}

/** A bug, planted in the source by one replacement, or two in the same file. */
export interface PlantedBug extends Replacement {
  /** Where the bug comes from: the field, or what somebody could forget. */
  readonly from: string
  readonly and?: { readonly find: string; readonly replace: string }
}

export const replacementsOf = (bug: PlantedBug): readonly Replacement[] =>
  bug.and === undefined ? [bug] : [bug, { ...bug, ...bug.and }]

export function replaced(text: string, { name, file, find, replace }: Replacement): string {
  if (text.split(find).length === 2) return text.replace(find, () => replace)
  throw new Error(`"${name}": ${file} does not have its text exactly once: ${find}`)
}
