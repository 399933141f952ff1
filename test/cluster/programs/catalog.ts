import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { BuildError } from './build-error.ts'

/** The programs of a control plane and its JobSet controller, in the order in which they are built: quick ones first. */
export const CONTROL_PLANE = [
  'etcd',
  'kwok',
  'kubectl',
  'kube-scheduler',
  'kube-controller-manager',
  'kube-apiserver',
  'jobset',
] as const

/** What binds pods, and what groups them, where KAI is the scheduler. */
export const KAI = ['kai-scheduler', 'kai-binder', 'kai-podgrouper'] as const

/** Who admits, where Kueue is the engine. */
export const KUEUE = ['kueue'] as const

/** What installs a chart. */
export const HELM = ['helm'] as const

export type ProgramName =
  | (typeof CONTROL_PLANE)[number]
  | (typeof KAI)[number]
  | (typeof KUEUE)[number]
  | (typeof HELM)[number]

/** A Go module of our own that pins one program family. Separate modules, because their dependencies disagree. */
export interface Family {
  readonly folder: string
  readonly version: string
  readonly ldflags: string
  /** A folder of the module that is kept beside the program: what it cannot be installed without. */
  readonly manifests?: { readonly module: string; readonly folder: string }
}

/** What can be tested against, the first one by default. Of each, the newest release that the module proxy has. */
const KUBERNETES_RELEASES = { '1.37': 'v1.37.1', '1.36': 'v1.36.4', '1.35': 'v1.35.8' } as const

export type KubernetesVersion = keyof typeof KUBERNETES_RELEASES

export const KUBERNETES_VERSIONS = Object.keys(KUBERNETES_RELEASES) as readonly KubernetesVersion[]

/** The environment says it, so that it reaches every process of a run. */
export function kubernetesVersion(env: NodeJS.ProcessEnv): KubernetesVersion {
  const wanted = env.MUSTER_KUBERNETES || '1.37'
  const found = KUBERNETES_VERSIONS.find(version => version === wanted)
  if (found === undefined) {
    throw new BuildError(
      `Kubernetes ${wanted} is none of the versions to test against: ${KUBERNETES_VERSIONS.join(', ')}`,
    )
  }
  return found
}

const KAI_MODULE = 'github.com/NVIDIA/KAI-scheduler'

function versionStamp(version: string): string {
  const [major, minor] = version.slice(1).split('.')
  const stamp = { gitVersion: version, gitMajor: major, gitMinor: minor }
  return Object.entries(stamp)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ')
}

const folderOf = (family: string): string => join(import.meta.dirname, family)

function kubernetesFamily(minor: KubernetesVersion): Family {
  const version = KUBERNETES_RELEASES[minor]
  return {
    folder: folderOf(minor === '1.37' ? 'kubernetes' : `kubernetes-${minor}`),
    version,
    // Without the stamp the programs report v0.0.0-master, and clients that ask for a minimum version refuse to start.
    ldflags: `-s -w ${versionStamp(version)}`,
  }
}

const FAMILIES = {
  etcd: () => ({ folder: folderOf('etcd'), version: 'v3.7.3', ldflags: '-s -w' }),
  kwok: () => ({ folder: folderOf('kwok'), version: 'v0.8.0', ldflags: '-s -w' }),
  kubernetes: kubernetesFamily,
  jobset: () => ({
    folder: folderOf('jobset'),
    version: 'v0.12.0',
    ldflags: '-s -w',
    manifests: { module: 'sigs.k8s.io/jobset', folder: 'config' },
  }),
  kai: () => ({
    folder: folderOf('kai'),
    version: 'v0.12.0',
    ldflags: '-s -w',
    manifests: { module: KAI_MODULE, folder: 'deployments/kai-scheduler' },
  }),
  kueue: () => ({
    folder: folderOf('kueue'),
    version: 'v0.19.2',
    ldflags: '-s -w',
    manifests: { module: 'sigs.k8s.io/kueue', folder: 'config' },
  }),
  helm: () => ({ folder: folderOf('helm'), version: 'v4.3.1', ldflags: '-s -w' }),
} satisfies Record<string, (kubernetes: KubernetesVersion) => Family>

export type FamilyName = keyof typeof FAMILIES

const SOURCES: Readonly<Record<ProgramName, { readonly family: FamilyName; readonly package: string }>> = {
  etcd: { family: 'etcd', package: 'go.etcd.io/etcd/server/v3' },
  kwok: { family: 'kwok', package: 'sigs.k8s.io/kwok/cmd/kwok' },
  kubectl: { family: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kubectl' },
  'kube-scheduler': { family: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-scheduler' },
  'kube-controller-manager': { family: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-controller-manager' },
  'kube-apiserver': { family: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  jobset: { family: 'jobset', package: 'sigs.k8s.io/jobset' },
  'kai-scheduler': { family: 'kai', package: `${KAI_MODULE}/cmd/scheduler` },
  'kai-binder': { family: 'kai', package: `${KAI_MODULE}/cmd/binder` },
  'kai-podgrouper': { family: 'kai', package: `${KAI_MODULE}/cmd/podgrouper` },
  kueue: { family: 'kueue', package: 'sigs.k8s.io/kueue/cmd/kueue' },
  helm: { family: 'helm', package: 'helm.sh/helm/v4/cmd/helm' },
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

const familyOf = (program: ProgramName, kubernetes: KubernetesVersion): Family =>
  FAMILIES[SOURCES[program].family](kubernetes)

/** One folder per family, so that a new KWOK does not rebuild Kubernetes. */
export function buildPlan(
  program: ProgramName,
  kubernetes: KubernetesVersion,
  cache: string,
  toolchain: Toolchain,
): BuildPlan {
  const source = SOURCES[program]
  const family = familyOf(program, kubernetes)
  const hash = createHash('sha256')
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(family.folder, file))).update('\0')
  hash.update(`${toolchain.version}\0${toolchain.platform}\0${family.ldflags}`)
  const key = `${source.family}-${family.version}-${hash.digest('hex').slice(0, 12)}`
  return { program, package: source.package, family, target: join(cache, 'programs', key, program) }
}

/** Of the newest Kubernetes, and of what goes with it. */
export function programVersion(program: ProgramName): string {
  return familyOf(program, '1.37').version
}

/** Where the manifests of a program are, if it has any. */
export function manifestsFolder(program: ProgramName, target: string): string | undefined {
  const { manifests } = familyOf(program, '1.37')
  return manifests === undefined ? undefined : join(dirname(target), manifests.folder)
}

/** Where `go` must be able to work, to find out early that it is too old for one of the modules. */
export function familyFolder(program: ProgramName, kubernetes: KubernetesVersion): string {
  return familyOf(program, kubernetes).folder
}
