import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensurePrograms } from '../../cluster/programs/build.ts'
import { KAI, manifestsFolder } from '../../cluster/programs/catalog.ts'
import type { ControlPlane } from '../../cluster/support/control-plane.ts'
import { untilServed } from '../../cluster/support/kinds.ts'
import { lastLines, type Program, Supervisor } from '../../cluster/support/supervisor.ts'

const NAMESPACE = 'kai-scheduler'

/** The accounts of KAI's chart, and what each is started with: no port of this machine is taken. */
const PROGRAMS = {
  'kai-scheduler': {
    account: 'scheduler',
    flags: ['--listen-address=127.0.0.1:0', '--plugin-server-port=-1', '--schedule-period=500ms'],
  },
  'kai-binder': { account: 'binder', flags: ['--metrics-bind-address=0', '--health-probe-bind-address=0'] },
  'kai-podgrouper': { account: 'pod-grouper', flags: ['--metrics-bind-address=0', '--health-probe-bind-address=0'] },
} as const

export type KaiProgram = keyof typeof PROGRAMS

const ROLES = ['scheduler', 'binder', 'podgrouper']

/** KAI as its chart installs it, as far as it takes to place pods: its kinds, rights, classes, a queue, its programs. */
export class Kai {
  readonly #plane: ControlPlane
  readonly #supervisor: Supervisor
  readonly #programs: Readonly<Record<KaiProgram, string>>
  readonly #running = new Map<KaiProgram, Program>()

  private constructor(plane: ControlPlane, supervisor: Supervisor, programs: Readonly<Record<KaiProgram, string>>) {
    this.#plane = plane
    this.#supervisor = supervisor
    this.#programs = programs
  }

  /** Everything but the programs. */
  static async install(plane: ControlPlane): Promise<Kai> {
    const programs = await ensurePrograms(KAI)
    const manifests = manifestsFolder('kai-scheduler', programs['kai-scheduler'])
    if (manifests === undefined) throw new Error('KAI was built without its manifests')
    await plane.kubectl(['apply', '--server-side', '-f', '-'], { stdin: await documentsIn(join(manifests, 'crds')) })
    for (const kind of ['podgroups', 'queues', 'bindrequests']) {
      // Of a CRD that was made a moment ago kubectl cannot even see that it has no conditions yet.
      await untilServed(plane.kubectl, `${kind}.scheduling.run.ai`)
    }
    await plane.createNamespace(NAMESPACE)
    const templates = join(manifests, 'templates')
    const roles = await Promise.all(
      ROLES.flatMap(role => [`${role}.yaml`, `${role}-binding.yaml`]).map(file =>
        readFile(join(templates, 'rbac', file), 'utf8'),
      ),
    )
    const accounts = Object.values(PROGRAMS).map(({ account }) => account)
    for (const account of accounts) await plane.kubectl(['create', 'serviceaccount', account, '-n', NAMESPACE])
    const rendered = roles.join('\n---\n').replaceAll('{{ .Release.Namespace }}', NAMESPACE)
    const classes = await documentsIn(join(templates, 'priorityclasses'))
    await plane.kubectl(['apply', '-f', '-'], { stdin: `${rendered}\n---\n${classes}` })
    await plane.kubectl(['create', '-f', '-'], { stdin: { apiVersion: 'v1', kind: 'List', items: queues() } })
    const folder = join(plane.folder, 'kai')
    await mkdir(folder)
    return new Kai(plane, new Supervisor(folder, { keepFolder: true }), programs)
  }

  async start(program: KaiProgram): Promise<void> {
    const { account, flags } = PROGRAMS[program]
    const kubeconfig = await this.#plane.serviceAccountKubeconfig(NAMESPACE, account)
    const running = this.#supervisor.start(this.#programs[program], flags, { KUBECONFIG: kubeconfig })
    this.#running.set(program, running)
    // Neither says when it is ready; what is wrong with its start ends it at once.
    await sleep(2000)
    if (!running.running) throw new Error(`${program} ended:\n${lastLines(running.logFile, 30)}`)
  }

  async halt(program: KaiProgram): Promise<void> {
    await this.#running.get(program)?.stop()
    this.#running.delete(program)
  }

  log(program: KaiProgram): string {
    return lastLines(this.#running.get(program)?.logFile ?? '', 40)
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map(program => program.stop()))
    await this.#supervisor.close()
  }
}

async function documentsIn(folder: string): Promise<string> {
  const files = (await readdir(folder)).filter(file => file.endsWith('.yaml')).sort()
  const texts = await Promise.all(files.map(file => readFile(join(folder, file), 'utf8')))
  return texts.join('\n---\n')
}

/** A parent and a leaf without limits: a quota of 0 would hold back what is not preemptible. */
function queues(): readonly object[] {
  const unlimited = { quota: -1, limit: -1, overQuotaWeight: 1 }
  const resources = { cpu: unlimited, gpu: unlimited, memory: unlimited }
  const queue = (name: string, parentQueue?: string) => ({
    apiVersion: 'scheduling.run.ai/v2',
    kind: 'Queue',
    metadata: { name },
    spec: { resources, ...(parentQueue && { parentQueue }) },
  })
  return [queue('default-parent-queue'), queue('default-queue', 'default-parent-queue')]
}
