import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readSources, type SourceOptions } from '../../../src/documents/sources.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-sources-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, text = 'a: 1\n'): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

async function* nothing(): AsyncGenerator<Buffer> {}

/** The files that were read, or what was wrong with them, below the folder of the test. */
async function found(names: readonly string[], options: Partial<SourceOptions> = {}): Promise<readonly string[]> {
  const all: string[] = []
  for await (const source of readSources(names, { stdin: nothing(), ...options })) {
    const name = source.file.replace(`${folder}/`, '')
    all.push('message' in source ? `${name}: ${source.message.replaceAll(`${folder}/`, '')}` : name)
  }
  return all
}

describe('a folder', () => {
  write('tree/b.yaml')
  write('tree/a/x.yml')
  write('tree/a/x.txt')
  write('tree/.git/hooks.yaml')
  write('tree/web/node_modules/p/package.json', '{}')
  write('tree/charts/c.json', '{}')
  symlinkSync(join(folder, 'tree'), join(folder, 'tree/a/loop'))
  symlinkSync(join(folder, 'gone.yaml'), join(folder, 'tree/dangling.yaml'))

  it('is read to the bottom, without the files of git and of npm', async () => {
    expect(await found([join(folder, 'tree')])).toEqual([
      'tree/a/x.yml',
      'tree/b.yaml',
      'tree/charts/c.json',
      'tree/dangling.yaml: cannot be read: there is no such file or folder',
    ])
  })

  it('is read without what is ignored: names at every depth, paths from the folder', async () => {
    const ignoring = (...ignore: readonly string[]) => found([join(folder, 'tree')], { ignore })
    expect(await ignoring('*.yml', 'charts', 'dangling.yaml')).toEqual(['tree/b.yaml'])
    expect(await ignoring('a/*', './b.yaml', 'charts/', 'dangling*')).toEqual([
      'tree: the folder holds no .yaml, .yml or .json file',
    ])
  })

  it('is read without what is no regular file, and says so', async () => {
    write('pipes/a.yaml')
    execFileSync('mkfifo', [join(folder, 'pipes/b.yaml')])
    expect(await found([join(folder, 'pipes')])).toEqual([
      'pipes/a.yaml',
      'pipes/b.yaml: is not a regular file: only those of a folder are read',
    ])
  })

  it('with a Helm chart in it tells how to render the chart, once', async () => {
    write('app/Chart.yaml', 'name: app\n')
    write('app/templates/pod.yaml', 'name: {{ .Values.name }}\n')
    write('app/templates/deep/job.yaml', '{{- if .Values.job }}\na: 1\n{{- end }}\n')
    write('app/templates/plain.yaml')
    expect(await found([join(folder, 'app')])).toEqual([
      'app/Chart.yaml',
      'app/templates: is a Helm template, no manifest: review what it renders to, helm template app | muster review -',
      'app/templates/plain.yaml',
    ])
  })
})

describe('a name', () => {
  it('of a device or a socket is refused before a byte is read', async () => {
    expect(await found(['/dev/zero'])).toEqual(['/dev/zero: is a device, not a file'])
  })

  it('of a pipe is read up to the limit, and only once', async () => {
    const pipe = join(folder, 'named')
    execFileSync('mkfifo', [pipe])
    const writer = execFileSync('sh', ['-c', `(printf 'a: 1' > ${pipe}) >/dev/null 2>&1 & echo ok`], {
      encoding: 'utf8',
    })
    expect(writer).toBe('ok\n')
    const kept = new Map()
    expect(await found([pipe], { kept })).toEqual(['named'])
    expect(await found([pipe], { kept })).toEqual(['named'])
    execFileSync('sh', ['-c', `(head -c 100000000 /dev/zero > ${pipe}) >/dev/null 2>&1 &`])
    expect(await found([pipe])).toEqual(['named: is larger than 64 MiB: split it'])
  })
})

describe('standard input', () => {
  const stdin = {
    async *[Symbol.asyncIterator]() {
      yield 'a: 1\n'
    },
  }

  it('may have a name', async () => {
    expect(await found(['-'], { stdin })).toEqual(['-'])
    expect(await found(['-'], { stdin, stdinName: 'chart.yaml' })).toEqual(['chart.yaml'])
  })

  it('has a limit, too', async () => {
    const endless = {
      async *[Symbol.asyncIterator]() {
        for (;;) yield Buffer.alloc(16 * 1024 * 1024)
      },
    }
    expect(await found(['-'], { stdin: endless })).toEqual(['-: is larger than 64 MiB: split it'])
  })
})
