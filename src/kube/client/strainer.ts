import { ProtocolError } from '../vocabulary/api.ts'
import { type Outline, outlineOf } from '../vocabulary/outline.ts'
import { GrowingBuffer } from './growing-buffer.ts'
import { TextEnd } from './text-end.ts'

/** What one field of an object may hold before it is left out: a list or an object, and a text, which costs less to read. */
const MAX_FIELD_BYTES = 32 * 1024
const MAX_TEXT_BYTES = 96 * 1024
/** No key that anybody reads is longer. */
const MAX_KEY_BYTES = 512

const [QUOTE, COMMA, COLON, SPACE] = [0x22, 0x2c, 0x3a, 0x20]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** An object or list of which a part is kept, and whose end has not come yet. */
interface Frame {
  readonly kind: 'object' | 'list'
  readonly outline: Outline
  /** The field that it is. */
  readonly key: string
  /** How many of its fields or items are in the output. */
  kept: number
}

/** A field that is being kept, and may turn out to be too large. */
interface Scope {
  readonly path: string
  readonly frames: number
  /** Where the output goes back to if it does. */
  readonly mark: number
  readonly budget: number
}

/** Where in the text we are. `raw`: in a value that is copied, or skipped, as it is. */
type State = 'value' | 'key' | 'key text' | 'colon' | 'after' | 'raw' | 'done'

/**
 * Lets of a JSON text only what somebody reads through, while it arrives: a pod of which a tenant has made nine
 * megabytes is never held, and no chunk of it costs more than its length. Of each object a field that is too large even
 * so is left out, and `omitted` of the object names it.
 */
export class Strainer {
  readonly #object: Outline
  readonly #text = new TextEnd()
  readonly #frames: Frame[] = []
  readonly #out = new GrowingBuffer()
  #state: State = 'value'
  #key = ''
  #keyParts: Buffer[] = []
  #next: Outline | undefined
  #scope: Scope | undefined
  #omitted: string[] = []
  #skipping = false
  #depth = 0

  /** `object` is the part of `outline` that says what is read of one object. */
  constructor(outline: Outline, object: Outline) {
    this.#object = object
    this.#next = outline
  }

  /** How much has been let through. */
  get length(): number {
    return this.#out.length
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      at = this.#step(chunk, at)
      if (this.#scope !== undefined && this.#out.length - this.#scope.mark > this.#scope.budget) this.#omit(this.#scope)
    }
  }

