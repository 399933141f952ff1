import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../src/admission/verdict.ts'
import { GROUPED, ROOT_GROUP } from '../../src/kube/vocabulary/names.ts'
import { reviewJobValidation } from '../../src/webhooks/jobs/jobs.ts'
import type { World } from '../../src/webhooks/world.ts'
import { A, annotated, created, gang, jobOf, jobRequest, jobWorld, updated } from '../unit/webhooks/jobs/fixtures.ts'
import { controller } from '../unit/webhooks/pods/fixtures.ts'
import { SERVERS } from '../unit/workload/grouped/served.ts'

/**
 * Where Muster does not answer as Kubernetes 1.37 does, row by row of the table in docs/jobs.md: a difference that is
 * not written down is a bug, and one that is written down happens.
 */
const page = readFileSync(new URL('../../docs/jobs.md', import.meta.url), 'utf8')
const [, chapter = ''] = page.split('\n## Where Muster differs\n')
const situations = (chapter.split('\n## ')[0] ?? '')
  .split('\n')
  .filter(line => line.startsWith('| '))
  .map(line => line.split('|')[1]?.trim())
  .slice(1)

const refused = (code: 403 | 422, ...errors: readonly (readonly [type: string, field: string, detail: string])[]) => ({
  kind: 'denied',
  code,
  errors: errors.map(([type, field, detail]) => ({ type, field, detail: expect.stringContaining(detail) })),
})
const accepted = (...warnings: readonly string[]) => ({
  kind: 'allowed',
  warnings: warnings.map(warning => expect.stringContaining(warning)),
})

const wider = { scheduling: gang(), spec: { parallelism: 9, completions: 9 } }
const freely = jobWorld({ parallelism: { gangChanges: 'allow' } })
const indexed = jobWorld({ parallelism: { implicitGang: 'indexed' } })
const on136: World = { ...jobWorld(), scheduling: () => SERVERS.with136 }
const nothing = jobWorld({ allow: { policies: [], disruptionModes: [], topologyKeys: [], resourceClaims: false } })
const everything = {
  ...gang(),
  schedulingConstraints: { topology: [{ key: 'zone' }] },
  disruptionMode: { all: {} },
  resourceClaims: [{ name: 'a', resourceClaimName: 'b' }],
}

function jobSetOf(targeted: string, template: object): Verdict {
  const jobs = [
    { name: 'driver', template: { spec: {} } },
    { name: 'workers', template: { spec: { scheduling: template } } },
  ]
  const scheduling = { replicatedJobPolicies: [{ targetReplicatedJob: targeted, ...gang() }] }
  const jobSet = {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name: 'set', namespace: 'team-a' },
    spec: { scheduling, replicatedJobs: jobs },
  }
  return reviewJobValidation(jobRequest(jobSet), jobWorld())
}

/** A Job that names a JobSet as its controller becomes smaller, by the hand of this user. */
function shrunk(username: string): Verdict {
  const ownerReferences = [controller('jobset.x-k8s.io/v1alpha2', 'JobSet', 'set')]
  const [was, is] = [8, 3].map(parallelism =>
    jobOf({ scheduling: gang(), metadata: { ownerReferences }, spec: { parallelism } }),
  )
  return reviewJobValidation({ ...jobRequest(is ?? jobOf(), was), userInfo: { username } }, jobWorld())
}

