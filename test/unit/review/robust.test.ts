import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { Interrupted, listenForSignals } from '../../../src/cli/interruption.ts'
import { MAX_FILE_BYTES } from '../../../src/documents/limits.ts'
import { readSources } from '../../../src/documents/sources.ts'
import { file, folder, path, pod, review } from './fixtures.ts'

const program = fileURLToPath(new URL('../../../bin/muster.js', import.meta.url))
const PATIENCE = 120_000

function shell(script: string) {
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, MUSTER: `${process.execPath} ${program} review` },
  })
  return { status, stdout, stderr }
}

file('robust.json', pod({ name: 'robust' }))

describe('Ctrl-C', () => {
  it(
    'ends with what is known so far, one line and the code of the signal',
    async () => {
      const pods = Array.from({ length: 5_000 }, (_, index) => JSON.stringify(pod({ name: `p-${index}` }))).join('\n')
      const name = file('long.json', pods)
      const child = spawn(process.execPath, [program, 'review', name, '-o', 'json', '-o', 'sarif=long.sarif'], {
        cwd: folder,
      })
      const [first, errors]: [Buffer[], Buffer[]] = [[], []]
      child.stderr.on('data', chunk => errors.push(chunk))
      // Nobody reads on until the signal is sent, so that the rest is still to come.
      await once(child.stdout, 'readable')
      child.kill('SIGINT')
      child.stdout.on('data', chunk => first.push(chunk))
      const [code] = await once(child, 'close')
      const message = 'interrupted by SIGINT: not everything was reviewed'
      expect({ code, stderr: String(Buffer.concat(errors)) }).toEqual({ code: 130, stderr: `${name}: ${message}\n` })
      const { results, unreadable, counts } = JSON.parse(String(Buffer.concat(first)))
      expect(results.length).toBe(counts.objects)
      expect(counts.objects).toBeLessThan(5_000)
      expect(unreadable).toEqual([{ file: name, line: 0, column: 0, message }])
      // A report in a file is there when it is complete.
      expect(readdirSync(folder).filter(each => each.startsWith('long.sarif'))).toEqual([])
    },
    PATIENCE,
  )

  it(
    'ends a wait for input that does not come',
    async () => {
      const child = spawn(process.execPath, [program, 'review', '-'], { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] })
      let errors = ''
      child.stderr.on('data', chunk => {
        errors += chunk
      })
      // The handler is there when the kernel says that the signal is caught.
      while (!catchesHangup(child.pid)) await new Promise(resolve => setTimeout(resolve, 20))
      child.kill('SIGHUP')
      expect(await once(child, 'close')).toEqual([null, 'SIGHUP'])
      expect(errors).toBe('-: interrupted by SIGHUP: not everything was reviewed\n')
    },
    PATIENCE,
  )

  it('is heard by whoever pauses, and by nobody when the work is done', async () => {
    const before = process.listenerCount('SIGHUP')
    const { pause, stop } = listenForSignals(() => undefined)
    const work = (async () => {
      for (;;) await (pause() ?? new Promise(resolve => setImmediate(resolve)))
    })()
    process.emit('SIGHUP')
    await expect(work).rejects.toThrow(Interrupted)
    stop()
    expect(process.listenerCount('SIGHUP')).toBe(before)
  })

  it('is heard while inputs are surveyed, too', async () => {
    const stopped = review([path('robust.json')], {
      pause: () => {
        throw new Interrupted('SIGINT')
      },
    })
    await expect(stopped).rejects.toThrow('interrupted by SIGINT')
  })
})

