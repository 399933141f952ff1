import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ensurePrograms } from './programs/build.ts'
import { comparable, stepsOf, terminal } from './support/console.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { Muster, manifestsFor } from './support/muster.ts'
import { eventually } from './support/wait.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** What changes nothing may be asked again, until what it asks about has happened. */
const ASKS = /^(kubectl (get|wait|-n muster-system rollout status)|muster )/

describe('docs/quickstart.md', () => {
  let plane: ControlPlane
  let muster: Muster
  let run: ReturnType<typeof terminal>

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'quickstart', featureGates: 'none' })
    const { kubectl } = await ensurePrograms(['kubectl'])
    run = terminal(plane.folder, kubectl, plane.kubeconfig)
    muster = await Muster.install(plane)
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  /** What a kubelet would do with the Deployment and its ConfigMap, for the one process that there is. */
  async function standIn(command: string): Promise<void> {
    if (command === 'kubectl apply -k manifests/') {
      const stdin = await manifestsFor(plane, join(ROOT, 'manifests'), muster.port)
      await plane.kubectl(['apply', '-f', '-'], { stdin })
    }
    if (command.endsWith('examples/quickstart/queues.yaml')) {
      const { data } = parse(read('examples/quickstart/queues.yaml'))
      await muster.reconfigure(parse(data['config.yaml']))
    }
    if (command.endsWith('rollout restart deployment/muster')) {
      await muster.stop()
      await muster.start()
    }
    if (command.endsWith('examples/quickstart/jobs.yaml') && command.startsWith('kubectl create')) {
      // The pods of KWOK run until they are told to end.
      await eventually('the first Job runs', async () => (await pods()).length === 2)
    }
    if (command === 'muster queues') {
      await plane.kubectl(['annotate', 'pods', '--all', '-n', 'default', 'muster.dev/test-outcome=succeed'])
    }
  }
  const pods = async () => (await plane.kubectl.json<{ items: object[] }>(['get', 'pods', '-n', 'default'])).items

  it('shows what the terminal shows', async () => {
    const steps = stepsOf(read('docs/quickstart.md'))
    expect(steps.length).toBeGreaterThan(10)
    for (const { command, shown } of steps) {
      const look = (): true => {
        const { output } = run(command)
        if (shown !== '') expect(comparable(output), command).toBe(comparable(shown))
        return true
      }
      if (ASKS.test(command)) await eventually(command, look)
      else look()
      await standIn(command)
    }
  })
})
