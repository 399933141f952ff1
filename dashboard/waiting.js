import { ageOf, badge, element, many, setText } from './dom.js'
import { Pages } from './pages.js'

/** @import { Overview } from '../src/insight/dashboard/overview.ts' */
/** @import { Placed } from '../src/insight/dashboard/waiting.ts' */

/** As in style.css. */
const ROW = 40
/** Rows above and below what is seen, so that a fast scroll shows something. */
const SPARE = 8
const HEADINGS = ['Place', 'Who', 'Queue', 'Why', 'For', 'Asks for']

/**
 * Who waits, and why. There may be ten thousand: only the rows that are seen are asked for, and only those are drawn.
 * One stop of the Tab key, and arrow keys within, as in a grid.
 */
export class Waiting extends HTMLElement {
  #search = element('input', {
    type: 'search',
    placeholder: 'name, namespace or queue',
    'aria-label': 'Filter by name',
    oninput: () => this.#filter(),
  })
  #order = element(
    'select',
    { 'aria-label': 'Order', onchange: () => this.#filter() },
    element('option', { value: 'queue' }, 'by place in the queue'),
    element('option', { value: 'age' }, 'longest wait first'),
  )
  #reasons = element('div', { class: 'reasons', role: 'group', 'aria-label': 'Filter by reason' })
  #queueFilter = element('button', { type: 'button', class: 'filter', onclick: () => this.chooseQueue(undefined) })
  #count = element('p', { class: 'count', role: 'status' })
  #sizer = element('div', { class: 'sizer', role: 'presentation' })
  #scroller = element('div', { class: 'scroller', role: 'rowgroup', onscroll: () => this.#draw() }, this.#sizer)
  #grid = element('div', {
    class: 'grid',
    role: 'grid',
    tabindex: 0,
    'aria-label': 'Who waits',
    'aria-colcount': HEADINGS.length,
    onkeydown: event => this.#key(/** @type {KeyboardEvent} */ (event)),
  })
  #empty = element('p', { class: 'empty' })
  /** @type {Map<number, { readonly row: HTMLElement, text: string }>} */
  #rows = new Map()
  #pages = new Pages(() => this.#draw())
  #active = 0
  #activeId = ''
  /** @type {string | undefined} */
  #queue
  /** @type {string | undefined} */
  #reason
  #revision = -1
  #isComplete = false

  connectedCallback() {
    const headings = HEADINGS.map(name => element('span', { role: 'columnheader' }, name))
    const head = element('div', { class: 'row head', role: 'row', 'aria-rowindex': 1 }, ...headings)
    this.#grid.replaceChildren(element('div', { role: 'rowgroup' }, head), this.#scroller)
    this.#queueFilter.hidden = true
    const filters = element('div', { class: 'filters' }, this.#search, this.#order, this.#queueFilter)
    this.replaceChildren(filters, this.#reasons, this.#count, this.#grid, this.#empty)
    new ResizeObserver(() => this.#draw()).observe(this.#scroller)
    this.#filter()
  }

  /** @param {Overview} overview */
  show({ reasons, revision, waiting, isComplete }) {
    this.#isComplete = isComplete
    this.#showReasons(reasons, waiting)
    if (revision === this.#revision) return
    this.#revision = revision
    this.#pages.refresh()
  }

  /** @param {string | undefined} name */
  chooseQueue(name) {
    this.#queue = name === this.#queue ? undefined : name
    this.#queueFilter.hidden = this.#queue === undefined
    this.#queueFilter.replaceChildren(
      'queue ',
      element('bdi', {}, this.#queue || '(none)'),
      element('span', { 'aria-hidden': 'true' }, ' ×'),
    )
    this.#queueFilter.setAttribute('aria-label', `Show all queues, not only ${this.#queue || '(none)'}`)
    this.#filter()
    this.dispatchEvent(new CustomEvent('queue', { detail: this.#queue }))
  }

  /** @override */
  focus() {
    this.#grid.focus()
  }

  /** @param {string | undefined} id of the unit whose story is open */
  mark(id) {
    this.dataset.open = id ?? ''
    this.#draw()
  }

  /**
   * @param {Overview['reasons']} reasons
   * @param {number} all
   */
  #showReasons(reasons, all) {
    const counts = [{ reason: '', count: all }, ...reasons]
    // A filter that fits nobody any more stays, or nobody could take it away.
    if (this.#reason && !reasons.some(({ reason }) => reason === this.#reason))
      counts.push({ reason: this.#reason, count: 0 })
    counts.forEach(({ reason, count }, index) => {
      const known = /** @type {HTMLButtonElement | undefined} */ (this.#reasons.children[index])
      const button =
        known ??
        element('button', {
          type: 'button',
          onclick: event => this.#chooseReason(/** @type {HTMLElement} */ (event.currentTarget)),
        })
      button.dataset.reason = reason
      button.setAttribute('aria-pressed', String((this.#reason ?? '') === reason))
      setText(button, `${reason || 'All'} ${count.toLocaleString()}`)
      if (known === undefined) this.#reasons.append(button)
    })
    while (this.#reasons.children.length > counts.length) this.#reasons.lastElementChild?.remove()
  }

  /** @param {HTMLElement} button */
  #chooseReason(button) {
    this.#reason = button.dataset.reason || undefined
    for (const each of this.#reasons.children) each.setAttribute('aria-pressed', String(each === button))
    this.#filter()
  }

  #filter() {
    const query = new URLSearchParams({ order: this.#order.value })
    if (this.#search.value !== '') query.set('text', this.#search.value)
    if (this.#queue !== undefined) query.set('queue', this.#queue)
    if (this.#reason !== undefined) query.set('reason', this.#reason)
    this.#active = 0
    this.#activeId = ''
    this.#scroller.scrollTop = 0
    this.#pages.ask(query)
  }

  #draw() {
    const { total } = this.#pages
    this.#sizer.style.blockSize = `${total * ROW}px`
    this.#grid.style.setProperty('--rows', String(total))
    this.#grid.setAttribute('aria-rowcount', String(total + 1))
    const first = Math.max(0, Math.floor(this.#scroller.scrollTop / ROW) - SPARE)
    const last = Math.min(total, Math.ceil((this.#scroller.scrollTop + this.#scroller.clientHeight) / ROW) + SPARE)
    this.#pages.want(first, last)
    this.#follow()
    for (const [index, { row }] of this.#rows) {
      if (index >= first && index < last) continue
      row.remove()
      this.#rows.delete(index)
    }
    for (let index = first; index < last; index++) this.#drawRow(index)
    this.#grid.setAttribute('aria-activedescendant', this.#rows.has(this.#active) ? `row-${this.#active}` : '')
    const none = this.#isComplete ? 'Nobody waits.' : 'The cluster is being read.'
    setText(
      this.#count,
      this.#pages.isKnown ? (total === 0 ? '' : `${many(total, 'workload')} or group${total === 1 ? '' : 's'}`) : '',
    )
    setText(this.#empty, this.#pages.isKnown && total === 0 ? none : '')
    this.#grid.hidden = this.#pages.isKnown && total === 0
  }

  /** Who is chosen moves in the list when others leave: the choice stays with him. */
  #follow() {
    if (this.#activeId !== '') this.#active = this.#pages.indexOf(this.#activeId) ?? this.#active
    this.#active = Math.max(0, Math.min(this.#active, this.#pages.total - 1))
  }

  /** @param {number} index */
  #drawRow(index) {
    const waiter = this.#pages.at(index)
    const isActive = index === this.#active
    const isOpen = waiter !== undefined && waiter.id === this.dataset.open
    const text = JSON.stringify([waiter ?? null, isActive, isOpen])
    const known = this.#rows.get(index)
    if (known?.text === text) return
    const row = rowOf(index, waiter, isActive, isOpen)
    row.addEventListener('click', () => this.#open(index))
    if (known === undefined) this.#sizer.append(row)
    else known.row.replaceWith(row)
    this.#rows.set(index, { row, text })
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const page = Math.max(1, Math.floor(this.#scroller.clientHeight / ROW) - 1)
    /** @type {Readonly<Record<string, number>>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }
    if (event.key === 'Enter' || event.key === ' ') this.#open(this.#active)
    else if (steps[event.key] === undefined) return
    else this.#move(this.#active + (steps[event.key] ?? 0))
    event.preventDefault()
  }

  /** @param {number} index */
  #move(index) {
    this.#active = Math.max(0, Math.min(index, this.#pages.total - 1))
    this.#activeId = this.#pages.at(this.#active)?.id ?? ''
    const top = this.#active * ROW
    const { scrollTop, clientHeight } = this.#scroller
    if (top < scrollTop) this.#scroller.scrollTop = top
    else if (top + ROW > scrollTop + clientHeight) this.#scroller.scrollTop = top + ROW - clientHeight
    this.#draw()
  }

  /** @param {number} index */
  #open(index) {
    const waiter = this.#pages.at(index)
    if (waiter === undefined) return
    this.#active = index
    this.#activeId = waiter.id
    this.#draw()
    this.dispatchEvent(new CustomEvent('tell', { detail: waiter.id, bubbles: true }))
  }
}

/**
 * @param {number} index
 * @param {Placed | undefined} waiter
 * @param {boolean} isActive
 * @param {boolean} isOpen
 */
function rowOf(index, waiter, isActive, isOpen) {
  const look = `row${isActive ? ' active' : ''}${isOpen ? ' open' : ''}${waiter === undefined ? ' unread' : ''}`
  const row = element('div', {
    class: look,
    role: 'row',
    id: `row-${index}`,
    'aria-rowindex': index + 2,
    'aria-selected': isActive,
  })
  row.style.transform = `translateY(${index * ROW}px)`
  row.setAttribute('aria-selected', String(isActive))
  const cell = (/** @type {string} */ kind, /** @type {readonly (Node | string)[]} */ ...children) =>
    element('span', { role: 'gridcell', class: kind }, ...children)
  if (waiter === undefined) {
    row.append(cell('who', '…'))
    return row
  }
  const { subject, queue, reason, since, asks, place, message } = waiter
  row.title = message
  row.append(
    cell('place', place === undefined ? '–' : String(place)),
    cell(
      'who',
      element('span', { class: 'kind' }, subject.kind),
      element('bdi', {}, `${subject.namespace}/${subject.name}`),
    ),
    cell('queue', element('bdi', {}, queue || '(none)')),
    cell('why', badge(reason)),
    cell('for', ageOf(since)),
    cell('asks', element('bdi', {}, asks)),
  )
  return row
}
