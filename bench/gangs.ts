import { setTimeout as sleep } from 'node:timers/promises'
import { POD_GROUPS } from '../src/kube/vocabulary/resources.ts'
import { podGroupNameFor } from '../src/workload/placement.ts'
import { type AuditEvent, type ControlPlane, startControlPlane } from '../test/cluster/support/control-plane.ts'
import { Muster } from '../test/cluster/support/muster.ts'
import { clientOf, deletePods, groupSeconds, rawLiftSeconds } from './pods.ts'

const RAW = 'raw'
const GANGS = 'gangs'
const MUSTER = 'system:serviceaccount:muster-system:muster'
/** The API server writes its audit log a moment after it has answered. */
const AUDIT_MS = 2_000

interface Wish {
  readonly size: number
  readonly rounds: number
  /** Muster, compiled. */
  readonly program: string
}

/** One entry for each round. */
export interface GangFigures {
  readonly raw: readonly number[]
  readonly seconds: readonly number[]
  /** Of Muster's on the Workload and the PodGroup that kube-scheduler goes by. */
  readonly writes: readonly number[]
}

/**
 * Groups that kube-scheduler places as a whole. They need a control plane that serves PodGroups, and the raw limit is
 * measured on the same: its scheduler and its audit log cost what they cost for both.
 */
export async function gangs({ size, rounds, program }: Wish): Promise<GangFigures> {
  const plane = await startControlPlane({ name: 'bench-gangs', featureGates: 'generic', nodes: 8, audited: true })
  const api = await clientOf(plane)
  try {
    for (const namespace of [RAW, GANGS]) await plane.createNamespace(namespace)
    const muster = await Muster.install(
      plane,
      { coScheduling: { backend: 'kubernetes' } },
      { logLevel: 'warn', program },
    )
    try {
      const figures = { raw: [] as number[], seconds: [] as number[], writes: [] as number[] }
      for (let round = 0; round < rounds; round++) {
        figures.raw.push(await rawLiftSeconds(api, RAW, size))
        const before = await schedulingWrites(plane)
        const name = `gang-${round}`
        figures.seconds.push(await groupSeconds(api, GANGS, name, size))
        // A lift without the PodGroup would be fast, and no gang: then this fails.
        await api.get(POD_GROUPS.v1beta1, { namespace: GANGS, name: podGroupNameFor(GANGS, name) })
        await deletePods(api, GANGS)
        // To the end of the group: what is written while it goes counts, too.
        figures.writes.push((await schedulingWrites(plane)) - before)
      }
      return figures
    } finally {
      await muster.stop()
    }
  } finally {
    await api.close()
    await plane.stop()
  }
}

/** From the API server's own log: the metrics of Muster know its Workloads and those of Kubernetes by one name. */
async function schedulingWrites(plane: ControlPlane): Promise<number> {
  await sleep(AUDIT_MS)
  return (await plane.audit()).filter(isSchedulingWrite).length
}

const isSchedulingWrite = ({ user, objectRef }: AuditEvent): boolean =>
  user.username === MUSTER && objectRef?.apiGroup === POD_GROUPS.v1beta1.group
