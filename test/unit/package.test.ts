import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXAMPLES, objectsFor } from '../../examples/workloadbuilder.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const manifest = JSON.parse(read('package.json'))

/** What the image gets: the compiled code and the production dependencies of the lock file, in an empty folder. */
const image = mkdtempSync(join(tmpdir(), 'muster-image-'))
afterAll(() => rmSync(image, { recursive: true, force: true }))

describe('the Dockerfile', () => {
  const dockerfile = read('Dockerfile')
  const stages = dockerfile.split(/^FROM /m).slice(1)
  const copies = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].map(([, words = '']) => words.split(' '))
  const allowed = read('.dockerignore')
    .split('\n')
    .filter(line => line.startsWith('!'))
    .map(line => line.slice(1))

  it('copies only what exists and what .dockerignore lets through', () => {
    const sources = copies.flatMap(words => words.slice(0, -1))
    expect(sources.length).toBeGreaterThan(0)
    for (const source of sources) {
      expect(existsSync(join(root, source)), source).toBe(true)
      expect(allowed, source).toContain(source.split('/')[0])
    }
  })

  it('takes from other stages only what they make', () => {
    const taken = [...dockerfile.matchAll(/^COPY --from=(\w+) (\S+) (\S+)$/gm)].map(([, ...words]) => words)
    expect(taken).toEqual([
      ['dependencies', '/app/node_modules', './node_modules'],
      ['build', '/build/dist', './dist'],
    ])
    expect(stages[0]).toContain('WORKDIR /build\n')
    expect(stages[0]).toContain('RUN node scripts/build.ts\n')
    expect(stages[1]).toContain('RUN npm ci --omit=dev --ignore-scripts\n')
  })

  it('ends in a stage that runs nothing, as a user without rights, from compiled code', () => {
    const final = stages.at(-1) ?? ''
    expect(final).toMatch(/^node:24-/)
    expect(final).not.toMatch(/^RUN /m)
    expect(final).not.toMatch(/^COPY .*\bsrc\b/m)
    expect(final).toContain('USER 65532:65532\n')
    expect(final).toContain('ENTRYPOINT ["node", "/app/bin/muster.js"]\n')
    expect(final).toContain(`org.opencontainers.image.version="${manifest.version}"`)
    expect(final).toContain(`org.opencontainers.image.licenses="${manifest.license}"`)
  })
})

describe('the package', () => {
  it('ships files that exist, or that the build makes', () => {
    for (const file of [...manifest.files, ...Object.values<string>(manifest.bin)]) {
      if (file !== 'dist') expect(existsSync(join(root, file)), file).toBe(true)
    }
  })
})

/** What a program gets for each thing that it may import, and what its compiler reads. */
const exported: readonly string[] = Object.values<string | Record<string, string>>(manifest.exports).flatMap(target =>
  typeof target === 'string' ? [target] : Object.values(target),
)

