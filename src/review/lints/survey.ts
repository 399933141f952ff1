import type { Configuration } from '../../config/configuration.ts'
import { isObject } from '../../kube/vocabulary/fields.ts'
import { nameOf } from '../results.ts'
import type { Subject } from '../subjects.ts'
import { pathText, podTemplatesIn } from '../templates.ts'
import type { Found } from './catalog.ts'
import { Duplicates } from './duplicates.ts'
import { Grouped } from './grouped.ts'
import { madeLater } from './pods-later.ts'
import { podsMadeOf } from './pods-made.ts'

/** Which object of the inputs, counted from 0, and which of its templates. */
const keyOf = (index: number, path = ''): string => `${index} ${path}`

/**
 * What only shows when all objects are known. It goes over the inputs once, before they are reviewed, and keeps of each
 * object no more than that its name was there and, of the members of groups, what decides about a group.
 */
export class Survey {
  readonly #config: Configuration
  readonly #duplicates: Duplicates
  readonly #groups: Grouped
  readonly #own = new Map<number, readonly Found[]>()
  #index = 0

  /** `namespace`: of objects that name none. */
  constructor(config: Configuration, namespace: string) {
    this.#config = config
    this.#duplicates = new Duplicates(namespace)
    this.#groups = new Grouped(config)
  }

  /** In the order of the inputs: the review will ask by the same counting. `own`: what was found by others so far. */
  add({ request, isReview }: Subject, own: readonly Found[] = []): void {
    const index = this.#index++
    if (own.length > 0) this.#own.set(index, own)
    const { object, operation, kind } = request
    if (isReview || operation !== 'CREATE' || !isObject(object)) return
    // What is there twice, as in a base and its overlay, will be there once.
    if (!this.#duplicates.note(request)) return
    const namespace = request.namespace ?? ''
    const name = nameOf(request)
    if (kind.kind === 'Pod' && kind.group === '') {
      this.#groups.join({ given: object, namespace, key: keyOf(index), count: 1, name })
    }
    for (const { steps, template } of podTemplatesIn(object, kind, this.#config)) {
      const count = podsMadeOf(object, kind, steps)
      const key = keyOf(index, pathText(steps))
      const later = madeLater(object, kind, steps)
      this.#groups.join({ given: template, namespace, key, count, name: `${name}-*`, ...(later && { later }) })
    }
  }

  /** When all objects are known. */
  finish(): void {
    this.#groups.close()
  }

  /** What there is to say of an object or of what it makes, once, when the review comes by. */
  find(subject: Subject, index: number): readonly Found[] {
    const { source, isReview, request } = subject
    if (isReview || request.operation !== 'CREATE') return []
    const own = source.path === undefined ? [...(this.#own.get(index) ?? []), ...this.#duplicates.find(subject)] : []
    return [...own, ...this.#groups.find(keyOf(index, source.path))]
  }
}
