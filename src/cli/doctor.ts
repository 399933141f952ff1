import { diagnose } from '../insight/doctor/diagnose.ts'
import type { Diagnosis } from '../insight/doctor/diagnosis.ts'
import { examine, type Questions } from '../insight/doctor/examine.ts'
import { renderDiagnosis } from '../insight/doctor/render.ts'
import type { Right } from '../insight/doctor/rights.ts'
import { Sight } from '../insight/sight.ts'
import { widthFor } from '../insight/text.ts'
import { type CallReport, createKubeClient, type KubeClient } from '../kube/client/client.ts'
import { impersonating } from '../kube/client/credentials.ts'
import { ApiError } from '../kube/vocabulary/api.ts'
import { systemClock } from '../kube/vocabulary/clock.ts'
import { OFFLINE_IDENTITY, SYSTEM_NAMESPACE } from '../kube/vocabulary/names.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import { SELF_SUBJECT_ACCESS_REVIEWS } from '../kube/vocabulary/resources.ts'
import { asking, givenConfiguration, openCallersCluster } from './callers-cluster.ts'
import { EXIT } from './command.ts'
import type { Parsed } from './flags.ts'
import { paintFor, print } from './outputs.ts'
import { oneOf } from './review.ts'
import { version } from './version.ts'

const FORMATS = ['text', 'json'] as const

/** `muster doctor`: is the installation sound? It reads objects and asks about rights, and changes nothing. */
export async function doctor(flags: Parsed): Promise<number> {
  const format = oneOf(flags, 'output', FORMATS)
  const config = await givenConfiguration(flags)
  const skew = new Skew()
  const cluster = await openCallersCluster(flags, report => skew.note(report))
  const itself = createKubeClient({
    credentials: impersonating(cluster.credentials, OFFLINE_IDENTITY),
    clock: systemClock,
  })
  const questions: Questions = {
    version: version(),
    serverVersion: () => cluster.api.version(),
    may: right => may(itself, right),
    skewMs: () => skew.ms,
  }
  const diagnosis = await asking(cluster, async () => {
    try {
      const sight = new Sight(cluster.api, systemClock)
      const facts = await examine(sight, questions, config, systemClock.now())
      return diagnose(facts, sight.unseen)
    } finally {
      await itself.close()
    }
  })
  await print(
    format === 'json'
      ? `${JSON.stringify(diagnosis, null, 2)}\n`
      : renderDiagnosis(diagnosis, paintFor(process.stdout), widthFor(process.stdout.columns)),
  )
  return exitCode(diagnosis)
}

/** Findings are certain, whatever could not be looked at; that all is well nobody can say who has not seen all. */
function exitCode({ findings, unseen }: Diagnosis): number {
  if (findings.length > 0) return EXIT.denied
  return unseen.length > 0 ? EXIT.unreadable : EXIT.ok
}

/** The smallest distance that any answer shows: the others were under way for longer. */
class Skew {
  ms: number | undefined

  note({ date }: CallReport): void {
    // The header has whole seconds: in the middle of one the error is the smallest.
    const ms = Date.parse(date ?? '') + 500 - systemClock.now()
    if (!Number.isNaN(ms) && (this.ms === undefined || Math.abs(ms) < Math.abs(this.ms))) this.ms = ms
  }
}

interface AccessReview extends KubeObject {
  readonly spec: { readonly resourceAttributes: object }
  readonly status?: { readonly allowed?: boolean }
}

/** Asked in the name of Muster's own account; undefined where the caller may not take it. */
async function may(itself: KubeClient, { own, ...right }: Right): Promise<boolean | undefined> {
  const resourceAttributes = { ...right, ...(own && { namespace: SYSTEM_NAMESPACE }) }
  const question: AccessReview = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    metadata: {},
    spec: { resourceAttributes },
  }
  try {
    return (await itself.create(SELF_SUBJECT_ACCESS_REVIEWS, question)).status?.allowed === true
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return undefined
    throw error
  }
}
