import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { parseAllDocuments, parse as parseYaml } from 'yaml'

export const root = fileURLToPath(new URL('../../..', import.meta.url))
export const base = join(root, 'manifests', 'base')
export const kustomization = parseYaml(readFileSync(join(base, 'kustomization.yaml'), 'utf8'))
export const files: readonly string[] = kustomization.resources
export const manifests = files.flatMap(file =>
  parseAllDocuments(readFileSync(join(base, file), 'utf8')).map(document => document.toJS()),
)

export function only(kind: string) {
  const found = manifests.filter(manifest => manifest.kind === kind)
  expect(found, kind).toHaveLength(1)
  return found[0]
}

export function named(kind: string, name: string) {
  const found = manifests.filter(manifest => manifest.kind === kind && manifest.metadata.name === name)
  expect(found, `${kind} ${name}`).toHaveLength(1)
  return found[0]
}
