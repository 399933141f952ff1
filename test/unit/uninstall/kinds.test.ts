import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { customKind, NARROW_KINDS, WIDE_KINDS } from '../../../src/uninstall/kinds.ts'
import { PHASES } from '../../../src/uninstall/steps.ts'
import { root } from '../manifests/read.ts'

/** In every folder that somebody can apply; the namespace is dealt with by itself. */
const OTHERWISE = ['Namespace', 'Kustomization']
const CUSTOM = ['Issuer', 'Certificate', 'PodMonitor', 'PrometheusRule'].map(kind => {
  const group = ['Issuer', 'Certificate'].includes(kind) ? 'cert-manager.io' : 'monitoring.coreos.com'
  return customKind({ group, version: 'v1', plural: `${kind.toLowerCase()}s`, kind, namespaced: true })
})

it('knows every object of the manifests by its kind and name', () => {
  const folder = join(root, 'manifests')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.yaml'))
  const objects = files
    .flatMap(file => parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map(each => each.toJS() as KubeObject))
    .filter(({ kind }) => kind !== undefined && !OTHERWISE.includes(kind))
  expect(objects.length).toBeGreaterThan(50)
  const isKnown = ({ kind, metadata }: KubeObject): boolean =>
    [...WIDE_KINDS, ...NARROW_KINDS, ...CUSTOM].some(
      each => each.resource.kind === kind && each.names.includes(metadata.name ?? ''),
    )
  expect(objects.filter(object => !isKnown(object)).map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([])
})

it('says in docs/uninstall.md what each phase is about', () => {
  const page = readFileSync(join(root, 'docs/uninstall.md'), 'utf8')
  for (const name of Object.keys(PHASES)) expect(page).toContain(`| \`${name}\` |`)
})
