import { describe, expect, it } from 'vitest'
import {
  frameworkOf,
  isPassThrough,
  KNOWN_FRAMEWORKS,
  ownerResource,
  watchedOwners,
} from '../../../../src/kube/vocabulary/frameworks.ts'

describe('the resources behind the owner walk', () => {
  it.each(KNOWN_FRAMEWORKS.filter(name => name !== 'pod'))('have a place to be watched for %s', name => {
    const [resource] = watchedOwners([name])
    expect(resource?.version).toMatch(/^v\d/)
    expect(frameworkOf({ apiVersion: `${resource?.group}/${resource?.version}`, kind: resource?.kind ?? '' })).toBe(
      name,
    )
  })

  it('leave pods, and names that nobody knows, to look-ups', () => {
    expect(watchedOwners(['pod', 'constructor', 'acme.io/job'])).toEqual([])
  })

  it('have ReplicaSets among them where there are Deployments, and only there', () => {
    const kinds = (frameworks: readonly string[]) => watchedOwners(frameworks).map(({ kind }) => kind)
    expect(kinds(['statefulset', 'deployment'])).toEqual(['StatefulSet', 'Deployment', 'ReplicaSet'])
    expect(kinds(['statefulset'])).toEqual(['StatefulSet'])
    expect(isPassThrough({ apiVersion: 'apps/v1beta2', kind: 'ReplicaSet' })).toBe(true)
    expect(isPassThrough({ apiVersion: 'acme.io/v1', kind: 'ReplicaSet' })).toBe(false)
  })

  it('are looked up in the version that a reference names', () => {
    expect(ownerResource({ apiVersion: 'v1', kind: 'Pod' })).toMatchObject({ group: '', version: 'v1', plural: 'pods' })
    expect(ownerResource({ apiVersion: 'ray.io/v1alpha1', kind: 'RayJob' })).toEqual({
      group: 'ray.io',
      version: 'v1alpha1',
      plural: 'rayjobs',
      kind: 'RayJob',
      namespaced: true,
    })
  })

  it('belong to nobody where a reference is none', () => {
    expect(frameworkOf({ apiVersion: 7 as unknown as string, kind: 'Pod' })).toBeUndefined()
    expect(isPassThrough({ apiVersion: undefined as unknown as string, kind: 'ReplicaSet' })).toBe(false)
  })
})