/** By the situation, as the table has it: what Muster says, and what it should say. */
const DIFFERENCES: Readonly<Record<string, readonly (readonly [verdict: Verdict, answer: object])[]>> = {
  'the parallelism of a gang changes': [
    [
      updated({ scheduling: gang() }, wider),
      refused(403, ['Forbidden', 'spec.parallelism', 'its pods are scheduled as one gang']),
    ],
    [updated({ scheduling: gang() }, wider, freely), accepted()],
  ],
  'the same in a Job with a controller': [
    [shrunk('system:serviceaccount:jobset-system:jobset-controller-manager'), accepted()],
    [shrunk('alice'), refused(403, ['Forbidden', 'spec.parallelism', 'its pods are scheduled as one gang'])],
  ],
  'an Indexed Job with `parallelism` above 1, as many `completions` and no policy, whose parallelism changes': [
    [
      updated({}, { spec: { parallelism: 4 } }, indexed),
      refused(403, ['Forbidden', 'spec.parallelism', 'jobs.parallelism.implicitGang is indexed']),
    ],
    [
      updated({}, { spec: { parallelism: 4 } }, on136),
      refused(403, ['Forbidden', 'spec.parallelism', 'as the Job controller of this cluster has it']),
    ],
    [updated({}, { spec: { parallelism: 4 } }), accepted()],
  ],
  'the `minCount` of a gang on Kubernetes 1.36': [
    [
      updated(annotated(JSON.stringify(gang(4))), annotated(JSON.stringify(gang(2))), on136),
      refused(403, ['Forbidden', `${A}.schedulingPolicy.gang.minCount`, 'cannot change on Kubernetes 1.36']),
    ],
    [updated({ scheduling: gang(4) }, { scheduling: gang(2) }), accepted()],
  ],
  'the label `muster.dev/grouped` or the annotation `muster.dev/root-group`, written by somebody else than Muster': [
    [
      created({ metadata: { labels: { [GROUPED]: 'true' } } }),
      refused(403, ['Forbidden', `metadata.labels[${GROUPED}]`, 'is written by Muster']),
    ],
    [
      updated({}, { metadata: { annotations: { [ROOT_GROUP]: 'workers' } } }),
      refused(403, ['Forbidden', `metadata.annotations[${ROOT_GROUP}]`, 'is written by Muster']),
    ],
  ],
  'a policy, mode, topology key or claim that is not in the allow-list': [
    [
      created({ scheduling: everything }, nothing),
      refused(
        403,
        ['Forbidden', 'spec.scheduling.schedulingPolicy.gang', 'not allowed here; allowed: nothing'],
        ['Forbidden', 'spec.scheduling.schedulingConstraints.topology[0].key', 'not allowed here; allowed: nothing'],
        ['Forbidden', 'spec.scheduling.disruptionMode.all', 'not allowed here; allowed: nothing'],
        ['Forbidden', 'spec.scheduling.resourceClaims', 'not allowed here'],
      ),
    ],
  ],
  'a block without a policy where `basic` is not in the allow-list': [
    [
      created({ scheduling: {} }, nothing),
      refused(403, ['Forbidden', 'spec.scheduling.schedulingPolicy', 'a block without a policy means `basic`']),
    ],
  ],
  'an unknown key beside known ones': [
    [
      created({ scheduling: { ...gang(), quorum: {} } }),
      refused(403, ['Forbidden', 'spec.scheduling.quorum', '`quorum` is not allowed here; allowed: schedulingPolicy']),
    ],
  ],
  'an unknown member alone in a union': [
    [
      created({ scheduling: { schedulingPolicy: { quorum: {} } } }),
      refused(422, [
        'Invalid',
        'spec.scheduling.schedulingPolicy',
        'must specify one of: `basic`, `gang`; `quorum` is not allowed here; allowed: basic, gang',
      ]),
    ],
  ],
  'names of KEP-6089 in `spec.scheduling`': [
    [
      created({ scheduling: { policy: { gang: {} } } }),
      accepted('spec.scheduling.policy: a name of KEP-6089, which the API server drops'),
    ],
    [
      created({ scheduling: { policy: { gang: { minCount: 9 } } } }),
      refused(422, ['Invalid', 'spec.scheduling.policy.gang.minCount', 'must not be greater than parallelism (8)']),
    ],
  ],
  'two sets of names, or one field under two names': [
    [
      created({ scheduling: { policy: { gang: {} }, schedulingConstraints: {} } }),
      refused(403, ['Forbidden', 'spec.scheduling.policy', 'a block uses one set of names, write `schedulingPolicy`']),
    ],
    [
      created({ scheduling: { ...gang(), policy: { gang: {} } } }),
      refused(403, ['Forbidden', 'spec.scheduling.policy', 'are two names of one field: keep `schedulingPolicy`']),
    ],
  ],
  '`level` under `schedulingConstraints`': [
    [
      created({ scheduling: { schedulingConstraints: { topology: [{ level: 'zone' }] } } }),
      refused(422, [
        'Required',
        'spec.scheduling.schedulingConstraints.topology[0].key',
        '`level` is the name that KEP-6089 gives to `key`',
      ]),
    ],
  ],
  'the annotation `muster.dev/scheduling`': [
    [
      created(annotated('{schedulingPolicy: {gang: {minCount: 9}}}')),
      refused(422, ['Invalid', `${A}.schedulingPolicy.gang.minCount`, 'must not be greater than parallelism (8)']),
    ],
  ],
  'the annotation and `spec.scheduling` at once': [
    [
      created({ ...annotated('{schedulingPolicy: {gang: {}}}'), scheduling: gang() }),
      refused(403, ['Forbidden', A, 'a Job has one scheduling block, remove the annotation']),
    ],
  ],
  'a wrong annotation that was there before Muster, left as it is': [
    [updated(annotated('{'), { ...annotated('{'), spec: { suspend: true } }), accepted()],
    [updated(annotated('{'), annotated('[')), refused(422, ['Invalid', A, 'must be YAML or JSON'])],
  ],
  'values of the wrong JSON type': [
    [
      created({ scheduling: { schedulingPolicy: { gang: { minCount: '4' } } } }),
      refused(422, [
        'Invalid',
        'spec.scheduling.schedulingPolicy.gang.minCount',
        'must be a whole number, without quotes',
      ]),
    ],
  ],
  'one replicated job of a JobSet described in two places': [
    [
      jobSetOf('workers', gang()),
      refused(403, ['Forbidden', 'spec.replicatedJobs[1].template.spec.scheduling', 'keep one']),
    ],
    [jobSetOf('driver', gang()), accepted()],
  ],
}

describe('where Muster differs from Kubernetes 1.37', () => {
  it('is what docs/jobs.md says, row by row', () => {
    expect(Object.keys(DIFFERENCES)).toEqual(situations)
  })

  it.each(Object.entries(DIFFERENCES))('%s', (_situation, answers) => {
    for (const [verdict, answer] of answers) expect(verdict).toMatchObject(answer)
  })
})
