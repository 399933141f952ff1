/** An object of which nothing is known yet: it came from a file or from the network. */
export type Fields = Readonly<Record<string, unknown>>

/** A list is none. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Plain assignment to `__proto__` would swap the prototype instead of storing a value. */
export function assign(map: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true })
  } else map[key] = value
}
