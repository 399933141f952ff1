import * as names from '../../kube/vocabulary/names.ts'

export const PREFIXES = ['kueue.x-k8s.io/', 'muster.dev/'] as const

/** Kueue's keys on objects that people write, as of v0.20, besides those that Muster itself has a name for. */
const KUEUE_KEYS = [
  'podset-required-topology',
  'podset-preferred-topology',
  'podset-unconstrained-topology',
  'podset-slice-required-topology',
  'podset-slice-required-topology-constraints',
  'podset-slice-size',
  'podset-group-name',
  'pod-group-pod-index',
  'pod-group-pod-index-label',
  'pod-index-offset',
  'is-group-workload',
  'safe-to-forcefully-delete',
  'priority-boost',
  'component-workload-index',
  'workload-allowed-resource-flavors',
  'multikueue-origin',
  'job-owner-gvk',
  'job-owner-name',
  'workload-slice-name',
  'tas',
].map(name => `kueue.x-k8s.io/${name}`)

export const KNOWN_KEYS: ReadonlySet<string> = new Set([
  ...Object.values<string>(names).filter(value => PREFIXES.some(prefix => value.startsWith(prefix))),
  ...KUEUE_KEYS,
])

export const TOPOLOGY_KEYS: readonly string[] = KUEUE_KEYS.filter(
  key => key.includes('-topology') || key.includes('-slice-'),
)

const GROUP_ANNOTATIONS = [
  names.GROUP_TOTAL_COUNT,
  names.GROUP_COUNT,
  names.GROUP_ROLES,
  names.GROUP_ROLE_COUNT,
  names.GROUP_SETS,
  names.GROUP_FAST_ADMISSION,
  names.GROUP_SERVING,
  names.RETRIABLE_IN_GROUP,
]

/** Keys that count in one of the two maps only. */
export const PLACES: ReadonlyMap<string, 'labels' | 'annotations'> = new Map([
  ...[names.QUEUE_NAME, names.PRIORITY_CLASS, names.MAX_EXEC_TIME, names.GROUP_ROLE].map(
    key => [key, 'labels'] as const,
  ),
  ...[
    ...GROUP_ANNOTATIONS,
    ...TOPOLOGY_KEYS,
    names.MIN_PARALLELISM,
    names.COMPLETIONS_FOLLOW,
    names.ADMISSION_GATED_BY,
    names.SCHEDULING,
  ].map(key => [key, 'annotations'] as const),
])

interface Home {
  /** By `group/Kind`. */
  readonly kinds: readonly string[]
  readonly where: string
}

const ON_PODS: Home = { kinds: ['/Pod'], where: 'on pods, so in the pod template' }
const ON_JOBS: Home = { kinds: ['batch/Job'], where: 'on a Job itself' }
const ON_BLOCKS: Home = {
  kinds: ['batch/Job', 'jobset.x-k8s.io/JobSet'],
  where: 'on a Job or JobSet, or a template of Jobs',
}

/** Keys that count on objects of some kinds only. */
export const HOMES: ReadonlyMap<string, Home> = new Map([
  ...[names.GROUP_NAME, names.GROUP_ROLE, ...GROUP_ANNOTATIONS].map(key => [key, ON_PODS] as const),
  ...[names.MIN_PARALLELISM, names.COMPLETIONS_FOLLOW].map(key => [key, ON_JOBS] as const),
  [names.SCHEDULING, ON_BLOCKS] as const,
])

/** Names of keys that mean Kueue or Muster even when what stands before the slash is something else, or missing. */
const TELLING: ReadonlyMap<string, string> = new Map(
  [...PLACES.keys(), names.GROUP_NAME].map(key => [key.slice(key.indexOf('/') + 1), key]),
)

/** The key that was meant by one whose prefix is wrong, as `kueue.x-k8s/queue-name` or `queue-name` alone. */
export function keyOfWrongPrefix(key: string): string | undefined {
  const slash = key.lastIndexOf('/')
  const meant = TELLING.get(key.slice(slash + 1).toLowerCase())
  if (meant !== undefined) return slash === -1 || SIMILAR.test(key.slice(0, slash)) ? meant : undefined
  if (!OURS.test(key)) return undefined
  return [...TELLING].find(([name]) => key.endsWith(name))?.[1]
}

const SIMILAR = /[kq]ueue|muster|x-k8s/i
const OURS = /^(?:kueue|muster)[./]/i
