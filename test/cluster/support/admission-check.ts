import type { ControlPlane } from './control-plane.ts'
import { admissionCheck } from './kueue-objects.ts'

const NAME = 'budget'
const WORKLOADS = 'workloads.kueue.x-k8s.io'

type State = 'Ready' | 'Retry' | 'Rejected'

/** An admission check whose controller is the test. */
export class BudgetCheck {
  static readonly checks = [NAME]
  readonly #plane: ControlPlane

  private constructor(plane: ControlPlane) {
    this.#plane = plane
  }

  /** Kueue has to run: it looks for a controller behind the check. */
  static async install(plane: ControlPlane): Promise<BudgetCheck> {
    const check = new BudgetCheck(plane)
    await plane.kubectl(['create', '-f', '-'], { stdin: admissionCheck(NAME) })
    const active = { type: 'Active', status: 'True', reason: 'Test', message: '', lastTransitionTime: now() }
    await check.#setStatus(['admissioncheck', NAME], { conditions: [active] })
    return check
  }

  async answer(namespace: string, workload: string, state: State, podSetUpdates: readonly object[] = []) {
    const said = { name: NAME, state, message: 'by the test', lastTransitionTime: now(), podSetUpdates }
    await this.#setStatus([WORKLOADS, workload, '-n', namespace], { admissionChecks: [said] })
  }

  async #setStatus(of: readonly string[], status: object): Promise<void> {
    const patch = JSON.stringify({ status })
    await this.#plane.kubectl(['patch', ...of, '--subresource=status', '--type=merge', '-p', patch])
  }
}

const now = (): string => new Date().toISOString()
