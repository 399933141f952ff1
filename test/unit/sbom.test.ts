import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { librariesIn } from '../../scripts/image-root.ts'
import { billOfMaterials, type Lock } from '../../scripts/sbom.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))
const lock: Lock = read('package-lock.json')
const manifest = read('package.json')

interface Bill {
  readonly components: readonly { readonly name: string; readonly purl: string; readonly [key: string]: unknown }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

describe('the bill of materials', () => {
  const bill = billOfMaterials(lock, manifest, '24.0.0') as unknown as Bill

  it('has every production package of the lock file once, with its hash and licence, and no development tool', () => {
    const production = Object.entries(lock.packages).filter(([place, { dev }]) => place !== '' && !dev)
    const wanted = new Set(
      production.map(([place, { version }]) => `${place.replace(/^.*node_modules\//, '')}@${version}`),
    )
    const packages = bill.components.filter(({ type }) => type === 'library')
    expect(packages.map(({ name, version }) => `${name}@${version}`).sort()).toEqual([...wanted].sort())
    expect([...wanted].map(one => one.replace(/@[^@]+$/, ''))).toEqual(
      expect.arrayContaining(Object.keys(manifest.dependencies)),
    )
    expect(packages.filter(({ hashes, licenses }) => hashes === undefined || licenses === undefined)).toEqual([])
  })

  it('has the graph: everything in it is a component, and is reached from Muster', () => {
    const edges = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
    const start = `pkg:npm/%40muster-dev/muster@${manifest.version}`
    const direct = edges.get(start)?.map(reference =>
      reference
        .replace(/^pkg:npm\//, '')
        .replace(/@[^@]+$/, '')
        .replace('%40', '@'),
    )
    expect(direct).toEqual(Object.keys(manifest.dependencies).sort())
    const reached = new Set([start])
    for (const reference of reached) for (const next of edges.get(reference) ?? []) reached.add(next)
    const listed = bill.components.filter(({ type }) => type === 'library').map(({ purl }) => purl)
    expect([...reached].filter(reference => reference !== start).sort()).toEqual([...listed].sort())
  })

  it('says of a package what the registry says: the digest is that of npm, in hexadecimal', () => {
    const tiny: Lock = {
      packages: {
        '': { version: '1.0.0', dependencies: { a: '1', b: '1' } },
        'node_modules/a': { version: '1.0.0', integrity: 'sha512-AQID', license: 'MIT', dependencies: { b: '2' } },
        'node_modules/a/node_modules/b': { version: '2.0.0', license: '(MIT OR Apache-2.0)' },
        'node_modules/b': { version: '1.0.0' },
        'node_modules/tool': { version: '9.0.0', dev: true },
      },
    }
    const made = billOfMaterials(tiny, { name: 'x', version: '1.0.0', license: 'MIT' }, '24.0.0')
    expect(made.components).toMatchObject([
      {
        purl: 'pkg:npm/a@1.0.0',
        hashes: [{ alg: 'SHA-512', content: '010203' }],
        licenses: [{ license: { id: 'MIT' } }],
      },
      { purl: 'pkg:npm/b@1.0.0' },
      { purl: 'pkg:npm/b@2.0.0', licenses: [{ expression: '(MIT OR Apache-2.0)' }] },
      { purl: 'pkg:generic/node@24.0.0', type: 'platform' },
    ])
    // Whoever asks gets the one that lies nearest.
    expect(made.dependencies).toEqual([
      { ref: 'pkg:npm/a@1.0.0', dependsOn: ['pkg:npm/b@2.0.0'] },
      { ref: 'pkg:npm/b@1.0.0', dependsOn: [] },
      { ref: 'pkg:npm/b@2.0.0', dependsOn: [] },
      { ref: 'pkg:npm/x@1.0.0', dependsOn: ['pkg:npm/a@1.0.0', 'pkg:npm/b@1.0.0'] },
    ])
  })

  it('is the same for the same lock file', () => {
    expect(billOfMaterials(lock, manifest, '24.0.0')).toEqual(bill)
    expect(JSON.stringify(bill)).not.toMatch(/timestamp|serialNumber/)
  })
})

describe('the libraries of Node', () => {
  it('are those that ldd names, with the loader and without what the kernel brings', () => {
    const ldd = [
      '\tlinux-vdso.so.1 (0x00007ffd)',
      '\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f1c)',
      '\t/lib64/ld-linux-x86-64.so.2 (0x00007f1d)',
      '',
    ]
    expect(librariesIn(ldd.join('\n'))).toEqual(['/lib/x86_64-linux-gnu/libm.so.6', '/lib64/ld-linux-x86-64.so.2'])
    expect(() => librariesIn('\tlibstdc++.so.6 => not found\n')).toThrow('libstdc++.so.6 is not found')
  })
})
