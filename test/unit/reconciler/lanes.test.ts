import { describe, expect, it } from 'vitest'
import { type Lane, Lanes } from '../../../src/reconciler/lanes.ts'

/** Work that ends when it is told to. */
function deferred() {
  let finish = () => {}
  const done = new Promise<void>(resolve => {
    finish = resolve
  })
  return { done, finish }
}

describe('the lanes of writes', () => {
  it('run so many at a time, the urgent ones first, and in order within a lane', async () => {
    const lanes = new Lanes(2)
    const started: string[] = []
    const jobs = new Map<string, ReturnType<typeof deferred>>()
    const submit = (name: string, lane: Lane) => {
      const job = deferred()
      jobs.set(name, job)
      return lanes.run(lane, () => {
        started.push(name)
        return job.done
      })
    }
    const all = [
      submit('a', 2),
      submit('b', 2),
      submit('clean-1', 2),
      submit('clean-2', 2),
      submit('lift-1', 0),
      submit('lift-2', 0),
    ]
    const next = async (name: string) => {
      jobs.get(name)?.finish()
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(started).toEqual(['a', 'b'])
    await next('a')
    await next('b')
    expect(started).toEqual(['a', 'b', 'lift-1', 'lift-2'])
    for (const name of ['lift-1', 'lift-2', 'clean-1', 'clean-2']) await next(name)
    expect(started.slice(4)).toEqual(['clean-1', 'clean-2'])
    await Promise.all(all)
  })

  it('give a place back when work fails', async () => {
    const lanes = new Lanes(1)
    await expect(lanes.run(1, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    await expect(lanes.run(1, () => Promise.resolve('yes'))).resolves.toBe('yes')
  })
})
