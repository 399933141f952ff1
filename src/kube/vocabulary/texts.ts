/**
 * How long a text may be that the API server takes. What people write ends up in what we tell them, and a text that is
 * too long would be refused whenever it is sent: nothing that follows from it would ever be written down.
 */
export const MAX_EVENT_NOTE = 1024
export const MAX_CONDITION_MESSAGE = 32_768

/** The API server counts bytes; a cut inside a character would leave half of it. */
export function cutToBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  let end = limit - 3
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return `${bytes.toString('utf8', 0, end)}...`
}
