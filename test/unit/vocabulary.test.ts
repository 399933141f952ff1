import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import * as names from '../../src/kube/vocabulary/names.ts'

/**
 * A key that two files read soon means two things: an empty queue is none in one of them and a queue in the other. So
 * every key has one home where it is read, and whoever wants to know asks a question there. Others may write it, or
 * name it to people in a path or a sentence; they stand here by name.
 */
interface Home {
  /** The one file that reads the key from objects; none for a key that is only written. */
  readonly read?: string
  readonly written?: readonly string[]
  readonly named?: readonly string[]
}

const KAI_CACHE = 'coscheduling/kai/cache-contents.ts'
const KAI_BASE = 'coscheduling/kai/base.ts'
const KAI_OVERLAY = 'coscheduling/kai/overlay.ts'
const POD = 'workload/pod-facts.ts'
const JOB = 'workload/job-facts.ts'
const GROUP = 'workload/group.ts'
const TOPOLOGY = 'workload/topology.ts'
const TOPOLOGY_RULES = 'webhooks/topology.ts'
const KUEUE = 'engines/kueue/kueue.ts'
const SUMS = 'workload/group-sums.ts'
const SETS = 'workload/group-sets.ts'
const LIFT = 'workload/pod-set-update.ts'
const MUTATION = 'webhooks/pods/mutation.ts'
const CLAIMS = 'webhooks/pods/claims.ts'
const GUARD = 'webhooks/pods/guard.ts'
const UPDATE = 'webhooks/pods/update.ts'
const VALIDATION = 'webhooks/pods/validation.ts'
const JOB_MUTATION = 'webhooks/jobs/mutation.ts'
const JOB_GUARD = 'webhooks/jobs/queue-guard.ts'
const JOB_RULES = 'webhooks/jobs/queue-rules.ts'
const QUEUE_MARKS = 'webhooks/queue-marks.ts'
const QUEUES = 'webhooks/queues.ts'
const COVERAGE = 'cluster/coverage.ts'
const PERFORM = 'reconciler/perform.ts'
const CACHES = 'reconciler/caches.ts'
const JOB_WRITES = 'reconciler/jobs/job-writes.ts'
const CACHE = 'reconciler/cache-contents.ts'
const FIND = 'insight/explain/find.ts'
const NOT_OURS = 'insight/explain/not-ours.ts'
const DASHBOARD = 'insight/dashboard/caches.ts'
const LEAVING_PODS = 'uninstall/pods.ts'
const LEAVING_GROUPS = 'uninstall/groups.ts'
const LEAVING_JOBS = 'uninstall/jobs.ts'
const GROUPING = 'workload/grouped/job-to-group.ts'

/** Muster's own objects and users, whose names nobody reads from labels. */
type ObjectName =
  | 'SYSTEM_NAMESPACE'
  | 'SERVICE_NAME'
  | 'WEBHOOK_CONFIGURATION'
  | 'STATUS_POLICY'
  | 'OFFLINE_IDENTITY'
  | 'BREAK_GLASS'

