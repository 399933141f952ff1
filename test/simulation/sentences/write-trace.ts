import type { ApiError } from '../../../src/kube/vocabulary/api.ts'
import { EVENTS, NAMESPACES } from '../../../src/kube/vocabulary/resources.ts'
import type { ModelServer } from '../model/server.ts'
import type { Request } from '../network/wire.ts'
import type { Chronicle } from '../runs/timeline.ts'

/** Everything that is asked for and everything that changes, to the last field, without the sentences in it. */
export class WriteTrace implements Chronicle {
  readonly #now: () => number
  readonly #lines: string[] = []

  constructor(now: () => number) {
    this.#now = now
  }

  /** Whoever logs something says it in words; that there is something to log is none. */
  add(who: string): void {
    this.#write(`${who} says something`)
  }

  request(who: string, { verb, resource, namespace, name, subresource, body }: Request, error?: ApiError): void {
    const what = `${verb} ${resource.plural}/${subresource ?? ''} ${namespace}/${resource === EVENTS ? '' : name}`
    const outcome = error && { status: error.status, reason: error.reason, causes: error.causes }
    this.#write(`${who} ${what} ${speechless(body)} -> ${speechless(outcome ?? 'ok')}`)
  }

  follow(server: ModelServer): void {
    server.subscribe(({ resource, type, after, who }) => {
      // Those of the setting are made before time begins.
      if (resource === NAMESPACES) return
      this.#write(`${who} ${type} ${resource.plural} ${speechless(after)}`)
    })
  }

  toString(): string {
    return this.#lines.join('\n')
  }

  #write(text: string): void {
    this.#lines.push(`${this.#now()} ${text}`)
  }
}

const SENTENCES: ReadonlySet<string> = new Set(['message', 'note'])

/** The name of an Event goes too: it is a hash, and the note is part of what is hashed. */
function speechless(value: unknown): string {
  return JSON.stringify(value, (key, item: unknown) => {
    if (SENTENCES.has(key) && typeof item === 'string') return ''
    const isEvent = typeof item === 'object' && item !== null && 'regarding' in item && 'metadata' in item
    return isEvent ? { ...item, metadata: { ...(item.metadata as object), name: '' } } : item
  })
}
