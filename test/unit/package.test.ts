import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXAMPLES, objectsFor } from '../../examples/workloadbuilder.ts'
import { buildWithoutEngine, stagesOf } from '../support/dockerfile.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const manifest = JSON.parse(read('package.json'))

/** The file system of the image, made by the steps of the Dockerfile, and in it the folder of Muster. */
const folder = mkdtempSync(join(tmpdir(), 'muster-image-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const dockerfile = read('Dockerfile')
const stages = stagesOf(dockerfile)
const fileSystem = join(folder, stages.at(-1)?.name ?? '')
const image = join(fileSystem, 'app')

describe('the Dockerfile', () => {
  const words = (rest: string): readonly string[] => rest.split(' ')
  const all = stages.flatMap(({ instructions }) => instructions)
  const allowed = read('.dockerignore')
    .split('\n')
    .filter(line => line.startsWith('!'))
    .map(line => line.slice(1))

  it('copies only what exists and what .dockerignore lets through', () => {
    const copies = all.filter(({ word, rest }) => word === 'COPY' && !rest.startsWith('--from'))
    const sources = copies.flatMap(({ rest }) => words(rest).slice(0, -1))
    expect(sources.length).toBeGreaterThan(0)
    for (const source of sources) {
      expect(existsSync(join(root, source)), source).toBe(true)
      expect(allowed, source).toContain(source.split('/')[0])
    }
  })

  it('builds with one Node image, which can be pinned by its digest, and runs no install script', () => {
    expect(stages.map(({ image }) => image)).toEqual(['node:24-slim', 'node:24-slim', 'scratch'])
    expect(dockerfile).toContain('\nARG NODE_IMAGE=node:24-slim\n')
    const installs = all.filter(({ rest }) => rest.startsWith('npm ci'))
    expect(installs.map(({ rest }) => rest)).toEqual(['npm ci --ignore-scripts', 'npm ci --omit=dev --ignore-scripts'])
  })

  it('ends in a stage that begins with nothing and runs nothing, as a user without rights', () => {
    const final = stages.at(-1)
    const told = final?.instructions.map(({ word, rest }) => `${word} ${rest}`) ?? []
    expect(final?.image).toBe('scratch')
    expect(told.filter(line => line.startsWith('RUN'))).toEqual([])
    expect(told).toContain('USER 65532:65532')
    expect(told).toContain('ENTRYPOINT ["/usr/bin/node", "/app/bin/muster.js"]')
    expect(dockerfile).toContain(`org.opencontainers.image.version="${manifest.version}"`)
    expect(dockerfile).toContain(`org.opencontainers.image.licenses="${manifest.license}"`)
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
    buildWithoutEngine({ dockerfile, context: root, folder, install })
  })

  const environment = { PATH: dirname(process.execPath), HOME: image }

  it('is Node, its libraries, and compiled code: no shell, no sources, no development tools', () => {
    const programs = readdirSync(fileSystem, { recursive: true, encoding: 'utf8' }).filter(file =>
      /bin\/[^/]+$/.test(file),
    )
    expect(programs.filter(file => !file.startsWith('app/')).sort()).toEqual(['usr/bin/node'])
    expect(readdirSync(image).sort()).toEqual(
      ['LICENSE', 'bin', 'dist', 'node_modules', 'package.json', 'sbom.cdx.json'].sort(),
    )
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
    const spec = 'spec: {containers: [{name: main, image: busybox}]}'
    writeFileSync(join(image, 'pod.yaml'), `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n${spec}\n`)
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

  it('says what it is made of: Muster, Node, and every package that is there', () => {
    const { metadata, components } = JSON.parse(readFileSync(join(image, 'sbom.cdx.json'), 'utf8'))
    expect(metadata.component).toMatchObject({ name: manifest.name, version: manifest.version })
    const listed = new Set(
      components.map(({ name, version }: { name: string; version: string }) => `${name}@${version}`),
    )
    expect(listed).toContain(`node@${process.versions.node}`)
    const installed = readdirSync(join(image, 'node_modules'), { recursive: true, encoding: 'utf8' })
      .filter(file => /(^|node_modules\/)(@[^/]+\/)?[^/@]+\/package\.json$/.test(file))
      .map(file => JSON.parse(readFileSync(join(image, 'node_modules', file), 'utf8')))
    expect(installed.length).toBeGreaterThan(50)
    expect(installed.filter(({ name, version }) => !listed.has(`${name}@${version}`))).toEqual([])
  })

  // Where the test may do so, as the image does: without anything else to load, and as nobody.
  const confined = process.getuid?.() === 0
  const place = confined ? 'in a file system of its own, as nobody' : 'from its folder'
  it(`serves ${place}, is ready, and leaves with 0 on SIGTERM`, async () => {
    const certs = join(fileSystem, 'certs')
    mkdirSync(certs)
    if (confined)
      for (const [path, id] of [
        [fileSystem, 0],
        [certs, 65532],
      ] as const)
        own(path, id)
    const flags = [
      '--port',
      '0',
      '--health-port',
      '0',
      '--certs-dir',
      confined ? '/certs' : certs,
      '--drain-seconds',
      '0',
    ]
    const [command, args] = confined
      ? ['chroot', ['--userspec=65532:65532', fileSystem, '/usr/bin/node', '/app/bin/muster.js']]
      : [process.execPath, ['bin/muster.js']]
    const env = confined ? { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } : environment
    const server = spawn(command, [...args, 'serve', ...flags], { cwd: image, env })
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

function own(path: string, id: number): void {
  chmodSync(path, 0o755)
  chownSync(path, id, id)
}

/** What `npm ci` would bring, from where it was brought already. */
function install(target: string, flags: readonly string[]): void {
  if (!flags.includes('--omit=dev')) {
    symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'))
    return
  }
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { dev?: boolean }> }
  for (const [path, { dev = false }] of Object.entries(packages)) {
    // Optional packages for other platforms are in the lock file and not on the disk.
    if (path === '' || dev || !existsSync(join(root, path))) continue
    mkdirSync(dirname(join(target, path)), { recursive: true })
    const nested = join(root, path, 'node_modules')
    // Declarations and source maps are two thirds of the files, and no program loads them.
    const filter = (source: string): boolean => source !== nested && !/\.(d\.[cm]?ts|map)$/.test(source)
    cpSync(join(root, path), join(target, path), { recursive: true, filter })
  }
}

function statusOf(address: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(address, response => {
      response.resume()
      resolve(response.statusCode)
    }).once('error', reject)
  })
}
