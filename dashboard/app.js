import { growOlder } from './dom.js'
import { Follower } from './follow.js'
import { Queues } from './queues.js'
import { Notes, Status, Theme } from './status.js'
import { Story } from './story.js'
import { Timeline } from './timeline.js'
import { Waiting } from './waiting.js'

const parts = {
  'muster-status': Status,
  'muster-theme': Theme,
  'muster-notes': Notes,
  'muster-queues': Queues,
  'muster-timeline': Timeline,
  'muster-waiting': Waiting,
  'muster-story': Story,
}
for (const [name, part] of Object.entries(parts)) customElements.define(name, part)

/**
 * @template {HTMLElement} Part
 * @param {string} name
 * @param {new () => Part} part
 * @returns {Part}
 */
function find(name, part) {
  const found = document.querySelector(name)
  if (!(found instanceof part)) throw new Error(`the page has no ${name}`)
  return found
}

const status = find('muster-status', Status)
const notes = find('muster-notes', Notes)
const queues = find('muster-queues', Queues)
const timeline = find('muster-timeline', Timeline)
const waiting = find('muster-waiting', Waiting)
const story = find('muster-story', Story)
const follower = new Follower()

follower.addEventListener('state', () => status.show(follower.state, follower.overview))
follower.addEventListener('overview', () => {
  const { overview } = follower
  if (overview === undefined) return
  status.show(follower.state, overview)
  notes.show(overview)
  queues.show(overview)
  timeline.show(overview)
  waiting.show(overview)
  void story.refresh()
})

queues.addEventListener('choose', event => waiting.chooseQueue(/** @type {CustomEvent<string>} */ (event).detail))
waiting.addEventListener('queue', event => queues.choose(/** @type {CustomEvent<string | undefined>} */ (event).detail))

/** Where the focus goes back to when the story is closed. @type {HTMLElement | undefined} */
let teller
document.addEventListener('tell', event => {
  teller = event.target === waiting ? waiting : /** @type {HTMLElement} */ (document.activeElement)
  const unit = /** @type {CustomEvent<string>} */ (event).detail
  history.replaceState(null, '', `#story=${encodeURIComponent(unit)}`)
  document.body.classList.add('with-story')
  waiting.mark(unit)
  void story.open(unit)
})
story.addEventListener('close', () => {
  history.replaceState(null, '', location.pathname)
  document.body.classList.remove('with-story')
  waiting.mark(undefined)
  if (teller?.isConnected) teller.focus()
  else waiting.focus()
})

/**
 * What stands in an address may be written by anybody.
 * @param {string} text
 */
function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const begun = /^#story=(.+)$/.exec(location.hash)?.[1]
if (begun !== undefined) document.dispatchEvent(new CustomEvent('tell', { detail: decoded(begun) }))

setInterval(() => {
  growOlder()
  timeline.draw()
}, 1000)
status.show(follower.state, undefined)
follower.start()
