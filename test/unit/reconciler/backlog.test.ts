import { describe, expect, it } from 'vitest'
import { Backlog } from '../../../src/reconciler/backlog.ts'

describe('what a new leader has not looked at yet', () => {
  it('holds up every queue until all of it was looked at once', () => {
    const backlog = new Backlog()
    backlog.begin(['job/ml/a', 'job/ml/b'])
    expect(backlog.holdsUp('queue/team-a')).toBe(true)
    expect(backlog.holdsUp('queue/team-b')).toBe(true)
    expect(backlog.looked('job/ml/a')).toEqual([])
    expect(backlog.holdsUp('queue/team-a')).toBe(true)
    expect(backlog.looked('job/ml/b')).toEqual(['queue/team-a', 'queue/team-b'])
    expect(backlog.holdsUp('queue/team-a')).toBe(false)
  })

  it('is not added to by what comes later, and names each queue once', () => {
    const backlog = new Backlog()
    backlog.begin(['job/ml/a'])
    backlog.holdsUp('queue/team-a')
    expect(backlog.looked('job/ml/new')).toEqual([])
    expect(backlog.looked('job/ml/a')).toEqual(['queue/team-a'])
    expect(backlog.looked('job/ml/a')).toEqual([])
  })

  it('is forgotten with the leadership', () => {
    const backlog = new Backlog()
    backlog.begin(['job/ml/a'])
    backlog.holdsUp('queue/team-a')
    backlog.end()
    expect(backlog.holdsUp('queue/team-a')).toBe(false)
    expect(backlog.looked('job/ml/a')).toEqual([])
  })
})
