import { describe, expect, it } from 'vitest'
import { Tenure } from '../../../src/reconciler/tenure.ts'

describe('a time as leader', () => {
  it('begins when the caches have been read again', async () => {
    const tenure = new Tenure(() => true)
    expect([tenure.begun, tenure.leads(tenure.turn)]).toEqual([false, false])
    const { promise, resolve } = Promise.withResolvers<void>()
    const begun = tenure.begin(() => promise)
    expect(tenure.leads(tenure.turn)).toBe(false)
    resolve()
    expect([await begun, tenure.begun, tenure.leads(tenure.turn)]).toEqual([true, true, true])
  })

  it('does not begin when it ended while they were read', async () => {
    const tenure = new Tenure(() => true)
    const begun = tenure.begin(async () => tenure.end())
    expect([await begun, tenure.begun]).toEqual([false, false])
  })

  it('does nothing that was decided in an earlier one, nor what another leads', async () => {
    let leader = true
    const tenure = new Tenure(() => leader)
    await tenure.begin(async () => {})
    const { turn } = tenure
    await tenure.begin(async () => {})
    expect([tenure.leads(turn), tenure.leads(tenure.turn)]).toEqual([false, true])
    leader = false
    expect(tenure.leads(tenure.turn)).toBe(false)
  })
})
