import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { writeChart } from '../../scripts/chart.ts'
import { ensurePrograms, type Programs } from './programs/build.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'muster-chart-'))
const chart = join(folder, 'chart')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let programs: Programs<'helm' | 'kubectl'>
beforeAll(async () => {
  programs = await ensurePrograms(['helm', 'kubectl'])
  writeChart(chart)
})

function run(program: string, args: readonly string[]) {
  const env = { PATH: process.env.PATH, HOME: folder }
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8', env })
  return { status, stdout, stderr }
}

function helm(values: object) {
  writeFileSync(join(folder, 'values.yaml'), stringify(values))
  return run(programs.helm, [
    'template',
    'muster',
    chart,
    '--kube-version',
    '1.37.1',
    '-f',
    join(folder, 'values.yaml'),
  ])
}

interface Rendered {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly data?: Readonly<Record<string, string>>
}

/** Objects by kind and name. The configuration counts by what it says and not by how it is written. */
function objects({ status, stdout, stderr }: ReturnType<typeof run>): Readonly<Record<string, unknown>> {
  expect(status, stderr).toBe(0)
  const all = parseAllDocuments(stdout).map(document => document.toJS() as Rendered | null)
  const present = all.filter(object => object !== null)
  const entries = present.map(object => {
    const { kind, metadata, data } = object
    const file = data?.['config.yaml']
    const read = file === undefined ? object : { ...object, data: { 'config.yaml': parse(file) } }
    return [`${kind} ${metadata.name}`, read] as const
  })
  expect(new Set(entries.map(([name]) => name)).size).toBe(entries.length)
  return Object.fromEntries(entries)
}

const kustomize = (path: string) => objects(run(programs.kubectl, ['kustomize', path]))

const DEFAULT_SELECTOR = {
  key: 'kubernetes.io/metadata.name',
  operator: 'NotIn',
  values: ['kube-system', 'muster-system'],
}
const OWN_SELECTOR = { key: 'muster.dev/all-pods', operator: 'In', values: ['true'] }
const selecting = {
  integrations: { podOptions: { namespaceSelector: { matchExpressions: [DEFAULT_SELECTOR, OWN_SELECTOR] } } },
}

describe('the Helm chart', () => {
  it('is, with its own values, object for object what manifests/ are', () => {
    const wanted = kustomize('manifests')
    expect(Object.keys(wanted).length).toBeGreaterThan(40)
    expect(objects(helm({}))).toEqual(wanted)
  })

  it('is the overlay of cert-manager when cert-manager is switched on', () => {
    expect(objects(helm({ certManager: true }))).toEqual(kustomize('manifests/overlays/cert-manager'))
  })

  it('is the overlay of Kueue when Kueue is the engine', () => {
    expect(objects(helm({ configuration: { engine: 'kueue' } }))).toEqual(kustomize('manifests/overlays/kueue'))
  })

  it('is the overlay for all pods when all pods are to wait, with the selector of the configuration', () => {
    cpSync(join(root, 'manifests'), join(folder, 'manifests'), { recursive: true })
    const overlay = join(folder, 'manifests/overlays/all-pods')
    cpSync(join(overlay, 'namespace-selector.example.yaml'), join(overlay, 'namespace-selector.yaml'))
    const { 'ConfigMap muster': configMap, ...made } = objects(helm({ allPods: true, configuration: selecting }))
    const { 'ConfigMap muster': _defaults, ...wanted } = kustomize(overlay)
    expect(made).toEqual(wanted)
    expect(configMap).toMatchObject({ data: { 'config.yaml': selecting } })
  })

  it('refuses to have all pods wait without a selector', () => {
    const { status, stderr } = helm({ allPods: true })
    expect(status).toBe(1)
    expect(stderr).toContain('Say in configuration.integrations.podOptions.namespaceSelector which ones these are')
  })

  it('brings what manifests/observability are, when they are switched on', () => {
    const wanted = { ...kustomize('manifests'), ...kustomize('manifests/observability') }
    expect(objects(helm({ observability: true }))).toEqual(wanted)
  })

  it('has all switches on at once', () => {
    const values = {
      certManager: true,
      observability: true,
      allPods: true,
      configuration: { engine: 'kueue', ...selecting },
    }
    const made = Object.keys(objects(helm(values)))
    const wanted = ['cert-manager', 'kueue'].flatMap(name => Object.keys(kustomize(`manifests/overlays/${name}`)))
    expect(new Set(made)).toEqual(new Set([...wanted, ...Object.keys(kustomize('manifests/observability'))]))
  })

  it('takes the image by digest, the replicas and the resources', () => {
    const digest = `sha256:${'0123456789abcdef'.repeat(4)}`
    const resources = { limits: { memory: '1Gi' } }
    const made = objects(helm({ image: { repository: 'registry.example/muster', digest }, replicas: 3, resources }))
    expect(made['Deployment muster']).toMatchObject({
      spec: {
        replicas: 3,
        template: {
          spec: {
            containers: [
              {
                image: `registry.example/muster@${digest}`,
                resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '1Gi' } },
              },
            ],
          },
        },
      },
    })
  })

  it('leaves a Namespace alone that is there already', () => {
    expect(Object.keys(objects(helm({ createNamespace: false })))).not.toContain('Namespace muster-system')
  })

  it('lists the status writers of the configuration in the policy, too', () => {
    const statusWriters = ['kwok', 'system:serviceaccount:virtual:kubelet']
    const made = objects(helm({ configuration: { guard: { statusWriters } } }))
    const expression = '!(request.userInfo.username in ["kwok","system:serviceaccount:virtual:kubelet"])'
    expect(made['ValidatingAdmissionPolicy muster-pod-status']).toMatchObject({
      spec: { matchConditions: expect.arrayContaining([{ name: 'not-a-status-writer', expression }]) },
    })
  })

  it.each([
    ['a misspelt key of the configuration', { configuration: { unlistedQueue: 'refuse' } }, 'unlistedQueue'],
    ['a misspelt value', { replica: 3 }, 'replica'],
    ['a wrong engine', { configuration: { engine: 'volcano' } }, 'engine'],
  ])('refuses %s', (_what, values, name) => {
    const { status, stderr } = helm(values)
    expect(status).toBe(1)
    expect(stderr).toContain(name)
  })
})
