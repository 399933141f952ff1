import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { writeYaml } from '../../documents/yaml-writer.ts'
import { unifiedDiff } from '../formats/line-diff.ts'
import type { Result } from '../report.ts'
import { CASE_SUFFIX, CASE_VERSION, expectationOf } from './case.ts'

/** Puts a manifest, or a recorded AdmissionReview, into the folder, and an empty case beside it. */
export function initCase(manifest: string, folder: string): string {
  const found = statSync(manifest, { throwIfNoEntry: false })
  if (found === undefined) throw new Error(`--init: ${manifest}: there is no such file`)
  if (!found.isFile())
    throw new Error(`--init: ${manifest} is no file: name one manifest, or one recorded AdmissionReview`)
  mkdirSync(folder, { recursive: true })
  const name = basename(manifest).replace(/\.(?:ya?ml|json)$/, '')
  const file = join(folder, `${name}${CASE_SUFFIX}`)
  if (existsSync(file)) throw new Error(`${file} is there already: remove it, or rewrite it with --update`)
  // A file may end with anything; what is in it is YAML, of which JSON is a part.
  const input = join(folder, `${name}.yaml`)
  if (resolve(input) !== resolve(manifest)) copyFileSync(manifest, input)
  writeFileSync(file, `${writeYaml({ apiVersion: CASE_VERSION, kind: 'Case' })}expect: []\n`)
  return file
}

/** What stands before the expectations stays as it was written, comments included. */
export function updateCase(file: string, results: readonly Result[]): string {
  const before = readFileSync(file, 'utf8')
  const start = before.search(/^expect:/m)
  const head = start === -1 ? before : before.slice(0, start)
  const after = head + writeYaml({ expect: results.map(expectationOf) })
  writeFileSync(file, after)
  return unifiedDiff(before, after)
}
