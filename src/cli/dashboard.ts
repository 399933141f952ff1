import { newKeys } from '../dashboard/access.ts'
import { Feed } from '../dashboard/feed.ts'
import { type PageFile, pageFiles } from '../dashboard/files.ts'
import { openBrowser } from '../dashboard/open-browser.ts'
import { type Dashboard, startDashboard } from '../dashboard/server.ts'
import { Caches } from '../insight/dashboard/caches.ts'
import { sightsFor } from '../insight/dashboard/sights.ts'
import { readInstallation } from '../insight/installation.ts'
import { SILENT, Sight } from '../insight/sight.ts'
import { type CacheObserver, UNOBSERVED } from '../kube/cache/observer.ts'
import { systemClock } from '../kube/vocabulary/clock.ts'
import { asking, type CallersCluster, givenConfiguration, openCallersCluster } from './callers-cluster.ts'
import { CannotLook, EXIT } from './command.ts'
import type { Parsed } from './flags.ts'
import { interrupted, unlessInterrupted } from './interruption.ts'
import { print } from './outputs.ts'

/** `muster dashboard`: a page on this machine, until it is interrupted. */
export async function dashboard(flags: Parsed): Promise<number> {
  const port = flags.number('port', 0, 65_535)
  const files = readFiles()
  const config = await givenConfiguration(flags)
  const cluster = await openCallersCluster(flags)
  return await asking(cluster, async () => {
    const stopping = interrupted()
    const feed = await unlessInterrupted(stopping, followed(cluster, config))
    if (feed === undefined) return EXIT.ok
    const page = await served(feed, files, port)
    feed.start()
    try {
      await print(`Muster's dashboard of ${cluster.credentials.server.origin} is at\n\n  ${page.url}\n\n${ONLY_HERE}\n`)
      if (!flags.given('no-open')) openBrowser(page.url)
      if (!stopping.aborted) await new Promise(resolve => stopping.addEventListener('abort', resolve))
    } finally {
      await page.close()
      await feed.stop()
    }
    return EXIT.ok
  })
}

const ONLY_HERE =
  'Only this machine can open it, and only with that token. Whoever has it sees what you may. Ctrl-C ends it.'

async function followed(
  { api, credentials, namespace }: CallersCluster,
  config: Parameters<typeof readInstallation>[1],
) {
  const clock = systemClock
  const sight = new Sight(api, clock)
  const installation = await readInstallation(sight, config)
  const sights = await sightsFor(api, installation, namespace)
  if (sights === undefined) {
    const { plural, group } = installation.engine.workloads
    throw new CannotLook(`you may not read ${plural}.${group} of namespace ${namespace}: another one is chosen with -n`)
  }
  let doubt = (): void => {}
  const observer: CacheObserver = { ...UNOBSERVED, restarted: () => doubt() }
  const caches = new Caches({ api, clock, random: Math.random, log: SILENT, observer }, installation, sights)
  const unseen = [...sight.unseen, ...sights.unseen]
  const feed = new Feed({ caches, installation, config, cluster: credentials.server.origin, unseen, clock })
  doubt = () => feed.doubt()
  return feed
}

async function served(feed: Feed, files: ReadonlyMap<string, PageFile>, port: number): Promise<Dashboard> {
  try {
    return await startDashboard({ feed, files, keys: newKeys(), clock: systemClock, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE' || code === 'EACCES') {
      throw new CannotLook(`port ${port} cannot be listened on (${code}): name another one, or none, with --port`)
    }
    throw error
  }
}

function readFiles(): ReadonlyMap<string, PageFile> {
  try {
    return pageFiles()
  } catch {
    throw new CannotLook('the files of the page are not here: the image has none; install the npm package')
  }
}
