import type { Logger } from 'pino'
import { explainApiFailure, findCluster } from '../cluster/connect.ts'
import { LiveConfiguration } from '../config/live.ts'
import type { ConfigurationChange } from '../config/watch.ts'
import { formatUnreadable } from '../documents/place.ts'
import { systemClock } from '../kube/vocabulary/clock.ts'
import { createLogger } from '../server/logging.ts'
import { createMetrics, type Metrics } from '../server/metrics.ts'
import { buildServer, type MusterServer } from '../server/server.ts'
import { SERVING_NAMES } from '../tls/authority.ts'
import { loadOrCreate } from '../tls/files.ts'
import { startRenewal, TlsStore } from '../tls/store.ts'
import { compileSchemas } from '../validation/jobs/scheduling-schemas.ts'
import { WEBHOOKS } from '../webhooks/all.ts'
import { localWorld } from '../webhooks/local-world.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { EXIT } from './command.ts'
import { isWrong, readConfiguration } from './configuration.ts'
import type { Parsed } from './flags.ts'
import { greeting } from './greeting.ts'
import { waitForStop } from './interruption.ts'
import { recording } from './recording.ts'
import { certificateProblem, readAuthority, StartError } from './start-problems.ts'
import { version } from './version.ts'

/** An address, not `localhost`: for a name Fastify opens a second server, which would miss every new certificate. */
const LOOPBACK = '127.0.0.1'
/** With the default drain of 15 s it is 90 s in all, after which an API server has closed what it does not use. */
const LINGER_TIMES = 5
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

/** `muster serve`, until a signal ends it. */
export async function serve(flags: Parsed): Promise<number> {
  const level = flags.text('log-level') ?? 'info'
  const ports = { port: flags.number('port', 0, 65_535), health: flags.number('health-port', 0, 65_535) }
  const drainMs = flags.number('drain-seconds', 0, 600) * 1000
  if (!LOG_LEVELS.includes(level)) return fail(`--log-level: "${level}" is none of ${LOG_LEVELS.join(', ')}`)
  const log = createLogger({ level })
  const file = flags.text('config')
  const config = await readConfiguration(file, warning => log.warn({ file }, warning))
  if (isWrong(config)) return fail(`the configuration cannot be used\n${config.map(formatUnreadable).join('\n')}`)
  const live = new LiveConfiguration(config)
  const clientAuthority = readAuthority(flags.text('client-ca'))
  if (clientAuthority instanceof Error) return fail(`--client-ca: ${clientAuthority.message}`)
  // From here on signals end the process in order, also while it is still starting.
  const { first, stopping } = waitForStop()
  const metrics = createMetrics({ version: version() })
  let running: Running | undefined
  try {
    running = await assemble({
      flags,
      live,
      log,
      metrics,
      inCluster: process.env.KUBERNETES_SERVICE_HOST !== undefined,
      clientAuthority,
      stopping,
    })
  } catch (error) {
    if (stopping.aborted) return EXIT.ok
    if (error instanceof StartError) return fail(error.message, error.code)
    throw error
  }
  const failure = await listen(running, ports)
  if (failure !== undefined) {
    await running.stop()
    return fail(failure)
  }
  process.stdout.write(
    greeting({ ...addresses(running.server), certsDir: running.certsDir, cluster: running.clusterName }),
  )
  const { tell } = running
  const stopWatching = await followConfiguration({ file, live, log, metrics, tell })
  const signal = await first
  stopWatching()
  log.info({ signal }, 'stopping')
  // Ctrl-C is a person at a terminal: no Service has to forget us first.
  await running.server.drain(
    signal === 'SIGTERM' ? { drainMs, lingerMs: drainMs * LINGER_TIMES } : { drainMs: 0, quietMs: 0 },
  )
  await running.stop()
  await running.server.health.close()
  log.info('stopped')
  return EXIT.ok
}

interface Running {
  readonly server: MusterServer
  readonly host: string
  readonly certsDir: string | undefined
  readonly clusterName: string | undefined
  /** Where people look for what became of a change of theirs. */
  readonly tell: (change: ConfigurationChange) => void
  stop(): Promise<void>
}

interface Parts {
  readonly flags: Parsed
  readonly live: LiveConfiguration
  readonly log: Logger
  readonly metrics: Metrics
  readonly inCluster: boolean
  readonly clientAuthority: string | undefined
  /** Aborts when a signal comes: nobody waits any more for a cluster that does not answer. */
  readonly stopping: AbortSignal
}

