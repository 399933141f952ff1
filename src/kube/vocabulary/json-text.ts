/** Longer texts are left to JSON.stringify, whose start is what costs. */
const SHORT = 128

/** A string as JSON writes it. Names and identifiers hardly ever hold anything that has to be escaped. */
export function quoted(text: string): string {
  if (text.length > SHORT) return JSON.stringify(text)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return JSON.stringify(text)
  }
  return `"${text}"`
}
