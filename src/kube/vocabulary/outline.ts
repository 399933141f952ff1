import { assign, isObject } from './fields.ts'

/** Which fields of an object somebody reads: `true` is all of a field, and a list has the outline of its items. */
export type Outline = true | { readonly [field: string]: Outline }

/** The outline that has these fields, and all of each. */
export function fields(...names: readonly string[]): { readonly [field: string]: true } {
  return Object.fromEntries(names.map(name => [name, true]))
}

/** What of a value lies within the outline. */
export function outlined(value: unknown, outline: Outline): unknown {
  if (outline === true) return value
  if (Array.isArray(value)) return value.map(item => outlined(item, outline))
  if (!isObject(value)) return value
  const kept: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const inner = outlineOf(outline, key)
    if (inner !== undefined) assign(kept, key, outlined(value[key], inner))
  }
  return kept
}

export function outlineOf(outline: Outline, key: string): Outline | undefined {
  return outline !== true && Object.hasOwn(outline, key) ? outline[key] : undefined
}