describe('the compiled program, with production dependencies only', () => {
  beforeAll(() => {
    const build = spawnSync(process.execPath, ['scripts/build.ts', join(image, 'dist')], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(build.stdout + build.stderr).toBe('')
    expect(build.status).toBe(0)
    const bundle = spawnSync(process.execPath, ['scripts/bundle.ts', join(image, 'dist')], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(bundle.stderr).toBe('')
    expect(bundle.status).toBe(0)
    for (const path of ['package.json', 'bin']) cpSync(join(root, path), join(image, path), { recursive: true })
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { dev?: boolean }> }
    for (const [path, { dev = false }] of Object.entries(packages)) {
      // Optional packages for other platforms are in the lock file and not on the disk.
      if (path === '' || dev || !existsSync(join(root, path))) continue
      mkdirSync(dirname(join(image, path)), { recursive: true })
      const nested = join(root, path, 'node_modules')
      // Declarations and source maps are two thirds of the files, and no program loads them.
      const filter = (source: string): boolean => source !== nested && !/\.(d\.[cm]?ts|map)$/.test(source)
      cpSync(join(root, path), join(image, path), { recursive: true, filter })
    }
  })

  const environment = { PATH: dirname(process.execPath), HOME: image }

  it('is compiled code without sources or development tools', () => {
    expect(existsSync(join(image, 'src'))).toBe(false)
    expect(existsSync(join(image, 'node_modules/typescript'))).toBe(false)
    expect(existsSync(join(image, 'node_modules/fastify/package.json'))).toBe(true)
  })

  it('has all that the package exports, among the files that it ships', () => {
    expect(exported).toContain('./dist/workload/workloadbuilder.js')
    for (const target of exported) {
      expect(existsSync(join(image, target)), target).toBe(true)
      const shipped = ['./package.json', ...manifest.files.map((file: string) => `./${file}/`)]
      expect(
        shipped.some(file => target.startsWith(file)),
        target,
      ).toBe(true)
    }
  })

  it('is a library for controllers: the example runs with it as it runs from source', () => {
    cpSync(join(root, 'examples'), join(image, 'examples'), { recursive: true })
    const run = spawnSync(process.execPath, ['examples/workloadbuilder.ts'], {
      cwd: image,
      env: environment,
      encoding: 'utf8',
    })
    expect(run.stderr).toBe('')
    expect(run.stdout).toBe(EXAMPLES.map(owner => `${JSON.stringify(objectsFor(owner), null, 2)}\n`).join(''))
  })

  it('tells its version', () => {
    const run = spawnSync(process.execPath, ['bin/muster.js', '--version'], {
      cwd: image,
      env: environment,
      encoding: 'utf8',
    })
    expect(run.stderr).toBe('')
    expect(run.stdout).toBe(`muster ${manifest.version}\n`)
    expect(run.status).toBe(0)
  })

  it('reviews without opening a single package', () => {
    writeFileSync(join(image, 'pod.yaml'), 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: []}\n')
    const trace =
      "import { registerHooks } from 'node:module'; registerHooks({ load: (url, context, next) => { process.stderr.write(url + '\\n'); return next(url, context) } })"
    const traced = ['--import', `data:text/javascript,${encodeURIComponent(trace)}`]
    const run = spawnSync(process.execPath, [...traced, 'bin/muster.js', 'review', 'pod.yaml'], {
      cwd: image,
      env: environment,
      encoding: 'utf8',
    })
    expect(run.stdout).toContain('1 object: 1 admitted, 0 denied\n')
    expect(run.stderr).toContain('/dist/bundle/muster.js')
    expect(run.stderr).not.toContain('/node_modules/')
  })

  it('makes everything that it ships before it is packed', () => {
    expect(manifest.scripts.prepack).toBe('node scripts/build.ts && node scripts/bundle.ts')
  })

  it('serves, is ready, and leaves with 0 on SIGTERM', async () => {
    const flags = ['--port', '0', '--health-port', '0', '--certs-dir', join(image, 'certs'), '--drain-seconds', '0']
    const server = spawn(process.execPath, ['bin/muster.js', 'serve', ...flags], { cwd: image, env: environment })
    try {
      let errors = ''
      server.stderr.on('data', chunk => {
        errors += chunk
      })
      const healthPort = await new Promise<number>((resolve, reject) => {
        server.once('exit', code => reject(new Error(`muster serve ended with ${code}: ${errors}`)))
        createInterface(server.stdout).on('line', line => {
          const match = /^Muster listens on https:\/\/localhost:\d+ .* and http:\/\/localhost:(\d+) /.exec(line)
          if (match !== null) resolve(Number(match[1]))
        })
      })
      expect(await statusOf(`http://localhost:${healthPort}/readyz`)).toBe(200)
      server.kill('SIGTERM')
      expect(await once(server, 'exit')).toEqual([0, null])
    } finally {
      server.kill('SIGKILL')
    }
  })
})

function statusOf(address: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(address, response => {
      response.resume()
      resolve(response.statusCode)
    }).once('error', reject)
  })
}
