import { element, many, setText } from './dom.js'

/** @import { Overview } from '../src/insight/dashboard/overview.ts' */

/** Which cluster this is, and whether what is shown is what is there. */
export class Status extends HTMLElement {
  #cluster = element('span', { class: 'cluster' })
  #state = element('span', { class: 'state', role: 'status' })

  connectedCallback() {
    this.replaceChildren(this.#cluster, this.#state)
  }

  /**
   * @param {'connecting' | 'live' | 'lost'} state
   * @param {Overview | undefined} overview
   */
  show(state, overview) {
    const where = overview?.namespace ? `, namespace ${overview.namespace} only` : ''
    setText(this.#cluster, overview === undefined ? '' : `${overview.cluster} · engine ${overview.engine}${where}`)
    const word = wordFor(state, overview)
    this.#state.dataset.state = word
    setText(this.#state, TEXTS[word] ?? '')
  }
}

/** @type {Readonly<Record<string, string>>} */
const TEXTS = {
  connecting: 'Connecting',
  reading: 'Reading the cluster',
  live: 'Live',
  lost: 'Connection lost: muster dashboard has ended, or is away',
  stale: 'The cluster does not answer',
}

/**
 * @param {string} state
 * @param {Overview | undefined} overview
 */
function wordFor(state, overview) {
  if (state !== 'live' || overview === undefined) return state === 'live' ? 'connecting' : state
  if (overview.trouble !== '') return 'stale'
  return overview.isComplete ? 'live' : 'reading'
}

/** What is not shown, and why: a page that hides that it is not whole would lie. */
export class Notes extends HTMLElement {
  /** @param {Overview} overview */
  show({ trouble, unseen }) {
    const key = JSON.stringify([trouble, unseen])
    if (this.dataset.shown === key) return
    this.dataset.shown = key
    const list = element('ul', {}, ...unseen.map(what => element('li', {}, what)))
    const title = `${many(unseen.length, 'thing')} that you may not read`
    this.replaceChildren(
      ...(trouble === ''
        ? []
        : [element('p', { class: 'note bad', role: 'alert' }, `What you see is older: ${trouble}`)]),
      ...(unseen.length === 0 ? [] : [element('details', { class: 'note' }, element('summary', {}, title), list)]),
    )
  }
}

/** Light, dark, or as the system has it. */
export class Theme extends HTMLElement {
  connectedCallback() {
    const choices = ['system', 'light', 'dark'].map(name =>
      element('button', { type: 'button', 'data-choice': name, onclick: () => this.#choose(name) }, name),
    )
    this.replaceChildren(element('div', { class: 'switch', role: 'group', 'aria-label': 'Colours' }, ...choices))
    this.#mark(document.documentElement.dataset.theme ?? 'system')
  }

  /** @param {string} name */
  #choose(name) {
    if (name === 'system') {
      localStorage.removeItem('muster-theme')
      delete document.documentElement.dataset.theme
    } else {
      localStorage.setItem('muster-theme', name)
      document.documentElement.dataset.theme = name
    }
    this.#mark(name)
  }

  /** @param {string} name */
  #mark(name) {
    for (const button of this.querySelectorAll('button')) {
      button.setAttribute('aria-pressed', String(button.dataset.choice === name))
    }
  }
}
