/**
 * Elements are made here and nowhere else. Whatever comes from the cluster becomes text or the value of an attribute,
 * never markup: the browser is told to refuse the rest.
 */

/** @typedef {Node | string | false | undefined} Child */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Readonly<Record<string, string | number | boolean | ((event: Event) => void)>>} [attributes] what begins with `on` listens
 * @param {readonly Child[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name.slice(2), value)
    else if (value !== false) made.setAttribute(name, value === true ? '' : String(value))
  }
  made.append(...present(children))
  return made
}

/**
 * @param {string} tag
 * @param {Readonly<Record<string, string | number>>} attributes
 * @param {readonly Child[]} children
 */
export function drawing(tag, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value))
  made.append(...present(children))
  return made
}

/** @param {readonly Child[]} children */
const present = children => children.filter(child => child !== false && child !== undefined)

/**
 * Sets a text only where it is another: what does not change is not read out again.
 * @param {Element} at
 * @param {string} text
 */
export function setText(at, text) {
  if (at.textContent !== text) at.textContent = text
}

/** @type {readonly (readonly [string, number])[]} */
const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
]

/**
 * As `muster queues` and kubectl write ages: the two largest units, and only one where the second says little.
 * @param {number} seconds
 */
export function duration(seconds) {
  let left = Math.max(0, Math.floor(seconds))
  /** @type {string[]} */
  const parts = []
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
    if (parts.length > 0 && (count >= 10 || parts.length === 2)) break
  }
  return parts.slice(0, 2).join('') || '0s'
}

/**
 * @param {string | undefined} since
 * @param {number} now
 */
export function age(since, now = Date.now()) {
  const then = Date.parse(since ?? '')
  return Number.isNaN(then) ? '?' : duration((now - then) / 1000)
}

/**
 * A time that grows by itself.
 * @param {string | undefined} since
 */
export function ageOf(since) {
  return element('time', since ? { datetime: since, title: since } : {}, age(since))
}

/** All ages on the page, once a second: whoever draws one need not think of it again. */
export function growOlder() {
  const now = Date.now()
  for (const time of document.querySelectorAll('time[datetime]:not([data-clock])')) {
    setText(time, age(time.getAttribute('datetime') ?? undefined, now))
  }
}

/** @param {string} at */
export const clock = at => new Date(at).toLocaleTimeString([], { ...MINUTES, second: '2-digit' })

/** Hours and minutes, as a clock on the wall has them. @type {Intl.DateTimeFormatOptions} */
export const MINUTES = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }

/**
 * @param {number} count
 * @param {string} one
 */
export const many = (count, one) => `${count.toLocaleString()} ${one}${count === 1 ? '' : 's'}`

/** @type {Readonly<Record<string, string>>} */
const TONES = {
  InvalidGroup: 'bad',
  LiftBlocked: 'bad',
  ExcessPod: 'bad',
  Evicted: 'bad',
  Lifting: 'good',
  Finished: 'good',
  WaitingForAdmission: 'calm',
}

/**
 * A reason, one of Muster's closed list. Its colour says nothing that the word does not.
 * @param {string} reason
 */
export const badge = reason => element('span', { class: `badge ${TONES[reason] ?? 'wait'}` }, reason)
