import { pino } from 'pino'
import { coSchedulers } from '../../src/cluster/co-schedulers.ts'
import { assembleController } from '../../src/cluster/controller.ts'
import { giveBackMemory } from '../../src/cluster/memory.ts'
import { controllerMetrics } from '../../src/cluster/metrics.ts'
import { builtinEngine } from '../../src/engines/builtin/builtin.ts'
import { createKubeClient } from '../../src/kube/client/client.ts'
import { systemClock } from '../../src/kube/vocabulary/clock.ts'
import { createMetrics } from '../../src/server/metrics.ts'
import { EVERYWHERE, NOTHING_TO_PLACE_BY } from './namespaces.ts'
import { nobody } from './observers.ts'

/** What a replica says about itself, a line each time all its caches have been read. */
export interface Reading {
  readonly leads: boolean
  readonly maxResidentMb: number
}

/** A replica without webhooks in a process of its own, so that its memory can be measured, and can run out. */
const server = new URL(process.argv[2] ?? '')
const controller = assembleController({
  api: createKubeClient({
    credentials: { server, access: async () => ({ headers: {}, tls: {} }) },
    clock: systemClock,
  }),
  clock: systemClock,
  random: Math.random,
  log: pino({ level: 'warn' }, pino.destination(2)),
  observer: nobody,
  engine: builtinEngine([{ name: 'team-a', limits: { pods: 0 } }]),
  scope: EVERYWHERE,
  schedulers: coSchedulers(),
  scheduling: NOTHING_TO_PLACE_BY,
  identity: 'measured',
  metrics: controllerMetrics(createMetrics({ version: 'test' })),
  onRead: () => {
    giveBackMemory()
    const reading: Reading = { leads: controller.leads, maxResidentMb: process.resourceUsage().maxRSS / 1024 }
    process.stdout.write(`${JSON.stringify(reading)}\n`)
  },
})
controller.start()