  finish(): Buffer {
    if (this.#state === 'raw' && this.#frames.length === 0) this.#valueEnds()
    if (this.#state !== 'done') throw new ProtocolError('the JSON ends in the middle of a value')
    return this.#out.bytes
  }

  /** Takes one byte or more; returns where the next step begins. */
  #step(chunk: Buffer, at: number): number {
    if (this.#state === 'raw') return this.#raw(chunk, at)
    if (this.#state === 'key text') return this.#keyText(chunk, at)
    const byte = chunk[at] ?? SPACE
    if (byte <= SPACE) return at + 1
    if (this.#state === 'value') return this.#value(byte, at)
    const frame = this.#frames.at(-1)
    if (frame === undefined) throw unexpected(byte)
    if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#close(frame)
    else if (this.#state === 'key' && byte === QUOTE) this.#beginKey()
    else if (this.#state === 'colon' && byte === COLON) this.#state = 'value'
    else if (this.#state === 'after' && byte === COMMA) this.#expectNext(frame)
    else throw unexpected(byte)
    return at + 1
  }

  #expectNext(frame: Frame): void {
    this.#state = frame.kind === 'object' ? 'key' : 'value'
    this.#next = frame.outline
  }

  #value(byte: number, at: number): number {
    const frame = this.#frames.at(-1)
    if (byte === CLOSE_LIST && frame?.kind === 'list') {
      this.#close(frame)
      return at + 1
    }
    const outline = this.#next
    if (outline === undefined) return this.#beginRaw(at, true)
    const inside = outline !== true
    if (!(inside && byte === OPEN_OBJECT)) this.#openScope(byte)
    this.#begin(frame)
    if (inside && (byte === OPEN_OBJECT || byte === OPEN_LIST)) {
      const kind = byte === OPEN_OBJECT ? 'object' : 'list'
      const opened: Frame = { kind, outline, key: this.#key, kept: 0 }
      this.#frames.push(opened)
      this.#write(kind === 'object' ? '{' : '[')
      this.#expectNext(opened)
      return at + 1
    }
    return this.#beginRaw(at, false)
  }

  /** Within an object what is kept has bounds; around it (a list of objects, an event) the caller has. */
  #openScope(byte: number): void {
    if (this.#scope !== undefined) return
    const root = this.#frames.findLastIndex(({ outline }) => outline === this.#object)
    if (root < 0) return
    const keys = [...this.#frames.slice(root + 1).map(({ key }) => key), this.#key]
    const budget = byte === QUOTE ? MAX_TEXT_BYTES : MAX_FIELD_BYTES
    this.#scope = { path: keys.join('.'), frames: this.#frames.length, mark: this.#out.length, budget }
  }

  #begin(frame: Frame | undefined): void {
    if (frame === undefined) return
    if (frame.kept > 0) this.#write(',')
    if (frame.kind === 'object') this.#write(`${JSON.stringify(this.#key)}:`)
  }

  #beginRaw(at: number, skipping: boolean): number {
    this.#state = 'raw'
    this.#skipping = skipping
    this.#depth = 0
    return at
  }

  #raw(chunk: Buffer, from: number): number {
    let at = from
    while (at < chunk.length) {
      if (this.#text.open) {
        at = this.#text.find(chunk, at)
        if (!this.#text.open && this.#depth === 0) return this.#endRaw(chunk, from, at)
        continue
      }
      const byte = chunk[at]
      if (byte === QUOTE) this.#text.begin()
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#depth++
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        if (this.#depth === 0) return this.#endRaw(chunk, from, at)
        if (--this.#depth === 0) return this.#endRaw(chunk, from, at + 1)
      } else if (this.#depth === 0 && (byte === COMMA || (byte ?? 0) <= SPACE)) return this.#endRaw(chunk, from, at)
      at++
    }
    this.#copy(chunk.subarray(from, at))
    return at
  }

  #endRaw(chunk: Buffer, from: number, to: number): number {
    this.#copy(chunk.subarray(from, to))
    this.#valueEnds()
    return to
  }

  #valueEnds(): void {
    const frame = this.#frames.at(-1)
    if (frame !== undefined && !this.#skipping) frame.kept++
    // What has just become too large is left out by whoever looks next: its scope stays open for that.
    if (this.#scope?.frames === this.#frames.length && this.#out.length - this.#scope.mark <= this.#scope.budget) {
      this.#scope = undefined
    }
    this.#skipping = false
    this.#state = frame === undefined ? 'done' : 'after'
  }

  #close(frame: Frame): void {
    if (frame.outline === this.#object && frame.kind === 'object' && this.#omitted.length > 0) {
      if (frame.kept > 0) this.#write(',')
      this.#write(`"omitted":${JSON.stringify(this.#omitted)}`)
      this.#omitted = []
    }
    this.#write(frame.kind === 'object' ? '}' : ']')
    this.#frames.pop()
    this.#valueEnds()
  }

  #beginKey(): void {
    this.#text.begin()
    this.#state = 'key text'
  }

  #keyText(chunk: Buffer, from: number): number {
    const end = this.#text.find(chunk, from)
    const whole = !this.#text.open && this.#keyParts.length === 0
    // Labels are a tenant's, and many: nearly all keys lie in one chunk, and cost no more than they must.
    if (!whole) this.#keepPart(chunk.subarray(from, end))
    if (this.#text.open) return end
    this.#key = keyOf(whole ? chunk.subarray(from, end) : Buffer.concat(this.#keyParts))
    this.#keyParts = []
    this.#next = outlineOf(this.#next ?? true, this.#key)
    this.#state = 'colon'
    return end
  }

  #keepPart(bytes: Buffer): void {
    const size = this.#keyParts.reduce((sum, part) => sum + part.length, 0)
    if (size <= MAX_KEY_BYTES) this.#keyParts.push(Buffer.from(bytes.subarray(0, MAX_KEY_BYTES + 1)))
  }

  /** Goes back to before the field, and skips what is still to come of it. */
  #omit({ path, frames, mark }: Scope): void {
    this.#omitted.push(path)
    this.#out.cut(mark)
    this.#scope = undefined
    const open = this.#frames.length - frames
    const complete = this.#state === 'after' && open === 0
    this.#frames.length = frames
    const frame = this.#frames.at(-1)
    if (complete) {
      if (frame !== undefined) frame.kept--
      return
    }
    this.#depth = open + (this.#state === 'raw' ? this.#depth : 0)
    this.#keyParts = []
    this.#state = 'raw'
    this.#skipping = true
  }

  #copy(bytes: Buffer): void {
    if (!this.#skipping) this.#out.append(bytes)
  }

  #write(text: string): void {
    this.#out.append(Buffer.from(text))
  }
}

/** The key with its closing quote, as it is written. */
function keyOf(bytes: Buffer): string {
  if (bytes.length > MAX_KEY_BYTES) return ''
  const written = bytes.toString('utf8', 0, bytes.length - 1)
  if (!written.includes('\\')) return written
  try {
    return JSON.parse(`"${written}"`)
  } catch {
    throw new ProtocolError('a key of the JSON cannot be read')
  }
}

function unexpected(byte: number): ProtocolError {
  return new ProtocolError(`the JSON has ${JSON.stringify(String.fromCharCode(byte))} in a place where it cannot be`)
}
