import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { DEFAULT_CONFIGURATION } from '../src/config/configuration.ts'
import { systemClock } from '../src/kube/vocabulary/clock.ts'
import { OFFLINE_IDENTITY } from '../src/kube/vocabulary/names.ts'
import { NOTHING_SERVED } from '../src/kube/vocabulary/served-scheduling.ts'
import type { CachedWorld } from '../src/server/asking-world.ts'
import { createLogger } from '../src/server/logging.ts'
import { createMetrics } from '../src/server/metrics.ts'
import { buildServer } from '../src/server/server.ts'
import { WEBHOOKS } from '../src/webhooks/all.ts'
import type { OwnerFacts } from '../src/webhooks/world.ts'
import { JOB_UID } from './review.ts'

/**
 * The server of `muster serve` with caches that are filled, as they are with a cluster: the namespace and the Job that
 * owns the pod are known. A look-up would be a call to the API server; it is counted, and there is nobody to answer it.
 */
const [keyFile = '', certFile = ''] = process.argv.slice(2)
const metrics = createMetrics({ version: 'bench' })

const labels = { 'kubernetes.io/metadata.name': 'ml-research', team: 'research' }
const namespaces = new Map([['ml-research', { uid: '9e1b4c5e-3c9d-4b53-a1a5-0a6f2a9b6a10', labels }]])
const owners = new Map<string, OwnerFacts>([
  ['ml-research/train', { uid: JOB_UID, labels: { app: 'train' }, ownerReferences: [] }],
])
const world: CachedWorld = {
  config: DEFAULT_CONFIGURATION,
  self: OFFLINE_IDENTITY,
  holds: ['pod'],
  namespace: name => namespaces.get(name) ?? 'unknown',
  owner: (namespace, { name }) => owners.get(`${namespace}/${name}`) ?? 'unknown',
  hasDefaultQueue: () => false,
  scheduling: () => NOTHING_SERVED,
}

const server = buildServer(
  {
    webhooks: WEBHOOKS,
    world: () => world,
    lookup: async lookups => {
      metrics.webhookLookups.inc(lookups.length)
      throw new Error('there is no cluster here')
    },
    ready: () => [],
    alive: () => [],
    log: createLogger(),
    metrics,
    clock: systemClock,
  },
  { tls: { key: readFileSync(keyFile), cert: readFileSync(certFile) } },
)
await server.admission.listen({ port: 0, host: '127.0.0.1' })
await server.health.listen({ port: 0, host: '127.0.0.1' })
const portOf = (app: typeof server.health) => (app.server.address() as AddressInfo).port
process.stdout.write(`listening ${portOf(server.admission)}, http://localhost:${portOf(server.health)}\n`)
