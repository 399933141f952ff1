// Writes what the image is made of, as CycloneDX: `npm run sbom [-- FILE]`. From the lock file alone, so that the same
// commit gives the same bytes; `npm sbom` puts in the time and a random number, and leaves out a production dependency
// that is also an optional peer of a development tool (yaml).
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export interface Lock {
  readonly packages: Readonly<Record<string, Locked>>
}

/** `node_modules/a/node_modules/@b/c` is the place of `@b/c`. */
const nameAt = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)

const purl = (name: string, version: string): string => `pkg:npm/${name.replace(/^@/, '%40')}@${version}`

/** As Node looks for it: beside whoever asks, then one folder up, and so on. */
function resolveFrom(place: string, name: string, packages: Lock['packages']): string | undefined {
  for (let from = place; ; ) {
    const candidate = `${from === '' ? '' : `${from}/`}node_modules/${name}`
    if (packages[candidate] !== undefined) return candidate
    if (from === '') return undefined
    const above = from.lastIndexOf('/node_modules/')
    from = above < 0 ? '' : from.slice(0, above)
  }
}

/** The integrity of npm is base64, several of them with a space between. */
function hashes(integrity: string): readonly { readonly alg: string; readonly content: string }[] {
  return integrity.split(' ').map(one => {
    const [algorithm = '', digest = ''] = one.split('-', 2)
    const alg = algorithm.replace(/^sha(\d+)$/, (_all, bits: string) => (bits === '1' ? 'SHA-1' : `SHA-${bits}`))
    return { alg, content: Buffer.from(digest, 'base64').toString('hex') }
  })
}

const licenses = (license: string | undefined) =>
  license === undefined
    ? {}
    : { licenses: [/ (OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } }] }

/** Packages that more than one place holds in the same version are one component. */
function components(places: readonly (readonly [string, Locked])[]): readonly object[] {
  const all = new Map<string, object>()
  for (const [place, { version, integrity, license }] of places) {
    const name = nameAt(place)
    const reference = purl(name, version)
    all.set(reference, {
      type: 'library',
      'bom-ref': reference,
      name,
      version,
      purl: reference,
      ...(integrity !== undefined && { hashes: hashes(integrity) }),
      ...licenses(license),
    })
  }
  return [...all.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, component]) => component)
}

function dependencies(places: readonly (readonly [string, Locked])[], lock: Lock, root: string): readonly object[] {
  const edges = new Map<string, Set<string>>()
  for (const [place, locked] of places) {
    const reference = place === '' ? root : purl(nameAt(place), locked.version)
    const on = edges.get(reference) ?? new Set()
    edges.set(reference, on)
    // Peers and optional ones count where they are installed.
    const wanted = { ...locked.dependencies, ...locked.optionalDependencies, ...locked.peerDependencies }
    for (const name of Object.keys(wanted)) {
      const found = resolveFrom(place, name, lock.packages)
      const target = found === undefined ? undefined : lock.packages[found]
      if (target !== undefined && !target.dev) on.add(purl(name, target.version))
    }
  }
  return [...edges.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([ref, on]) => ({ ref, dependsOn: [...on].sort() }))
}

/** Everything that the image runs: Muster, its production dependencies, and the Node that is given. */
export function billOfMaterials(
  lock: Lock,
  manifest: { name: string; version: string; license: string },
  node: string,
) {
  const root = purl(manifest.name, manifest.version)
  const production = Object.entries(lock.packages).filter(([place, { dev = false }]) => place !== '' && !dev)
  const runtime = `pkg:generic/node@${node}`
  const platform = { type: 'platform', 'bom-ref': runtime, name: 'node', version: node, purl: runtime }
  const own = lock.packages['']
  const { name, version, license } = manifest
  const subject = { type: 'application', 'bom-ref': root, name, version, purl: root, ...licenses(license) }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: subject },
    components: [...components(production), platform],
    dependencies: dependencies([...(own === undefined ? [] : [['', own] as const]), ...production], lock, root),
  }
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))
  const bill = billOfMaterials(read('package-lock.json'), read('package.json'), process.versions.node)
  const text = `${JSON.stringify(bill, null, 2)}\n`
  if (process.argv[2] === undefined) process.stdout.write(text)
  else writeFileSync(process.argv[2], text)
}
