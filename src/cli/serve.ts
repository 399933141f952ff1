import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { explainApiFailure, findCluster } from '../cluster/connect.ts'
import type { Configuration } from '../config/configuration.ts'
import { ConfigurationError, loadConfiguration } from '../config/load.ts'
import { systemClock } from '../kube/vocabulary/clock.ts'
import { createLogger } from '../server/logging.ts'
import { createMetrics, type Metrics } from '../server/metrics.ts'
import { buildServer, type MusterServer } from '../server/server.ts'
import { bundleCertificates, SERVING_NAMES } from '../tls/authority.ts'
import { loadOrCreate } from '../tls/files.ts'
import { startRenewal, TlsStore } from '../tls/store.ts'
import { compileSchemas } from '../validation/jobs/scheduling-schemas.ts'
import { WEBHOOKS } from '../webhooks/all.ts'
import { localWorld } from '../webhooks/local-world.ts'
import { EXIT } from './command.ts'
import type { Parsed } from './flags.ts'
import { greeting } from './greeting.ts'
import { version } from './version.ts'

/** An address, not `localhost`: for a name Fastify opens a second server, which would miss every new certificate. */
const LOOPBACK = '127.0.0.1'
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

/** `muster serve`, until a signal ends it. */
export async function serve(flags: Parsed): Promise<number> {
  const level = flags.text('log-level') ?? 'info'
  const ports = { port: flags.number('port', 0, 65_535), health: flags.number('health-port', 0, 65_535) }
  const drainMs = flags.number('drain-seconds', 0, 600) * 1000
  if (!LOG_LEVELS.includes(level)) return fail(`--log-level: "${level}" is none of ${LOG_LEVELS.join(', ')}`)
  const log = createLogger({ level })
  const config = readConfiguration(flags.text('config'), log)
  if (config === undefined) return EXIT.unreadable
  const clientAuthority = readAuthority(flags.text('client-ca'))
  if (clientAuthority instanceof Error) return fail(`--client-ca: ${clientAuthority.message}`)
  // From here on signals end the process in order, also while it is still starting.
  const stopSignal = waitForStop()
  const metrics = createMetrics({ version: version() })
  let running: Running | undefined
  try {
    running = await assemble({
      flags,
      config,
      log,
      metrics,
      inCluster: process.env.KUBERNETES_SERVICE_HOST !== undefined,
      clientAuthority,
    })
  } catch (error) {
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
  const signal = await stopSignal
  log.info({ signal }, 'stopping')
  // Ctrl-C is a person at a terminal: no Service has to forget us first.
  await running.server.drain(signal === 'SIGTERM' ? { drainMs } : { drainMs: 0, quietMs: 0 })
  await running.stop()
  await running.server.health.close()
  log.info('stopped')
  return EXIT.ok
}

/** Something the person who starts Muster can put right; the message says what. */
class StartError extends Error {
  readonly code: number

  constructor(error: unknown, code: number) {
    super(error instanceof Error ? error.message : String(error))
    this.code = code
  }
}

interface Running {
  readonly server: MusterServer
  readonly host: string
  readonly certsDir: string | undefined
  readonly clusterName: string | undefined
  stop(): Promise<void>
}

interface Parts {
  readonly flags: Parsed
  readonly config: Configuration
  readonly log: Logger
  readonly metrics: Metrics
  readonly inCluster: boolean
  readonly clientAuthority: string | undefined
}

async function assemble(parts: Parts): Promise<Running> {
  compileSchemas()
  const credentials = await findCluster({
    kubeconfig: parts.flags.text('kubeconfig'),
    context: parts.flags.text('context'),
    env: process.env,
    clock: systemClock,
  }).catch(error => {
    throw new StartError(error, EXIT.unreadable)
  })
  if (credentials === undefined) return await withoutCluster(parts)
  if (parts.config.engine === 'kueue') {
    const message = 'engine: kueue is not there yet, and nobody would lift the gates: set engine: builtin'
    throw new StartError(message, EXIT.unreadable)
  }
  const { config, log, metrics, inCluster, clientAuthority } = parts
  const server = credentials.server.origin
  const deps = { credentials, config, log, metrics, clientAuthority }
  // Whoever has no cluster has no use for it, and it is half of the program.
  const { ClusterServices } = await import('../cluster/services.ts')
  const services = await ClusterServices.connect(deps).catch(error => {
    throw new StartError(explainApiFailure(error, server), EXIT.internal)
  })
  const built = buildServer(
    {
      webhooks: WEBHOOKS,
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
    stop: () => services.stop(),
  }
}

async function withoutCluster({ flags, config, log, metrics, clientAuthority }: Parts): Promise<Running> {
  const folder = flags.text('certs-dir') ?? 'certs'
  const load = () => loadOrCreate({ folder, names: SERVING_NAMES, now: systemClock.now, log })
  const pair = await load().catch(error => {
    throw new StartError(error, EXIT.unreadable)
  })
  const store = new TlsStore(pair, { clock: systemClock, log, metrics, names: SERVING_NAMES, clientAuthority })
  const world = localWorld(config)
  const server = buildServer(
    {
      webhooks: WEBHOOKS,
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
  return { server, host: LOOPBACK, certsDir: folder, clusterName: undefined, stop: async () => stopRenewal() }
}

/** Certificates that can be read: with none of them nobody could ever call. */
function readAuthority(file: string | undefined): string | Error | undefined {
  if (file === undefined) return undefined
  try {
    const pem = readFileSync(file, 'utf8')
    bundleCertificates(pem)
    return pem
  } catch (error) {
    return new Error(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function readConfiguration(file: string | undefined, log: Logger): Configuration | undefined {
  try {
    return loadConfiguration(file, warning => log.warn({ file }, warning))
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    process.stderr.write(`muster serve: the configuration cannot be used\n${error.message}\n`)
    return undefined
  }
}

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

/** A second signal does not wait: whoever sends it has lost patience. */
function waitForStop(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        resolve(signal)
        process.once(signal, () => process.exit(EXIT.internal))
      })
    }
  })
}

function fail(message: string, code: number = EXIT.unreadable): number {
  process.stderr.write(`muster serve: ${message}\n`)
  return code
}
