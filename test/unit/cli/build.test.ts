import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'

const program = fileURLToPath(new URL('../../../bin/muster.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'muster-build-'))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string, text: string): void => writeFileSync(join(folder, name), text)

/** The real command in a process of its own, in the folder with the files of the test. */
function muster(args: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'build', ...args], {
    cwd: folder,
    input,
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
  return { status, stdout, stderr }
}

const documents = (text: string): readonly Record<string, unknown>[] =>
  [...parseAllDocuments(text)].map(document => document.toJS())

file(
  'train.yaml',
  `apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  parallelism: 4
  scheduling:
    schedulingPolicy:
      gang: {}
  template:
    spec:
      containers: []
`,
)
file(
  'wrong.yaml',
  `# A comment before it.
apiVersion: batch/v1
kind: Job
metadata:
  name: wrong
spec:
  scheduling:
    policy:
      gang:
        minCount: 2
  template: {spec: {containers: []}}
`,
)
file('pod.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n')
file(
  'jobset.yaml',
  `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js}
spec:
  replicatedJobs:
    - name: workers
      replicas: 2
      template: {spec: {template: {spec: {containers: []}}}}
`,
)

describe('muster build', () => {
  it('prints the Workload and the PodGroup as YAML that kubectl takes', () => {
    const { status, stdout, stderr } = muster(['-f', 'train.yaml'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(documents(stdout)).toMatchObject([
      {
        apiVersion: 'scheduling.k8s.io/v1beta1',
        kind: 'Workload',
        metadata: { name: 'train-587798f5c5' },
        spec: { podGroupTemplates: [{ name: 'train-pgt-0', schedulingPolicy: { gang: { minCount: 4 } } }] },
      },
      {
        apiVersion: 'scheduling.k8s.io/v1beta1',
        kind: 'PodGroup',
        metadata: { name: 'train-587798f5c5-train-pgt-0-68d5f9f49b' },
        spec: { workloadRef: { workloadName: 'train-587798f5c5', templateName: 'train-pgt-0' } },
      },
    ])
  })

  it('takes the uid, the version and the format, and reads standard input', () => {
    const args = ['-', '--uid', 'uid-123', '--kubernetes-version', '1.36', '-o', 'json']
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'my-job' } }
    const spec = { completionMode: 'Indexed', completions: 2, parallelism: 2 }
    const { status, stdout } = muster(args, JSON.stringify({ ...job, spec }))
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      apiVersion: 'v1',
      kind: 'List',
      items: [
        { apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'Workload', metadata: { name: 'my-job-795ddf89fd' } },
        {
          apiVersion: 'scheduling.k8s.io/v1alpha2',
          kind: 'PodGroup',
          metadata: { name: 'my-job-795ddf89fd-my-job-pgt-0-74cffdfb57' },
          spec: {
            podGroupTemplateRef: {
              workload: { workloadName: 'my-job-795ddf89fd', podGroupTemplateName: 'my-job-pgt-0' },
            },
          },
        },
      ],
    })
  })

  it('prints the groups of a JobSet, parents first', () => {
    const { status, stdout } = muster(['jobset.yaml'])
    expect(status).toBe(0)
    expect(documents(stdout).map(({ kind }) => kind)).toEqual(['Workload', 'CompositePodGroup', 'PodGroup'])
  })

  it('says what 1.36 cannot say', () => {
    const { status, stdout, stderr } = muster(['jobset.yaml', '--kubernetes-version', '1.36'])
    expect(status).toBe(0)
    expect(documents(stdout).map(({ kind }) => kind)).toEqual(['Workload', 'PodGroup'])
    expect(stderr).toBe(
      'jobset.yaml:1:1: JobSet js: note: Kubernetes 1.36 has no groups of groups: "js-cpgt-0" is left out, ' +
        'so its gang of 1 group cannot be asked for\n',
    )
  })

  it('reports what is wrong with its place, builds the rest and ends with 1', () => {
    const { status, stdout, stderr } = muster(['wrong.yaml', 'train.yaml'])
    expect(status).toBe(1)
    expect(stderr).toBe(
      'wrong.yaml:2:1: Job wrong: spec.scheduling.policy.gang.minCount: Invalid value: 2: ' +
        'must not be greater than parallelism (1)\n',
    )
    expect(documents(stdout)).toHaveLength(2)
  })

  it('passes over what makes no pods by itself, and says why a CronJob gets nothing', () => {
    const cronJob = { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'nightly' } }
    const { status, stdout, stderr } = muster(['pod.yaml', '-'], JSON.stringify(cronJob))
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
    expect(stderr).toMatch(/^-:1:1: CronJob nightly: note: its Jobs have it as their controller/)
  })

  it('finds the Workload of a parent in its input', () => {
    const workload = {
      apiVersion: 'scheduling.k8s.io/v1beta1',
      kind: 'Workload',
      metadata: { name: 'js-wl' },
      spec: {
        controllerRef: { apiGroup: 'jobset.x-k8s.io', kind: 'JobSet', name: 'js' },
        podGroupTemplates: [{ name: 'workers', schedulingPolicy: { gang: { minCount: 3 } } }],
      },
    }
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: 'js-workers-0',
        annotations: { 'scheduling.k8s.io/group-template-name': 'workers' },
        ownerReferences: [
          { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'js', uid: 'u', controller: true },
        ],
      },
      spec: { template: { spec: { containers: [] } } },
    }
    const { status, stdout } = muster(['-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [job, workload] }))
    expect(status).toBe(0)
    expect(documents(stdout)).toMatchObject([
      {
        kind: 'PodGroup',
        spec: { schedulingPolicy: { gang: { minCount: 3 } }, workloadRef: { workloadName: 'js-wl' } },
      },
    ])
  })

  it.each<readonly [string, readonly string[], string, RegExp]>([
    ['no file', [], '', /^muster build: nothing to build: name a file/],
    ['a version that is none', ['train.yaml', '--kubernetes-version', '1.35'], '', /"1\.35" is none of 1\.36, 1\.37/],
    ['a file that is not there', ['gone.yaml'], '', /^gone\.yaml: cannot be read/],
    ['YAML that is none', ['-'], 'kind: Job\nkind: Job\n', /^-:2:1: the key "kind" is there twice/],
    ['a text instead of an object', ['-'], '"Job"', /^-:1:1: is no object/],
    ['nothing that makes pods', ['pod.yaml'], '', /^pod\.yaml: nothing to build: there is no Job and no JobSet/],
  ])('ends with 2 when it is given %s', (_what, args, input, message) => {
    const { status, stdout, stderr } = muster(args, input)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })
})
