import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments, parse as parseYaml } from 'yaml'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { parseConfiguration } from '../../../src/config/load.ts'
import { OFFLINE_IDENTITY, SYSTEM_NAMESPACE } from '../../../src/kube/vocabulary/names.ts'
import { SERVING_NAMES } from '../../../src/tls/authority.ts'
import { recordIn, TLS_SECRET } from '../../../src/tls/secret.ts'
import { named, root } from './read.ts'

describe('the overlay for cert-manager', () => {
  const folder = join(root, 'manifests/overlays/cert-manager')
  const objects = parseAllDocuments(readFileSync(join(folder, 'certificates.yaml'), 'utf8')).map(document =>
    document.toJS(),
  )

  it('has it write the Secret that Muster serves, under every name by which Muster is called, as not Muster’s', () => {
    const serving = objects.find(({ metadata }) => metadata.name === TLS_SECRET)
    expect(serving).toMatchObject({ kind: 'Certificate', metadata: { namespace: SYSTEM_NAMESPACE } })
    const { secretName, secretTemplate, dnsNames, ipAddresses } = serving.spec
    expect(secretName).toBe(TLS_SECRET)
    expect([...dnsNames, ...ipAddresses].sort()).toEqual([...SERVING_NAMES].sort())
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: TLS_SECRET, ...secretTemplate } }
    expect(recordIn(secret).ours).toBe(false)
  })

  it('leaves Muster no right to write a Secret', () => {
    const { patches } = parseYaml(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'))
    expect(patches[0].target).toEqual({ kind: 'Role', name: 'muster' })
    const [first, verbs, second, remove] = parseYaml(patches[0].patch)
    const { rules } = named('Role', 'muster')
    expect([first.value, second.value]).toEqual([rules[0].resources, rules[1]])
    expect(verbs).toEqual({ op: 'replace', path: '/rules/0/verbs', value: ['get', 'list', 'watch'] })
    expect(remove).toEqual({ op: 'remove', path: '/rules/1' })
  })
})

describe('the overlay for Kueue', () => {
  const folder = join(root, 'manifests/overlays/kueue')
  const objectsIn = (file: string) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map(document => document.toJS())

  it('has every file of its folder', () => {
    const { resources, patches } = parseYaml(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'))
    const files = patches.flatMap(({ path }: { path?: string }) => path ?? [])
    const named = [...resources, ...files, 'kustomization.yaml']
    expect(readdirSync(folder).sort()).toEqual(named.filter(file => file !== '../../base').sort())
  })

  it('lets the account add what admission checks want with the lift, in the rules that it means', () => {
    const { patches } = parseYaml(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'))
    const { validations } = named('ValidatingAdmissionPolicy', 'muster-account-pods').spec
    const operations: { op: string; path: string; value: { expression: string } }[] = parseYaml(patches[1].patch)
    const tested = operations.filter(({ op }) => op === 'test')
    expect(tested).toHaveLength(3)
    expect(validations[1].message).toBe(tested[0]?.value)
    for (const { path, value } of tested.slice(1)) {
      const [, index = ''] = /validations\/(\d)\/message/.exec(path) ?? []
      expect(validations[Number(index)].message).toBe(value)
      const replaced = operations.find(({ op, path }) => op === 'replace' && path === `/spec/validations/${index}`)
      const map = /metadata\.\?(labels|annotations)/.exec(validations[Number(index)].expression)?.[1]
      const added = `(variables.lifts && !(key in oldObject.metadata.?${map}.orValue({}))) || `
      // Nothing else has changed.
      expect(replaced?.value.expression.replace(added, '')).toBe(validations[Number(index)].expression)
    }
  })

  it('changes nothing of the defaults but the engine', () => {
    const [{ metadata, data }] = objectsIn('configmap.yaml')
    expect(metadata).toEqual(named('ConfigMap', 'muster').metadata)
    expect(parseConfiguration(data['config.yaml'], 'config.yaml')).toEqual({
      configuration: { ...DEFAULT_CONFIGURATION, engine: 'kueue' },
      warnings: [],
    })
  })

  it('gives rights on Workloads of Kueue, reads what it needs by name, and nothing more', () => {
    const [{ rules }, binding] = objectsIn('rbac.yaml')
    expect(JSON.stringify(rules)).not.toContain('*')
    expect(binding.subjects).toEqual([{ kind: 'ServiceAccount', name: 'muster', namespace: SYSTEM_NAMESPACE }])
    const elsewhere = rules.filter(({ apiGroups }: { apiGroups: string[] }) => apiGroups[0] !== 'kueue.x-k8s.io')
    for (const { resources, resourceNames, verbs } of elsewhere) {
      if (resources[0] === 'pods/status') expect(verbs).toEqual(['patch'])
      else expect([resourceNames.length, verbs]).toEqual([1, ['get']])
    }
  })

  it('holds the account to Workloads of pods, and lets it give no quota', () => {
    const [policy, binding] = objectsIn('policy-account.yaml')
    expect(binding.spec).toEqual({ policyName: policy.metadata.name, validationActions: ['Deny'] })
    expect(policy.spec.failurePolicy).toBe('Fail')
    expect(policy.spec.matchConditions[0].expression).toBe(`request.userInfo.username == '${OFFLINE_IDENTITY}'`)
    const { resources, apiVersions } = policy.spec.matchConstraints.resourceRules[0]
    expect([resources, apiVersions]).toEqual([
      ['workloads', 'workloads/status'],
      ['v1beta1', 'v1beta2'],
    ])
    expect(JSON.stringify(policy.spec.validations)).toContain('gives none')
  })
})
