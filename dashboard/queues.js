import { age, element, many } from './dom.js'

/** @import { Overview, QueueBars, Bar } from '../src/insight/dashboard/overview.ts' */

/** The queues as bars. Each is a button: it shows who waits there. */
export class Queues extends HTMLElement {
  #list = element('ul', { class: 'cards' })
  #more = element('p', { class: 'more' })
  /** @type {Map<string, { readonly card: HTMLElement, text: string }>} */
  #cards = new Map()
  #chosen = ''

  connectedCallback() {
    this.replaceChildren(this.#list, this.#more)
  }

  /** @param {Overview} overview */
  show({ queues, moreQueues, isComplete }) {
    const names = new Set(queues.map(({ name }) => name))
    for (const [name, { card }] of this.#cards) {
      if (names.has(name)) continue
      card.remove()
      this.#cards.delete(name)
    }
    queues.forEach((queue, index) => {
      const card = this.#cardOf(queue)
      if (this.#list.children[index] !== card) this.#list.insertBefore(card, this.#list.children[index] ?? null)
    })
    const none = queues.length === 0 && isComplete ? 'There are no queues: nothing waits, and none is configured.' : ''
    this.#more.textContent = moreQueues > 0 ? `and ${many(moreQueues, 'queue')} more, without limits` : none
    this.#more.hidden = this.#more.textContent === ''
  }

  /** @param {string | undefined} name */
  choose(name) {
    this.#chosen = name ?? '\u0000'
    for (const [each, { card }] of this.#cards) {
      card.querySelector('button')?.setAttribute('aria-pressed', String(each === this.#chosen))
    }
  }

  /** @param {QueueBars} queue */
  #cardOf(queue) {
    const text = JSON.stringify(queue)
    const known = this.#cards.get(queue.name)
    if (known?.text === text) return known.card
    const card = known?.card ?? this.#newCard(queue.name)
    card.querySelector('.body')?.replaceWith(bodyOf(queue))
    this.#cards.set(queue.name, { card, text })
    return card
  }

  /** @param {string} name */
  #newCard(name) {
    const choose = () => this.dispatchEvent(new CustomEvent('choose', { detail: name, bubbles: true }))
    const button = element(
      'button',
      { type: 'button', 'aria-pressed': name === this.#chosen, onclick: choose },
      name || '(none)',
    )
    button.setAttribute('aria-pressed', String(name === this.#chosen))
    return element('li', { class: 'card' }, element('h3', {}, button), element('div', { class: 'body' }))
  }
}

/** @param {QueueBars} queue */
function bodyOf({ bars, unlimited, holding, waiting, aside, oldest }) {
  const counts = [
    `${holding.toLocaleString()} hold`,
    `${waiting.toLocaleString()} wait`,
    ...(aside > 0 ? [`${aside.toLocaleString()} set aside`] : []),
  ]
  const free = unlimited.length === 0 ? 'nothing in use, no limits' : `${unlimited.join(', ')}, no limits`
  return element(
    'div',
    { class: 'body' },
    element('p', { class: 'counts' }, counts.join(' · ')),
    bars.length > 0 && element('div', { class: 'bars' }, ...bars.map(barOf)),
    bars.length === 0 && element('p', { class: 'free' }, free),
    oldest !== '' &&
      element(
        'p',
        { class: 'oldest' },
        'longest wait ',
        element('time', { datetime: oldest, title: oldest }, age(oldest)),
      ),
  )
}

/** @param {Bar} bar */
function barOf({ resource, used, limit, share }) {
  const fill = element('span', { class: `fill ${share > 1 ? 'over' : share >= 0.9 ? 'full' : ''}` })
  fill.style.inlineSize = `${Math.min(share, 1) * 100}%`
  const label = `${used} of ${limit} ${resource} in use`
  const meter = { class: 'bar', role: 'meter', 'aria-valuemin': 0, 'aria-valuemax': 100 }
  return element(
    'div',
    { class: 'resource' },
    element('span', { class: 'name', title: resource }, resource),
    element(
      'span',
      {
        ...meter,
        'aria-valuenow': Math.round(Math.min(share, 1) * 100),
        'aria-valuetext': label,
        'aria-label': resource,
      },
      fill,
    ),
    element('span', { class: 'amount' }, element('b', {}, used), ` / ${limit}`),
  )
}
