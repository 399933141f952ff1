import { ageOf, badge, clock, element, many } from './dom.js'

/** @import { Story as Told, Moment } from '../src/insight/dashboard/story.ts' */

/** A story is read from the cluster itself: not more often than this, however much happens elsewhere. */
const PAUSE = 3_000

/** What happened to one workload, in order: its conditions, its Events, its pods, and what would start it. */
export class Story extends HTMLElement {
  #unit = ''
  #body = element('div', { class: 'body' })
  #title = element('h2', { id: 'story-title', tabindex: -1 })
  #state = element('div', { class: 'state' })
  #readAt = 0
  #isReading = false
  #again = false
  #drawn = ''

  connectedCallback() {
    this.hidden = true
    this.setAttribute('role', 'complementary')
    this.setAttribute('aria-labelledby', 'story-title')
    const close = element(
      'button',
      { type: 'button', class: 'close', 'aria-label': 'Close the story', onclick: () => this.close() },
      '×',
    )
    this.replaceChildren(element('header', {}, this.#title, close), this.#state, this.#body)
    this.addEventListener('keydown', event => {
      if (event.key === 'Escape') this.close()
    })
  }

  get unit() {
    return this.#unit
  }

  /** @param {string} unit */
  async open(unit) {
    this.#unit = unit
    this.#drawn = ''
    this.#title.replaceChildren(element('bdi', {}, nameOf(unit)))
    this.#state.replaceChildren()
    this.#body.replaceChildren(element('p', { class: 'empty' }, 'Reading.'))
    this.hidden = false
    this.#title.focus()
    await this.#read()
  }

  close() {
    this.hidden = true
    this.#unit = ''
    this.dispatchEvent(new Event('close'))
  }

  /** Something has changed in the cluster: it may be this. */
  async refresh() {
    if (this.#unit === '' || this.#again) return
    this.#again = true
    await new Promise(resolve => setTimeout(resolve, Math.max(0, this.#readAt + PAUSE - Date.now())))
    this.#again = false
    if (this.#unit !== '') await this.#read()
  }

  async #read() {
    if (this.#isReading) return
    this.#isReading = true
    const unit = this.#unit
    try {
      const response = await fetch(`/story?${queryFor(unit)}`)
      const answer = await response.json()
      if (unit !== this.#unit) return
      if (response.ok) this.#show(answer)
      else this.#say(answer.error)
    } catch {
      if (unit === this.#unit) this.#say('it cannot be read now')
    } finally {
      this.#isReading = false
      this.#readAt = Date.now()
      if (this.#unit !== '' && unit !== this.#unit) await this.#read()
    }
  }

  /** @param {string} why */
  #say(why) {
    this.#state.replaceChildren(element('p', { class: 'note bad' }, why))
    if (this.#drawn === '') this.#body.replaceChildren()
  }

  /** @param {Told} told */
  #show(told) {
    const text = JSON.stringify(told)
    if (text === this.#drawn) return
    this.#drawn = text
    const { explanation } = told
    const { reason, since, message } = explanation
    this.#state.replaceChildren(
      reason === null ? element('span', { class: 'badge good' }, 'does not wait') : badge(reason),
      (since !== undefined &&
        element(
          'span',
          { class: 'since' },
          reason === null || reason === 'Finished' ? 'since ' : 'for ',
          ageOf(since),
        )) ||
        '',
      element('p', { class: 'message' }, sentence(message)),
    )
    this.#body.replaceChildren(...this.#sections(told))
  }

  /** @param {Told} told */
  #sections({ explanation, workload, wouldStart, moments, pods, morePods, eventsOf }) {
    const { next, queue, others, unseen } = explanation
    const place =
      queue &&
      (queue.before === undefined
        ? 'set aside: nobody waits for it'
        : `${queue.before === 0 ? 'the first' : `number ${queue.before + 1}`} of ${queue.waiting}`)
    const sets = workload?.sets.map(({ name, count }) => `${name} × ${count}`).join(', ')
    return [
      section(
        'What has to happen',
        element('p', {}, next.what),
        element('p', { class: 'who' }, `Who can: ${next.who}.`),
      ),
      workload &&
        section(
          'Its place',
          facts([
            ['Workload', workload.name],
            ['Queue', workload.queue || '(none)'],
            ...(place ? [/** @type {const} */ (['Place', place])] : []),
            ['Pods', sets || '–'],
          ]),
        ),
      wouldStart.length > 0 &&
        section(
          'It would start',
          element(
            'ul',
            { class: 'would' },
            ...wouldStart
              .slice(0, 8)
              .map(({ text, when, starts }) =>
                element('li', { class: starts ? 'good' : '' }, `if ${text}: `, element('b', {}, when)),
              ),
          ),
        ),
      others.length > 0 &&
        section(
          'Pods that stand elsewhere',
          element(
            'ul',
            {},
            ...others
              .slice(0, 50)
              .map(({ pod, reason, message }) =>
                element('li', {}, element('bdi', {}, pod), ' ', badge(reason), ` ${message}`),
              ),
          ),
        ),
      section(
        'What happened',
        element('ol', { class: 'moments' }, ...moments.map(momentOf)),
        morePods + pods.length > eventsOf &&
          element('p', { class: 'who' }, `Events of the first ${many(eventsOf, 'pod')}.`),
      ),
      pods.length > 0 &&
        section(
          `Pods (${(pods.length + morePods).toLocaleString()})`,
          podsTable(pods),
          morePods > 0 && element('p', { class: 'who' }, `and ${morePods.toLocaleString()} more`),
        ),
      unseen.length > 0 && section('Not seen', element('ul', {}, ...unseen.map(what => element('li', {}, what)))),
    ].filter(part => part !== false && part !== undefined)
  }
}

/** @param {string} unit */
function queryFor(unit) {
  const [word = '', namespace = '', name = ''] = unit.split('/')
  return new URLSearchParams({ kind: word === 'single' ? 'pod' : word, namespace, name })
}

/** @param {string} unit */
function nameOf(unit) {
  const [word = '', namespace = '', name = ''] = unit.split('/')
  return `${word === 'single' ? 'pod' : word} ${namespace}/${name}`
}

/**
 * @param {string} title
 * @param {readonly import('./dom.js').Child[]} children
 */
const section = (title, ...children) => element('section', {}, element('h3', {}, title), ...children)

/** @param {readonly (readonly [string, string])[]} rows */
const facts = rows =>
  element(
    'dl',
    {},
    ...rows.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, element('bdi', {}, value))]),
  )

/** @param {Moment} moment */
function momentOf({ at, kind, title, text, who, tone, times }) {
  return element(
    'li',
    { class: `${kind} ${tone}` },
    element('time', { datetime: at, 'data-clock': true, title: at }, clock(at)),
    element(
      'p',
      { class: 'title' },
      element('b', {}, title),
      times > 1 && element('span', { class: 'times' }, ` × ${times.toLocaleString()}`),
    ),
    text !== '' && element('p', { class: 'text', dir: 'auto' }, text),
    who !== '' && element('p', { class: 'who' }, who),
  )
}

/** @param {Told['pods']} pods */
function podsTable(pods) {
  const rows = pods.map(({ name, state, node, since }) =>
    element(
      'tr',
      {},
      element('td', {}, element('bdi', {}, name)),
      element('td', {}, state),
      element('td', {}, node || '–'),
      element('td', {}, ageOf(since)),
    ),
  )
  const head = element('tr', {}, ...['Pod', 'State', 'Node', 'Age'].map(name => element('th', { scope: 'col' }, name)))
  return element(
    'div',
    { class: 'table', tabindex: 0, role: 'region', 'aria-label': 'Pods' },
    element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)),
  )
}

/** @param {string} text */
const sentence = text =>
  text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`