const HOMES: Readonly<Record<Exclude<keyof typeof names, ObjectName>, Home>> = {
  QUEUE_NAME: {
    read: POD,
    written: [MUTATION, JOB_MUTATION, 'cluster/owner-cache.ts', 'cli/greeting.ts'],
    named: [
      QUEUE_MARKS,
      QUEUES,
      GUARD,
      JOB_GUARD,
      JOB_RULES,
      'webhooks/jobs/queue-label.ts',
      COVERAGE,
      CACHES,
      'engines/builtin/messages.ts',
      'review/lints/queues.ts',
      NOT_OURS,
      'insight/explain/next-step.ts',
    ],
  },
  MANAGED: {
    read: POD,
    written: [MUTATION, PERFORM, CACHE, LEAVING_PODS],
    named: [CLAIMS, GUARD, VALIDATION, COVERAGE, CACHES, FIND, NOT_OURS, DASHBOARD],
  },
  ADMISSION_GATE: { read: POD, written: [MUTATION, PERFORM, CACHE, LEAVING_PODS], named: [CLAIMS, GUARD, NOT_OURS] },
  ROLE_HASH: {
    read: POD,
    written: [MUTATION, CACHE, 'review/lints/grouped.ts', LEAVING_PODS],
    named: [CLAIMS, UPDATE],
  },

  GROUP_NAME: { read: GROUP },
  DEFAULT_QUEUE: {
    written: [
      'cluster/services.ts',
      'cluster/world.ts',
      'insight/doctor/examine.ts',
      'review/cluster-state.ts',
      'webhooks/jobs/scope.ts',
      'webhooks/pods/mutation.ts',
    ],
  },
  GROUP_TOTAL_COUNT: { read: GROUP },
  GROUP_FAST_ADMISSION: { read: GROUP },
  GROUP_SERVING: { read: GROUP },
  RETRIABLE_IN_GROUP: { read: GROUP, named: [UPDATE] },
  GROUP_COUNT: { read: GROUP, named: [SUMS] },
  GROUP_ROLES: { read: GROUP, named: [SUMS] },
  GROUP_ROLE: { read: GROUP, named: [SUMS, UPDATE] },
  GROUP_ROLE_COUNT: { read: GROUP, named: [SUMS] },
  GROUP_SETS: { read: GROUP, written: [CACHE], named: [SUMS, SETS, 'workload/announced-template.ts'] },
  REQUIRED_TOPOLOGY: { read: GROUP, named: [TOPOLOGY_RULES] },
  PODSET_GROUP: { read: GROUP, named: [TOPOLOGY_RULES] },
  PREFERRED_TOPOLOGY: { read: TOPOLOGY, named: [TOPOLOGY_RULES] },
  UNCONSTRAINED_TOPOLOGY: { read: TOPOLOGY, written: ['engines/kueue/placement.ts'], named: [TOPOLOGY_RULES] },
  SLICE_TOPOLOGY: { read: TOPOLOGY, named: [TOPOLOGY_RULES, KUEUE] },
  SLICE_SIZE: { read: TOPOLOGY, named: [TOPOLOGY_RULES, KUEUE] },
  SLICE_CONSTRAINTS: { read: TOPOLOGY, named: [TOPOLOGY_RULES, KUEUE] },

  PRIORITY_CLASS: { read: POD, named: [QUEUE_MARKS] },
  MAX_EXEC_TIME: { read: POD, named: [QUEUE_MARKS] },
  PREBUILT_WORKLOAD: { read: POD },
  ELASTIC_JOB: { read: POD, named: [QUEUE_MARKS, VALIDATION, JOB_RULES] },
  ADMISSION_GATED_BY: {
    read: POD,
    written: ['reconciler/whole-templates.ts', 'engines/kueue/workloads.ts'],
    named: ['webhooks/pods/admission-gates.ts'],
  },
  SUSPENDING_PARENT: { read: POD },

  PODSET_LABEL: { read: POD, written: [LIFT] },
  LOCAL_QUEUE_LABEL: { read: POD, written: [LIFT] },
  CLUSTER_QUEUE_LABEL: { read: POD, written: [LIFT] },
  WORKLOAD_ANNOTATION: { read: POD, written: [LIFT] },

  CREATOR: { read: POD, written: [MUTATION], named: [CLAIMS] },

  QUEUED: { read: JOB, written: [JOB_WRITES, JOB_MUTATION], named: [JOB_GUARD, COVERAGE] },
  HELD: { read: JOB, written: [JOB_WRITES, JOB_MUTATION], named: [JOB_GUARD] },
  STOPPING: { read: JOB, written: [JOB_WRITES, JOB_MUTATION], named: [JOB_GUARD] },
  CHILD_OF: { read: JOB, written: [JOB_MUTATION], named: [JOB_GUARD] },
  POD_GROUP: {
    read: POD,
    written: ['webhooks/pod-groups/mutation.ts', MUTATION, 'coscheduling/kai/perform.ts', KAI_CACHE, LEAVING_PODS],
    named: ['webhooks/pod-groups/guard.ts', 'coscheduling/kai/caches.ts', COVERAGE, NOT_OURS],
  },
  POD_GROUP_OF: {
    read: 'coscheduling/kai/naming.ts',
    written: ['coscheduling/kai/resolve.ts', 'coscheduling/kai/co-scheduler.ts', LEAVING_GROUPS],
    named: [KAI_CACHE],
  },
  MIN_PARALLELISM: { read: JOB, named: [JOB_RULES] },
  COMPLETIONS_FOLLOW: { read: JOB, named: [JOB_RULES] },
  JOB_UID: {
    read: 'workload/queued-workload.ts',
    written: ['engines/builtin/workloads.ts', 'engines/kueue/workloads.ts'],
  },

  MIRROR_POD: { read: POD, named: [COVERAGE] },
  NAMESPACE_NAME_LABEL: {
    written: [
      'cluster/namespace-scope.ts',
      DASHBOARD,
      'insight/explain/gather.ts',
      'insight/doctor/objects.ts',
      'insight/doctor/webhooks.ts',
      'webhooks/local-world.ts',
      'webhooks/namespace.ts',
      QUEUES,
      'webhooks/jobs/allowance.ts',
      'review/cluster-state.ts',
      'config/rules.ts',
    ],
    named: ['config/configuration.ts'],
  },

  RESOURCE_IN_USE: {
    read: 'webhooks/workloads/guard.ts',
    written: ['engines/builtin/workloads.ts', 'uninstall/decide.ts'],
    named: ['engines/builtin/builtin.ts', 'engines/kueue/kueue.ts', COVERAGE],
  },

  SCHEDULING: {
    read: 'validation/jobs/job-view.ts',
    written: ['webhooks/jobs/moved-block.ts'],
    named: [COVERAGE, GROUPING],
  },
  GROUP_TEMPLATE_NAME: { read: 'workload/mappers/source.ts', named: ['workload/mappers/job.ts', GROUPING] },
  PARENT_COMPOSITE: { read: GROUPING },
  PARENT_COMPOSITE_KEP: { read: GROUPING },
  GROUPED: {
    read: GROUPING,
    written: ['webhooks/jobs/grouping.ts', LEAVING_JOBS],
    named: ['webhooks/jobs/group-guard.ts'],
  },
  ROOT_GROUP: {
    read: GROUPING,
    written: ['webhooks/jobs/grouping.ts', LEAVING_JOBS],
    named: ['webhooks/jobs/group-guard.ts'],
  },
}

