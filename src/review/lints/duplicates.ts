import { nameOf } from '../results.ts'
import type { Subject } from '../subjects.ts'
import type { Found } from './catalog.ts'
import { Fingerprints } from './fingerprints.ts'
import { isNamespaced } from './kinds.ts'

/** A place as one number, so that half a million of them have room. */
const MAX_LINES = 2 ** 32

/**
 * Names that are there twice. The survey tells which may be; the review, which comes by in the same order, keeps the
 * places of those only, and tells of each that is there again.
 */
export class Duplicates {
  readonly #namespace: string
  readonly #names = new Fingerprints()
  readonly #first = new Map<string, number>()
  readonly #files: string[] = []

  /** `namespace`: of objects that name none. */
  constructor(namespace: string) {
    this.#namespace = namespace
  }

  /** Whether it is another object than all before it. */
  note(request: Subject['request']): boolean {
    const id = this.#idOf(request)
    return id === undefined || this.#names.add(id)
  }

  find({ source, request }: Pick<Subject, 'source' | 'request'>): readonly Found[] {
    const id = this.#idOf(request)
    if (id === undefined || !this.#names.mayRepeat(id)) return []
    const { file, line } = source
    const earlier = this.#first.get(id)
    if (earlier === undefined) {
      if (this.#files.at(-1) !== file) this.#files.push(file)
      this.#first.set(id, (this.#files.length - 1) * MAX_LINES + line)
      return []
    }
    const other = this.#files[Math.floor(earlier / MAX_LINES)]
    const what = `${request.kind.kind} "${nameOf(request)}"`
    const message = `${what} is also at ${other}:${earlier % MAX_LINES}: the later one would replace it`
    // A base and its overlays have the same names in different files, and nobody applies both.
    const severity = other === file ? 'error' : 'warning'
    return [{ code: 'DuplicateName', severity, message, field: 'metadata.name' }]
  }

  #idOf(request: Subject['request']): string | undefined {
    const { kind } = request
    const name = nameOf(request)
    if (name === '' || name.endsWith('*')) return undefined
    const namespace = request.namespace || (isNamespaced(kind.group, kind.kind) ? this.#namespace : '')
    return `${kind.group}\n${kind.kind}\n${namespace}\n${name}`
  }
}
