import { applied } from './changes.js'

/** @import { Overview } from '../src/insight/dashboard/overview.ts' */

/**
 * Follows the cluster by server-sent events. A connection that breaks is taken up again where it was; a page that
 * nobody looks at does not follow at all, and catches up when somebody does.
 */
export class Follower extends EventTarget {
  /** @type {Overview | undefined} */
  overview
  /** @type {'connecting' | 'live' | 'lost'} */
  state = 'connecting'
  /** @type {EventSource | undefined} */
  #source
  #last = ''

  start() {
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#rest() : this.#open()))
    this.#open()
  }

  #open() {
    if (this.#source !== undefined && this.#source.readyState !== EventSource.CLOSED) return
    const source = new EventSource(`/follow?last=${encodeURIComponent(this.#last)}`)
    this.#source = source
    source.addEventListener('open', () => this.#become('live'))
    source.addEventListener('whole', event => this.#take(event, () => JSON.parse(event.data)))
    source.addEventListener('change', event => {
      const before = this.overview
      if (before !== undefined) this.#take(event, () => applied(before, JSON.parse(event.data)))
    })
    source.addEventListener('error', () => {
      this.#become('lost')
      // A browser tries again by itself, with where it was when it first connected: here it goes on where it is.
      source.close()
      setTimeout(() => document.hidden || this.#open(), 1000)
    })
  }

  #rest() {
    this.#source?.close()
    this.#source = undefined
  }

  /**
   * @param {MessageEvent} event
   * @param {() => Overview} next
   */
  #take(event, next) {
    this.#last = event.lastEventId
    this.overview = next()
    this.#become('live')
    this.dispatchEvent(new Event('overview'))
  }

  /** @param {'connecting' | 'live' | 'lost'} state */
  #become(state) {
    if (this.state === state) return
    this.state = state
    this.dispatchEvent(new Event('state'))
  }
}
