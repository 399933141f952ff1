import { readDocuments } from '../../documents/documents.ts'
import type { Unreadable } from '../../documents/place.ts'
import { readSources } from '../../documents/sources.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { BASELINE_VERSION, Baseline, type BaselineEntry } from './baseline.ts'
import { isLintCode } from './catalog.ts'

async function* nothing(): AsyncGenerator<Buffer> {}

/** A baseline, or what is wrong with its file. Every entry says why. */
export async function readBaselineFile(file: string): Promise<Baseline | readonly Unreadable[]> {
  const entries: BaselineEntry[] = []
  const wrong: Unreadable[] = []
  for await (const source of readSources([file], { stdin: nothing() })) {
    if ('message' in source) return [source]
    for (const read of readDocuments(source.text, source.file)) {
      if ('message' in read) return [read]
      const { value } = read
      const at = (path: readonly (string | number)[], message: string): void => {
        wrong.push({ file, ...read.placeOf(path), message })
      }
      if (!isObject(value) || value.apiVersion !== BASELINE_VERSION || value.kind !== 'Baseline') {
        at([], `is no baseline: it has apiVersion ${BASELINE_VERSION} and kind Baseline`)
      } else if (!Array.isArray(value.findings)) at(['findings'], 'findings must be a list')
      else {
        for (const [index, entry] of value.findings.entries()) {
          const problem = problemOf(entry)
          if (problem !== undefined) at(['findings', index], problem)
          else entries.push(entry as BaselineEntry)
        }
      }
    }
  }
  return wrong.length > 0 ? wrong : new Baseline(entries)
}

function problemOf(entry: unknown): string | undefined {
  if (!isObject(entry)) return 'an entry is a map with code, kind, namespace, name and reason'
  const missing = ['code', 'kind', 'namespace', 'name', 'reason'].find(key => typeof entry[key] !== 'string')
  if (missing !== undefined) return `${missing} must be a text`
  const { code, reason } = entry as Fields & { readonly code: string; readonly reason: string }
  if (!isLintCode(code)) return `there is no lint ${code}`
  return reason.trim() === '' ? 'an entry needs a reason' : undefined
}
