import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { BuildError } from './build-error.ts'
import {
  type BuildPlan,
  buildPlan,
  CONTROL_PLANE,
  cacheFolder,
  familyFolder,
  kubernetesVersion,
  manifestsFolder,
  type ProgramName,
  type Toolchain,
} from './catalog.ts'
import { withLock } from './lock.ts'
import { formatDuration, type Progress, startProgress } from './progress.ts'

export type Programs<Name extends ProgramName = (typeof CONTROL_PLANE)[number]> = Readonly<Record<Name, string>>

const RESUME = 'Run the same command again to go on: what is built already is kept.'

/**
 * The programs that are wanted, each as a path. Built from source on the first call, which takes minutes; found in the
 * cache afterwards. `KUBEBUILDER_ASSETS`, as controller-runtime's envtest knows it, takes precedence for the programs
 * that it holds.
 */
export async function ensurePrograms<Name extends ProgramName>(
  wanted: readonly Name[],
  report: (line: string) => void = () => undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Programs<Name>> {
  const found = fromAssets(wanted, env, report)
  const missing = wanted.filter(program => !found.has(program))
  if (missing.length > 0) {
    const kubernetes = kubernetesVersion(env)
    const folders = missing.map(program => familyFolder(program, kubernetes))
    const toolchain = await findToolchain(missing, folders, env)
    const plans = missing.map(program => buildPlan(program, kubernetes, cacheFolder(env), toolchain))
    for (const [index, program] of missing.entries()) found.set(program, plans[index]?.target ?? '')
    if (!plans.every(plan => isComplete(plan.program, plan.target))) await buildMissing(plans, env)
    else report(`programs: cached in ${join(cacheFolder(env), 'programs')}`)
  }
  return Object.fromEntries(found) as Record<Name, string>
}

function fromAssets<Name extends ProgramName>(
  wanted: readonly Name[],
  env: NodeJS.ProcessEnv,
  report: (line: string) => void,
): Map<Name, string> {
  const folder = env.KUBEBUILDER_ASSETS
  if (!folder) return new Map()
  const held = wanted.filter(program => isComplete(program, join(folder, program)))
  for (const needed of wanted.filter(program => ENVTEST.includes(program))) {
    if (held.includes(needed)) continue
    throw new BuildError(
      `KUBEBUILDER_ASSETS is ${folder}, but there is no program ${needed} in it.\n` +
        'Point it at a folder with etcd, kube-apiserver and kubectl, or unset it to build them from source.',
    )
  }
  report(`programs: ${held.join(', ')} from KUBEBUILDER_ASSETS (${folder})`)
  return new Map(held.map(program => [program, join(folder, program)]))
}

/** What such a folder always has. */
const ENVTEST: readonly ProgramName[] = ['etcd', 'kube-apiserver', 'kubectl']

function isComplete(program: ProgramName, path: string): boolean {
  const manifests = manifestsFolder(program, path)
  return isExecutable(path) && (manifests === undefined || existsSync(manifests))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

async function findToolchain(
  wanted: readonly ProgramName[],
  folders: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Toolchain> {
  const onPath = (env.PATH ?? '').split(delimiter).some(folder => folder !== '' && isExecutable(join(folder, 'go')))
  if (!onPath) {
    throw new BuildError(
      `The cluster tests build ${wanted.join(', ')} from source, and there is no \`go\` on the PATH.\n` +
        'Install Go 1.26 or newer, or set KUBEBUILDER_ASSETS to a folder that holds all of these programs.',
    )
  }
  let toolchain: Toolchain | undefined
  for (const folder of new Set(folders)) {
    const { code, output } = await runGo(['env', 'GOVERSION', 'GOOS', 'GOARCH'], folder, env)
    if (code !== 0) {
      throw new BuildError(
        `\`go\` does not accept ${join(folder, 'go.mod')}:\n${output.trim()}\n` +
          'Install Go 1.26 or newer, or let Go fetch it: GOTOOLCHAIN=auto.',
      )
    }
    const [version = '', os = '', arch = ''] = output.trim().split('\n')
    toolchain ??= { version, platform: `${os}/${arch}` }
  }
  if (!toolchain) throw new Error('findToolchain was asked about no program')
  return toolchain
}

async function buildMissing(plans: readonly BuildPlan[], env: NodeJS.ProcessEnv): Promise<void> {
  const progress = startProgress(process.stderr)
  try {
    const lock = join(cacheFolder(env), 'programs', '.lock')
    await withLock(
      lock,
      () => progress.show('waiting for another run that builds the control plane programs'),
      async () => {
        // Another run may have built them while this one waited, and an interrupted run may have built some.
        const missing = plans.filter(plan => !isComplete(plan.program, plan.target))
        for (const [index, plan] of missing.entries()) {
          await build(plan, `${index + 1} of ${missing.length}`, progress, env)
        }
      },
    )
  } finally {
    progress.stop()
  }
}

async function build(plan: BuildPlan, position: string, progress: Progress, env: NodeJS.ProcessEnv): Promise<void> {
  const name = `${plan.program} ${plan.family.version}`
  const started = Date.now()
  progress.show(`building ${name} (${position}; the first build takes about 20 minutes)`)
  const temporary = `${plan.target}.${process.pid}.tmp`
  await mkdir(dirname(plan.target), { recursive: true })
  // Read-only: with the committed go.sum a build needs neither a checksum database nor a version list.
  const args = ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags', plan.family.ldflags]
  try {
    const { code, output } = await runGo([...args, '-o', temporary, plan.package], plan.family.folder, env)
    if (code !== 0) {
      throw new BuildError(
        `Could not build ${name}:\n${output.trim().split('\n').slice(-20).join('\n')}\n` +
          `Go must be able to reach its module proxy (\`go env GOPROXY\`). ${RESUME}`,
      )
    }
    await keepManifests(plan, env)
    await rename(temporary, plan.target)
  } finally {
    await rm(temporary, { force: true })
  }
  progress.line(`built ${name} in ${formatDuration(Date.now() - started)}`)
}

/** From the module that was just built: the same version, and there when Go's own cache has been emptied. */
async function keepManifests(plan: BuildPlan, env: NodeJS.ProcessEnv): Promise<void> {
  const kept = manifestsFolder(plan.program, plan.target)
  const { manifests } = plan.family
  if (kept === undefined || manifests === undefined) return
  const { code, output } = await runGo(['list', '-m', '-f', '{{.Dir}}', manifests.module], plan.family.folder, env)
  if (code !== 0) throw new BuildError(`Could not find the manifests of ${plan.program}:\n${output.trim()}`)
  const temporary = `${kept}.${process.pid}.tmp`
  await copyTexts(join(output.trim(), manifests.folder), temporary)
  await rm(kept, { recursive: true, force: true })
  await rename(temporary, kept)
}

/** Contents only: Go's cache is read-only, and a copy with its modes could not be deleted. */
async function copyTexts(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyTexts(source, target)
    else await writeFile(target, await readFile(source))
  }
}

interface GoResult {
  readonly code: number
  readonly output: string
}

function runGo(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<GoResult> {
  return new Promise((resolve, reject) => {
    const child = spawn('go', args, {
      cwd,
      env: { ...env, CGO_ENABLED: '0', GOWORK: 'off' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    // A plain kill of this process would leave the compiler running, and the lock and a half-written file behind.
    let interrupted = false
    const forward = (signal: NodeJS.Signals) => {
      interrupted = true
      child.kill(signal)
    }
    process.once('SIGTERM', forward).once('SIGINT', forward)
    const finish = () => process.off('SIGTERM', forward).off('SIGINT', forward)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.on('error', error => {
      finish()
      reject(error)
    })
    child.on('close', code => {
      finish()
      if (interrupted) reject(new BuildError(`Interrupted. ${RESUME}`))
      else resolve({ code: code ?? 1, output })
    })
  })
}

if (import.meta.main) {
  try {
    await ensurePrograms(CONTROL_PLANE, line => console.error(line))
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