async function assemble(parts: Parts): Promise<Running> {
  compileSchemas()
  const webhooks = webhooksOf(parts)
  const credentials = await findCluster({
    kubeconfig: parts.flags.text('kubeconfig'),
    context: parts.flags.text('context'),
    env: process.env,
    clock: systemClock,
  }).catch(error => {
    throw new StartError(error, EXIT.unreadable)
  })
  if (credentials === undefined) return await withoutCluster(parts, webhooks)
  const { live, log, metrics, inCluster, clientAuthority, stopping } = parts
  const server = credentials.server.origin
  const deps = { credentials, live, log, metrics, clientAuthority, stopping }
  // Whoever has no cluster has no use for it, and it is half of the program.
  const { ClusterServices } = await import('../cluster/services.ts')
  const services = await ClusterServices.connect(deps).catch(error => {
    throw new StartError(explainApiFailure(error, server), EXIT.internal)
  })
  const built = buildServer(
    {
      webhooks,
      world: () => services.world,
      lookup: services.lookUp,
      ready: () => services.readiness(),
      alive: () => services.liveness(),
      log,
      metrics,
      clock: systemClock,
    },
    { tls: { key: services.pair.key, cert: services.pair.certificate }, clientAuthority },
  )
  services.serve(built.secure)
  return {
    server: built,
    // Elsewhere than in a pod nobody but this machine has business here.
    host: inCluster ? '::' : LOOPBACK,
    certsDir: undefined,
    clusterName: server,
    tell: change => services.tell(change),
    stop: () => services.stop(),
  }
}

async function withoutCluster(parts: Parts, webhooks: readonly Webhook[]): Promise<Running> {
  const { flags, live, log, metrics, clientAuthority } = parts
  const folder = flags.text('certs-dir') ?? 'certs'
  const load = () => loadOrCreate({ folder, names: SERVING_NAMES, now: systemClock.now, log })
  const pair = await load().catch(error => {
    throw new StartError(certificateProblem(folder, error), EXIT.unreadable)
  })
  const store = new TlsStore(pair, { clock: systemClock, log, metrics, names: SERVING_NAMES, clientAuthority })
  let world = localWorld(live.current)
  live.onChange(next => {
    world = localWorld(next)
  })
  const server = buildServer(
    {
      webhooks,
      world: () => world,
      ready: () => [store.readiness()],
      alive: () => [],
      log,
      metrics,
      clock: systemClock,
    },
    { tls: { key: pair.key, cert: pair.certificate }, clientAuthority },
  )
  store.attach(server.secure)
  const stopRenewal = startRenewal({ clock: systemClock, log, store, load })
  const stop = async () => stopRenewal()
  return { server, host: LOOPBACK, certsDir: folder, clusterName: undefined, tell: () => {}, stop }
}

/** All of them; with `--record` each keeps what it is asked. */
function webhooksOf({ flags, log }: Pick<Parts, 'flags' | 'log'>): readonly Webhook[] {
  const folder = flags.text('record')
  if (folder === undefined) return WEBHOOKS
  log.warn({ folder }, 'reviews are recorded: do not leave it on')
  try {
    return recording(WEBHOOKS, folder, error => log.error({ err: error, folder }, 'a review cannot be recorded'))
  } catch (error) {
    const { message } = error as Error
    throw new StartError(`--record: ${folder} cannot be written: ${message}`, EXIT.unreadable)
  }
}

/** Without a file there is nothing to follow. */
async function followConfiguration({ file, live, log, metrics, tell }: Following): Promise<() => void> {
  if (file === undefined) return () => {}
  const { watchConfiguration } = await import('../config/watch.ts')
  const onChange = (change: ConfigurationChange) => {
    metrics.configurationChanges.inc({ result: change.result })
    tell(change)
  }
  return watchConfiguration({ file, live, clock: systemClock, log, onChange })
}

type Following = Pick<Parts, 'live' | 'log' | 'metrics'> & Pick<Running, 'tell'> & { readonly file: string | undefined }

/** Undefined when both ports are open; otherwise what to tell the person who tried. */
async function listen({ server, host }: Running, ports: { port: number; health: number }): Promise<string | undefined> {
  const attempts = [
    ['--port', ports.port, server.admission],
    ['--health-port', ports.health, server.health],
  ] as const
  for (const [flag, port, app] of attempts) {
    try {
      await app.listen({ port, host })
    } catch (error) {
      await Promise.allSettled([server.admission.close(), server.health.close()])
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === 'EADDRINUSE') return `port ${port} is taken by another program: choose another with ${flag}`
      if (code === 'EACCES') return `port ${port} needs rights that this user lacks: choose another with ${flag}`
      throw error
    }
  }
  return undefined
}

function addresses(server: MusterServer): { port: number; healthPort: number } {
  const port = (app: MusterServer['admission']) => {
    const address = app.server.address()
    return typeof address === 'object' ? (address?.port ?? 0) : 0
  }
  return { port: port(server.admission), healthPort: port(server.health) }
}

function fail(message: string, code: number = EXIT.unreadable): number {
  process.stderr.write(`muster serve: ${message}\n`)
  return code
}
