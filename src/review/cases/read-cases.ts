import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Ajv, type ErrorObject } from 'ajv'
import { type ReadDocument, readDocuments } from '../../documents/documents.ts'
import type { Path, Unreadable } from '../../documents/place.ts'
import { readFile } from '../../documents/sources.ts'
import { manifestsIn } from '../../documents/walk.ts'
import { nearest } from '../../kube/vocabulary/nearest.ts'
import { CASE_SCHEMA, CASE_SUFFIX, type Case } from './case.ts'

export interface ReadCase {
  /** Its file without the ending. */
  readonly name: string
  readonly file: string
  readonly folder: string
  readonly case: Case
}

/** The cases of files and folders, in the order of their paths. */
export function readCases(names: readonly string[]): readonly (ReadCase | Unreadable)[] {
  const check = new Ajv({ allErrors: false, allowUnionTypes: true, verbose: true }).compile(CASE_SCHEMA)
  return names.flatMap(filesOf).flatMap((file): readonly (ReadCase | Unreadable)[] => {
    if (typeof file !== 'string') return [file]
    const source = readFile(file)
    if ('message' in source) return [source]
    const [read, second] = [...readDocuments(source.text, file)]
    if (read === undefined) return [wrong(file, 'the file is empty')]
    if ('message' in read) return [read]
    if (second !== undefined) return [wrong(file, 'one case is expected in a file: remove what follows "---"')]
    if (!check(read.value)) return (check.errors ?? []).map(error => explained(error, read))
    const name = file.replace(/(?:\.case)?\.(?:ya?ml|json)$/, '')
    return [{ name, file, folder: dirname(file), case: read.value as Case }]
  })
}

export const inputOf = ({ name, folder, case: { input } }: ReadCase): string =>
  join(folder, input ?? `${basename(name)}.yaml`)

function filesOf(name: string): readonly (string | Unreadable)[] {
  const found = statSync(name, { throwIfNoEntry: false })
  if (found === undefined) {
    const remedy = `muster test --init MANIFEST ${name} makes a first case`
    return [wrong(name, `cannot be read: there is no such file or folder; ${remedy}`)]
  }
  if (found.isFIFO()) return [wrong(name, 'is a pipe: a case is a file, with its input beside it')]
  if (!found.isDirectory()) return [name]
  return manifestsIn(name, {}).filter(each => typeof each !== 'string' || each.endsWith(CASE_SUFFIX))
}

const wrong = (file: string, message: string): Unreadable => ({ file, line: 0, column: 0, message })

function explained(error: ErrorObject, document: ReadDocument): Unreadable {
  const path = pathOf(error.instancePath, document.value)
  const { file } = document.source
  const at = path.length === 0 ? '' : `${path.join('.')}: `
  if (error.keyword === 'additionalProperties') {
    const key = String(error.params.additionalProperty)
    const known = Object.keys((error.parentSchema?.properties ?? {}) as object)
    const close = nearest(key, known)
    const hint = close === undefined ? `known here: ${known.join(', ')}` : `did you mean "${close}"?`
    return { file, ...document.placeOf([...path, key]), message: `${at}unknown key "${key}"; ${hint}` }
  }
  return { file, ...document.placeOf(path), message: `${at}${error.message ?? 'is wrong'}${choices(error)}` }
}

const choices = ({ keyword, schema }: ErrorObject): string =>
  keyword === 'enum' || keyword === 'const' ? `: ${[schema].flat().join(', ')}` : ''

function pathOf(pointer: string, root: unknown): Path {
  let value = root
  return pointer
    .split('/')
    .slice(1)
    .map(part => {
      const step = part.replaceAll('~1', '/').replaceAll('~0', '~')
      const key = Array.isArray(value) ? Number(step) : step
      value = (value as Record<string | number, unknown>)[key]
      return key
    })
}
