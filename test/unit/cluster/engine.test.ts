import { describe, expect, it } from 'vitest'
import { builtinFor } from '../../../src/cluster/engine.ts'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { localWorld } from '../../../src/webhooks/local-world.ts'

describe('what the engine holds', () => {
  it('is the same for a review without a cluster', () => {
    expect(localWorld(DEFAULT_CONFIGURATION).holds).toEqual(builtinFor(DEFAULT_CONFIGURATION).holds)
  })
})