const SRC = fileURLToPath(new URL('../../src', import.meta.url))
const NAMES = 'kube/vocabulary/names.ts'
const CODE: ReadonlyMap<string, string> = new Map(
  readdirSync(SRC, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => join(entry.parentPath, entry.name))
    .map(path => [relative(SRC, path), readFileSync(path, 'utf8')]),
)

describe.each(Object.entries(HOMES))('%s', (name, { read, written = [], named = [] }) => {
  it('is used where the table says, and nowhere else', () => {
    const users = [...CODE].filter(([, code]) => importsName(code, name)).map(([file]) => file)
    expect(users.sort()).toEqual([...new Set([...(read === undefined ? [] : [read]), ...written, ...named])].sort())
  })

  it('is read in one file', () => {
    const readers = [...CODE].filter(([, code]) => readsKey(code, name)).map(([file]) => file)
    // Who writes a key looks at what it has written.
    expect(readers.filter(file => file !== read && !written.includes(file))).toEqual([])
  })
})

describe('labels and annotations', () => {
  // Names without a slash are ordinary words.
  it.each(Object.entries(names).filter(([, value]) => value.includes('/')))('%s are spelled out once', (_, value) => {
    const spelled = [...CODE].filter(([, code]) => code.includes(`'${value}'`)).map(([file]) => file)
    expect(spelled).toEqual([NAMES])
  })

  it('are read by a key that was handed over only where marks are defined', () => {
    const by = /\b(?:labels|annotations)(?:\?\.)?\[[a-z]\w*\]/
    const generic = [...CODE].filter(([, code]) => by.test(code)).map(([file]) => file)
    // Selectors hold any label against any condition; topology requests have keys of their own, read in that file only.
    // KAI's keys are asked of one object after the other.
    const others = ['kube/vocabulary/selectors.ts', 'webhooks/topology.ts', KAI_BASE, KAI_OVERLAY]
    expect(generic.sort()).toEqual([GROUP, POD, ...others].sort())
  })

  it.each([
    "labels?.[QUEUE_NAME] ?? ''",
    'annotations[QUEUE_NAME]',
    'Object.hasOwn(labels, QUEUE_NAME)',
    'finalizers?.includes(QUEUE_NAME)',
    'gate.name === QUEUE_NAME',
    'const { [QUEUE_NAME]: queue } = labels',
    "(pod.metadata.labels ?? {})[QUEUE_NAME] === 'a'",
  ])('are read by %s', code => {
    expect(readsKey(code, 'QUEUE_NAME')).toBe(true)
  })

  it.each([
    "labels: { [QUEUE_NAME]: 'default' }",
    "labels[QUEUE_NAME] = 'true'",
    'finalizers: [QUEUE_NAME]',
    'labelPath(QUEUE_NAME)',
  ])('are not read by %s', code => {
    expect(readsKey(code, 'QUEUE_NAME')).toBe(false)
  })
})

describe('what is asked everywhere', () => {
  it.each([
    [
      'whether a value is an object',
      /=== 'object' && [\w.]+ !== null && !Array\.isArray\(/,
      'kube/vocabulary/fields.ts',
    ],
    ['what a name may look like', /\[(?:A-Z)?a-z0-9\]\(?\[-/i, 'kube/vocabulary/formats.ts'],
  ])('has one answer: %s', (_, pattern, home) => {
    const answers = [...CODE].filter(([, code]) => pattern.test(code)).map(([file]) => file)
    expect(answers).toEqual([home])
  })
})

function importsName(code: string, name: string): boolean {
  const imports = [...code.matchAll(/^import \{([^}]*)\} from '[^']*vocabulary\/names\.ts'/gm)]
  return imports.some(([, list = '']) => list.split(',').some(item => item.trim().split(' ')[0] === name))
}

function readsKey(code: string, name: string): boolean {
  const index = new RegExp(`(?:[\\w)\\]]|\\?\\.)\\[${name}\\](?!\\s*=[^=])`)
  const taken = new RegExp(`\\{[^{}]*\\[${name}\\]: \\w+[^{}]*\\} = `)
  const asked = new RegExp(`(?:hasOwn\\([^()]*|includes\\(|indexOf\\(|[=!]== )${name}\\b`)
  return index.test(code) || taken.test(code) || asked.test(code)
}
