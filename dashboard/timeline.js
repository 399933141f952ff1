import { clock, drawing, duration, element, MINUTES, many } from './dom.js'

/** @import { Overview } from '../src/insight/dashboard/overview.ts' */
/** @import { Admission, Minute } from '../src/insight/dashboard/admissions.ts' */

const MINUTE = 60_000
/** Name, how far back, and how much one bar is. */
const SPANS = /** @type {const} */ ([
  ['15 min', 15 * MINUTE, MINUTE],
  ['1 h', 60 * MINUTE, 2 * MINUTE],
  ['3 h', 180 * MINUTE, 5 * MINUTE],
])
const [WIDTH, HEIGHT, FOOT] = [600, 120, 18]

/** Who was admitted when: a bar for each few minutes, and the latest by name. */
export class Timeline extends HTMLElement {
  #span = 1
  #figure = element('figure', {})
  #list = element('ol', { class: 'latest', 'aria-label': 'Latest admissions' })
  /** @type {Overview | undefined} */
  #overview
  #drawn = ''

  connectedCallback() {
    const choices = SPANS.map(([name], index) =>
      element('button', { type: 'button', 'aria-pressed': 'false', onclick: () => this.#choose(index) }, name),
    )
    this.replaceChildren(
      element('div', { class: 'switch', role: 'group', 'aria-label': 'How far back' }, ...choices),
      this.#figure,
      this.#list,
    )
    this.#choose(this.#span)
  }

  /** @param {Overview} overview */
  show(overview) {
    this.#overview = overview
    this.draw()
    const shown = JSON.stringify(overview.latest)
    if (this.#list.dataset.shown === shown) return
    this.#list.dataset.shown = shown
    const focused = this.#list.contains(document.activeElement) ? document.activeElement?.getAttribute('data-id') : null
    this.#list.replaceChildren(...overview.latest.map(admission => this.#line(admission)))
    if (focused !== null)
      for (const button of this.#list.querySelectorAll('button')) if (button.dataset.id === focused) button.focus()
  }

  /** Time goes on without any admission. */
  draw() {
    if (this.#overview === undefined) return
    const [name, back, step] = SPANS[this.#span] ?? SPANS[1]
    const end = Math.ceil(Date.now() / step) * step
    const bars = barsOf(this.#overview.minutes, end - back, end, step)
    const key = JSON.stringify([end, bars])
    if (key === this.#drawn) return
    this.#drawn = key
    const all = bars.reduce((sum, count) => sum + count, 0)
    const most = Math.max(...bars)
    const per = step === MINUTE ? 'a minute' : `${step / MINUTE} minutes`
    const label = `${many(all, 'admission')} in the last ${name}, at most ${most} in ${per}`
    this.#figure.replaceChildren(chart(bars, end - back, end, label), element('figcaption', {}, label))
  }

  /** @param {number} index */
  #choose(index) {
    this.#span = index
    this.querySelectorAll('.switch button').forEach((button, at) => {
      button.setAttribute('aria-pressed', String(at === index))
    })
    this.draw()
  }

  /** @param {Admission} admission */
  #line({ id, unit, at, queue, namespace, name, pods, waited, now }) {
    const tell = () => this.dispatchEvent(new CustomEvent('tell', { detail: unit, bubbles: true }))
    return element(
      'li',
      { class: now },
      element('time', { datetime: at, 'data-clock': true, title: at }, clock(at)),
      element(
        'button',
        { type: 'button', class: 'link', 'data-id': id, title: `${namespace}/${name}`, onclick: tell },
        `${namespace}/${name}`,
      ),
      element('span', { class: 'queue' }, queue),
      element('span', { class: 'facts' }, `${many(pods, 'pod')}, waited ${duration(waited)}`),
      element('span', { class: `now ${now}` }, now),
    )
  }
}

/**
 * @param {readonly Minute[]} minutes
 * @param {number} start
 * @param {number} end
 * @param {number} step
 */
function barsOf(minutes, start, end, step) {
  const bars = Array.from({ length: Math.round((end - start) / step) }, () => 0)
  for (const { at, count } of minutes) {
    const index = Math.floor((Date.parse(at) - start) / step)
    if (index >= 0 && index < bars.length) bars[index] = (bars[index] ?? 0) + count
  }
  return bars
}

/**
 * @param {readonly number[]} bars
 * @param {number} start
 * @param {number} end
 * @param {string} label
 */
function chart(bars, start, end, label) {
  const room = HEIGHT - FOOT
  const most = Math.max(1, ...bars)
  const wide = WIDTH / bars.length
  const marks = [0, 0.25, 0.5, 0.75, 1].map(part => {
    const at = new Date(start + (end - start) * part).toLocaleTimeString([], MINUTES)
    const anchor = part === 0 ? 'start' : part === 1 ? 'end' : 'middle'
    return drawing('text', { x: WIDTH * part, y: HEIGHT - 4, 'text-anchor': anchor }, at)
  })
  return drawing(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label },
    drawing('line', { x1: 0, x2: WIDTH, y1: room + 0.5, y2: room + 0.5 }),
    ...bars.map((count, index) => {
      const high = count === 0 ? 0 : Math.max(3, (count / most) * (room - 8))
      const place = { x: index * wide + wide * 0.12, y: room - high, width: wide * 0.76, height: high, rx: 2 }
      return drawing('rect', place, drawing('title', {}, `${count} admitted`))
    }),
    ...marks,
  )
}
