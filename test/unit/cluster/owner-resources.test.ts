import { describe, expect, it } from 'vitest'
import { ownerResource } from '../../../src/cluster/owner-resources.ts'
import { frameworkOf, KNOWN_FRAMEWORKS } from '../../../src/kube/vocabulary/frameworks.ts'

describe('the resources behind the owner walk', () => {
  it.each(KNOWN_FRAMEWORKS.filter(name => name !== 'pod'))('have a place to be watched for %s', name => {
    const resource = ownerResource(name)
    expect(resource?.version).toMatch(/^v\d/)
    expect(frameworkOf({ apiVersion: `${resource?.group}/${resource?.version}`, kind: resource?.kind ?? '' })).toBe(
      name,
    )
  })

  it('leave pods, and names that nobody knows, to look-ups', () => {
    expect(ownerResource('pod')).toBeUndefined()
    expect(ownerResource('constructor')).toBeUndefined()
  })
})
