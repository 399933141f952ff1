import { afterEach, describe, expect, it, vi } from 'vitest'
import { interrupted, waitForStop } from '../../../src/cli/interruption.ts'

describe('one Ctrl-C that comes more than once, from the terminal, from npm and from the launcher', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  /** As the signal would, without one that reaches the test runner. */
  function press(signal: 'SIGINT' | 'SIGTERM', at: number): void {
    vi.spyOn(performance, 'now').mockReturnValue(at)
    process.emit(signal, signal)
  }

  it('lets a server end in order, and only who presses again is impatient', async () => {
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never)
    const { first, stopping } = waitForStop()
    press('SIGINT', 1_000)
    press('SIGINT', 1_002)
    press('SIGTERM', 1_040)
    expect(await first).toBe('SIGINT')
    expect(stopping.aborted).toBe(true)
    expect(exit).not.toHaveBeenCalled()
    press('SIGINT', 2_000)
    expect(exit).toHaveBeenCalledWith(3)
  })

  it('lets a command that follows a cluster end in order, and a second one ends it as if nobody listened', () => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    const before = process.listenerCount('SIGINT')
    const stopping = interrupted()
    press('SIGINT', 1_000)
    press('SIGINT', 1_010)
    expect(stopping.aborted).toBe(true)
    expect(process.listenerCount('SIGINT')).toBe(before + 1)
    press('SIGINT', 2_000)
    expect(process.listenerCount('SIGINT')).toBe(before)
    expect(kill).toHaveBeenCalledWith(process.pid, 'SIGINT')
  })
})
