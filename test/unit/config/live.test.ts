import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { KEYS_AT_START, LiveConfiguration, takenOver } from '../../../src/config/live.ts'
import { loadConfiguration } from '../../../src/config/load.ts'
import { type ConfigurationChange, watchConfiguration } from '../../../src/config/watch.ts'
import { recordingLog } from '../../support/logs.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const HEAD = 'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\n'
const withPods = (pods: number): string => `${HEAD}queues: [{name: team-a, limits: {pods: ${pods}}}]\n`

describe('a changed configuration', () => {
  it('is taken over but for the keys that take a restart, which are named', () => {
    const next: Configuration = {
      ...DEFAULT_CONFIGURATION,
      engine: 'kueue',
      unlistedQueues: 'refuse',
      integrations: { ...DEFAULT_CONFIGURATION.integrations, frameworks: ['pod'] },
      coScheduling: {
        ...DEFAULT_CONFIGURATION.coScheduling,
        backend: 'kai',
        jobs: 'never',
        kai: { schedulerName: 'other', naming: 'hashed' },
      },
    }
    const { config, kept } = takenOver(next, DEFAULT_CONFIGURATION)
    expect(kept).toEqual(KEYS_AT_START)
    expect(config).toMatchObject({ engine: 'builtin', unlistedQueues: 'refuse' })
    expect(config.integrations.frameworks).toEqual(DEFAULT_CONFIGURATION.integrations.frameworks)
    expect(config.coScheduling).toMatchObject({
      backend: 'auto',
      jobs: 'never',
      kai: { schedulerName: 'other', naming: 'plain' },
    })
    expect(takenOver(DEFAULT_CONFIGURATION, DEFAULT_CONFIGURATION)).toEqual({ config: DEFAULT_CONFIGURATION, kept: [] })
  })

  it('is there for whoever asks before anybody is told', () => {
    const live = new LiveConfiguration(DEFAULT_CONFIGURATION)
    const next: Configuration = { ...DEFAULT_CONFIGURATION, unlistedQueues: 'refuse' }
    const told: unknown[] = []
    live.onChange((now, before) => told.push([now === live.current, before === DEFAULT_CONFIGURATION]))
    live.replace(next)
    expect(live.current).toBe(next)
    expect(told).toEqual([[true, true]])
  })
})

describe('the configuration file', () => {
  let folder: string
  let file: string
  let live: LiveConfiguration
  let clock: ManualClock
  let stop: () => void
  let changes: ConfigurationChange[]
  let log: ReturnType<typeof recordingLog>

  beforeEach(async () => {
    // As the kubelet mounts a ConfigMap: the file is a link through ..data, which is swapped as a whole.
    folder = await mkdtemp(join(tmpdir(), 'muster-config-'))
    file = join(folder, 'config.yaml')
    await mount('1', withPods(1))
    await symlink('..data/config.yaml', file)
    live = new LiveConfiguration(loadConfiguration(file))
    clock = new ManualClock()
    log = recordingLog()
    changes = []
    stop = watchConfiguration({ file, live, clock, log, onChange: change => changes.push(change), intervalMs: 1000 })
    await look()
  })

  afterEach(async () => {
    stop()
    await rm(folder, { recursive: true })
  })

  async function mount(version: string, text: string): Promise<void> {
    await mkdir(join(folder, `..${version}`))
    await writeFile(join(folder, `..${version}`, 'config.yaml'), text)
    await symlink(`..${version}`, join(folder, '..next'))
    await rename(join(folder, '..next'), join(folder, '..data'))
  }

  /** Reading a file takes its own time: the next look is due only when this one is over. */
  async function look(): Promise<void> {
    await clock.advance(1000)
    while (clock.pending === 0) await clock.advance(0)
  }

  const pods = () => live.current.queues[0]?.limits.pods

  it('is not taken for changed when it is as it was, comments aside', async () => {
    await mount('2', `# the same\n${withPods(1)}`)
    await look()
    expect(changes).toEqual([])
    expect(log.lines).toEqual([])
  })

  it('is taken over when the mount is swapped', async () => {
    await mount('2', withPods(2))
    await look()
    expect(pods()).toBe(2)
    expect(changes).toEqual([{ result: 'taken' }])
  })

  it('is refused with line and column when it is wrong, once, and the old one stays in force', async () => {
    await mount('2', `${HEAD}queues:\n  - name: team-a\n    limit: {pods: 2}\n`)
    await look()
    await look()
    expect(pods()).toBe(1)
    expect(changes).toEqual([{ result: 'refused', errors: expect.stringMatching(/config\.yaml:5:\d+/) }])
    expect(log.lines).toMatchObject([{ level: 'error', fields: { errors: expect.stringContaining('limit') } }])
    await mount('3', withPods(3))
    await look()
    expect(pods()).toBe(3)
  })

  it('is refused when it is gone or is no text, and taken again when it is back', async () => {
    await rm(join(folder, '..data'))
    await look()
    expect(changes).toMatchObject([{ result: 'refused', errors: expect.stringContaining('there is no such file') }])
    await mount('2', withPods(2))
    await look()
    await writeFile(join(folder, '..2', 'config.yaml'), Buffer.from([0xff, 0xfe]))
    await look()
    expect(changes.map(({ result }) => result)).toEqual(['refused', 'taken', 'refused'])
    expect(pods()).toBe(2)
  })

  it('says which keys take a restart, and takes the rest', async () => {
    await mount('2', `${withPods(4)}engine: kueue\n`)
    await look()
    expect(pods()).toBe(4)
    expect(live.current.engine).toBe('builtin')
    expect(changes).toEqual([{ result: 'partly', kept: ['engine'] }])
  })

  it('is not looked at any more after the end', () => {
    stop()
    expect(clock.pending).toBe(0)
  })
})
