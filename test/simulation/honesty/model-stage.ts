import { Janitors } from '../actors/janitors.ts'
import { ModelServer } from '../model/server.ts'
import { WatchHub } from '../model/watch.ts'
import { Channel } from '../network/channel.ts'
import { Link } from '../network/link.ts'
import { Agenda } from '../time/agenda.ts'
import { Dice } from '../time/dice.ts'
import { type Chapter, perform } from './play.ts'
import type { Stage } from './stage.ts'
import type { Transcript } from './transcript.ts'

const STRIDE_MS = 100
/** No chapter waits longer, not even for all controllers together. */
const LIMIT_MS = 600_000

/** One chapter on a model of its own, reached as a replica reaches it over a link without faults. */
export async function performOnModel(chapter: Chapter): Promise<Transcript> {
  const agenda = new Agenda()
  let over = false
  const playing = perform(chapter, modelStage(agenda)).finally(() => {
    over = true
  })
  // Whoever is first to fail is told of below.
  playing.catch(() => undefined)
  while (!over && agenda.now < LIMIT_MS) await agenda.runUntil(agenda.now + STRIDE_MS, () => over)
  if (!over) throw new Error(`${chapter.name}: the script waits for something that never comes`)
  return playing
}

function modelStage(agenda: Agenda): Stage {
  const dice = new Dice(1)
  const server = new ModelServer(
    () => agenda.now,
    call => call.object,
  )
  const hub = new WatchHub(server)
  const janitors = new Janitors(agenda, server, dice.split('janitors'))
  const link = new Link(dice.split('link'), () => agenda.now, 0)
  const wire = { sending: () => () => {}, received: () => {}, answered: () => {} }
  const script = { alive: true, pausedUntil: 0 }
  return {
    api: new Channel({ agenda, owner: script, link, server, hub, wire, who: 'admin' }),
    delete: async (resource, ref, options) => server.remove(resource, ref, options, 'admin'),
    bind: async (ref, nodeName) => server.bind(ref, nodeName),
    createNamespace: async name => janitors.createNamespace(name),
    sleep: ms => new Promise(resolve => agenda.after(ms, resolve, script)),
    compact: async () => hub.compact(),
    restart: async () => hub.restart(),
  }
}
