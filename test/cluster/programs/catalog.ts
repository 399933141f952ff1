import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** The programs of a control plane and its JobSet controller, in the order in which they are built: quick ones first. */
export const PROGRAMS = [
  'etcd',
  'kwok',
  'kubectl',
  'kube-scheduler',
  'kube-controller-manager',
  'kube-apiserver',
  'jobset',
] as const

export type ProgramName = (typeof PROGRAMS)[number]

/** A Go module of our own that pins one program family. Separate modules, because their dependencies disagree. */
export interface Family {
  readonly folder: string
  readonly version: string
  readonly ldflags: string
  /** A folder of the module that is kept beside the program: what it cannot be installed without. */
  readonly manifests?: string
}

const KUBERNETES_VERSION = 'v1.37.1'

function versionStamp(version: string): string {
  const [major, minor] = version.slice(1).split('.')
  const stamp = { gitVersion: version, gitMajor: major, gitMinor: minor }
  return Object.entries(stamp)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ')
}

const FAMILIES = {
  etcd: { folder: join(import.meta.dirname, 'etcd'), version: 'v3.7.3', ldflags: '-s -w' },
  kwok: { folder: join(import.meta.dirname, 'kwok'), version: 'v0.8.0', ldflags: '-s -w' },
  // Without the stamp the programs report v0.0.0-master, and clients that ask for a minimum version refuse to start.
  kubernetes: {
    folder: join(import.meta.dirname, 'kubernetes'),
    version: KUBERNETES_VERSION,
    ldflags: `-s -w ${versionStamp(KUBERNETES_VERSION)}`,
  },
  jobset: {
    folder: join(import.meta.dirname, 'jobset'),
    version: 'v0.12.0',
    ldflags: '-s -w',
    manifests: 'config',
  },
} as const satisfies Record<string, Family>

export type FamilyName = keyof typeof FAMILIES

const SOURCES: Readonly<Record<ProgramName, { readonly family: FamilyName; readonly package: string }>> = {
  etcd: { family: 'etcd', package: 'go.etcd.io/etcd/server/v3' },
  kwok: { family: 'kwok', package: 'sigs.k8s.io/kwok/cmd/kwok' },
  kubectl: { family: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kubectl' },
  'kube-scheduler': { family: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-scheduler' },
  'kube-controller-manager': { family: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-controller-manager' },
  'kube-apiserver': { family: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  jobset: { family: 'jobset', package: 'sigs.k8s.io/jobset' },
}

/** What a build depends on besides the sources that go.sum pins. */
export interface Toolchain {
  readonly version: string
  readonly platform: string
}

export interface BuildPlan {
  readonly program: ProgramName
  readonly package: string
  readonly family: Family
  /** The finished program. */
  readonly target: string
}

export function cacheFolder(env: NodeJS.ProcessEnv): string {
  if (env.MUSTER_CACHE_DIR) return env.MUSTER_CACHE_DIR
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'muster')
}

/** One folder per family, so that a new KWOK does not rebuild Kubernetes. */
export function buildPlan(program: ProgramName, cache: string, toolchain: Toolchain): BuildPlan {
  const source = SOURCES[program]
  const family: Family = FAMILIES[source.family]
  const hash = createHash('sha256')
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(family.folder, file))).update('\0')
  hash.update(`${toolchain.version}\0${toolchain.platform}\0${family.ldflags}`)
  const key = `${source.family}-${family.version}-${hash.digest('hex').slice(0, 12)}`
  return { program, package: source.package, family, target: join(cache, 'programs', key, program) }
}

/** Where the manifests of a program are, if it has any. */
export function manifestsFolder(program: ProgramName, target: string): string | undefined {
  const { manifests }: Family = FAMILIES[SOURCES[program].family]
  return manifests === undefined ? undefined : join(dirname(target), manifests)
}

/** Where `go` must be able to work, to find out early that it is too old for one of the modules. */
export function familyFolder(program: ProgramName): string {
  return FAMILIES[SOURCES[program].family].folder
}
