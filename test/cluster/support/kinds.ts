import type { Kubectl } from './kubectl.ts'
import { eventually } from './wait.ts'

/** Waits until a kind is served. kubectl itself does not wait for a CRD that has no conditions yet: it fails. */
export async function untilServed(kubectl: Kubectl, crd: string): Promise<void> {
  await eventually(`${crd} is served`, () =>
    kubectl(['wait', '--for=condition=Established', `crd/${crd}`, '--timeout=30s']),
  )
}