describe('what has no end or no bottom gets one line, and the others are reviewed', () => {
  it('a device, a FIFO in a folder, a million brackets, Lists in Lists', () => {
    mkdirSync(path('odd'), { recursive: true })
    spawnSync('mkfifo', [path('odd/fifo.yaml')])
    file('odd/braces.yaml', `a: ${'{'.repeat(1_000_000)}`)
    file('odd/brackets.yaml', '['.repeat(1_000_000))
    file('odd/brackets.json', '['.repeat(1_000_000))
    const nested = Array.from({ length: 40 }).reduce<object>(
      inner => ({ apiVersion: 'v1', kind: 'List', items: [inner] }),
      pod(),
    )
    file('odd/lists.json', nested)
    const { status, stdout, stderr } = shell('$MUSTER odd /dev/zero robust.json')
    expect(status).toBe(2)
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^odd\/braces\.yaml:1:\d+: is nested deeper than 100 levels$/),
      'odd/brackets.json:1:101: is nested deeper than 100 levels',
      expect.stringMatching(/^odd\/brackets\.yaml:1:\d+: is nested deeper than 100 levels$/),
      'odd/fifo.yaml: is not a regular file: only those of a folder are read',
      'odd/lists.json:1:1: Lists are nested deeper than 10 levels',
      '/dev/zero: is a device, not a file',
      '',
    ])
    expect(stdout).toContain('1 object: 1 admitted, 0 denied; 6 unreadable\n')
  })

  it('a pipe of the shell is read, and no further than a file may go', async () => {
    expect(shell('$MUSTER <(cat robust.json) robust.json')).toMatchObject({ status: 0, stderr: '' })
    let chunks = 0
    async function* endless(): AsyncGenerator<Buffer> {
      for (const chunk = Buffer.alloc(1024 * 1024); ; chunks++) yield chunk
    }
    const read = []
    for await (const source of readSources(['-'], { stdin: endless(), stdinName: 'chart' })) read.push(source)
    expect(read).toEqual([{ file: 'chart', line: 0, column: 0, message: 'is larger than 64 MiB: split it' }])
    expect(chunks).toBe(MAX_FILE_BYTES / (1024 * 1024))
  })
})

describe('a report that cannot be written', () => {
  it('is no error when only its beginning is read', () => {
    expect(shell('set -o pipefail; $MUSTER robust.json -o json | head -c 5')).toEqual({
      status: 0,
      stdout: '{\n  "',
      stderr: '',
    })
  })

  it('is an error when the disk is full, printed or in a file, and leaves a device as it is', () => {
    expect(shell('$MUSTER robust.json > /dev/full')).toMatchObject({
      status: 3,
      stderr: 'muster review: standard output: cannot be written: no space is left on the disk\n',
    })
    expect(shell('$MUSTER robust.json -o json=/dev/full')).toMatchObject({
      status: 3,
      stderr: 'muster review: /dev/full: cannot be written: no space is left on the disk\n',
    })
    expect(statSync('/dev/full').isCharacterDevice()).toBe(true)
  })

  it('does not take the others with it', () => {
    expect(shell('$MUSTER robust.json -o table -o json=/dev/full -o junit=whole.xml')).toMatchObject({
      status: 3,
      stdout: expect.stringContaining('1 object: 1 admitted, 0 denied'),
      stderr: 'muster review: /dev/full: cannot be written: no space is left on the disk\n',
    })
    expect(readFileSync(path('whole.xml'), 'utf8')).toContain('</testsuites>')
  })

  it('leaves nothing behind, and two of them are not written to one file', () => {
    expect(shell('$MUSTER robust.json -o json=begun.json -o yaml=nowhere/x.yaml')).toMatchObject({
      status: 3,
      stderr: 'muster review: nowhere/x.yaml: cannot be written: there is no such folder\n',
    })
    expect(shell('$MUSTER robust.json -o json=same -o yaml=./same')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^muster review: --output: two reports cannot both be written to \S+same\n$/),
    })
    expect(readdirSync(folder).filter(each => /^(?:begun|same)/.test(each))).toEqual([])
  })

  it('goes where a link leads, and the link stays', () => {
    expect(shell('touch real.xml; ln -s real.xml link.xml; $MUSTER robust.json -o junit=link.xml').status).toBe(0)
    expect(lstatSync(path('link.xml')).isSymbolicLink()).toBe(true)
    expect(readFileSync(path('real.xml'), 'utf8')).toContain('</testsuites>')
  })
})

function catchesHangup(pid: number | undefined): boolean {
  const [, mask = '0'] = /SigCgt:\s+(\w+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (BigInt(`0x${mask}`) & 1n) === 1n
}
