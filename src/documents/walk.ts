import { type Dirent, existsSync, opendirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, matchesGlob, relative } from 'node:path'
import type { Unreadable } from './place.ts'

export interface WalkOptions {
  /** Names and patterns of files and folders that are left out, relative to the folder that is walked. */
  readonly ignore?: readonly string[]
}

const MANIFEST = /\.(?:ya?ml|json)$/
/** Others' files: nobody means them when he names the folder around them. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules'])
const CHART = 'Chart.yaml'
const TEMPLATES = 'templates'

/**
 * The manifests in a folder, to the bottom, sorted by path. Links to folders are not followed, because they may lead in
 * a circle; links to files are. The templates of a Helm chart are no manifests: one line says how they become some.
 */
export function manifestsIn(folder: string, { ignore = [] }: WalkOptions): readonly (string | Unreadable)[] {
  const found: (string | Unreadable)[] = []
  const waiting = [folder]
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    const chart = isChart(current)
    for (const entry of entriesOf(current)) {
      const path = join(current, entry.name)
      if (SKIPPED.has(entry.name) || isIgnored(relative(folder, path), entry.name, ignore)) continue
      if (entry.isDirectory()) {
        if (chart && entry.name === TEMPLATES) found.push(...templatesOf(path, current, folder, ignore))
        else waiting.push(path)
      } else if (MANIFEST.test(entry.name)) found.push(...manifest(path, entry))
    }
  }
  return found.sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1))
}

const pathOf = (each: string | Unreadable): string => (typeof each === 'string' ? each : each.file)

function entriesOf(folder: string): readonly Dirent[] {
  const entries: Dirent[] = []
  const open = opendirSync(folder)
  for (let entry = open.readSync(); entry !== null; entry = open.readSync()) entries.push(entry)
  open.closeSync()
  return entries
}

/** As in `.gitignore`, a name without a slash holds at every depth. */
function isIgnored(path: string, name: string, ignore: readonly string[]): boolean {
  return ignore.some(pattern => {
    const plain = pattern.replace(/\/+$/, '')
    return plain.includes('/') ? matchesGlob(path, plain.replace(/^\.?\//, '')) : matchesGlob(name, plain)
  })
}

function manifest(path: string, entry: Dirent): readonly (string | Unreadable)[] {
  if (entry.isFile()) return [path]
  const target = entry.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : undefined
  if (target?.isDirectory()) return []
  // A link that leads nowhere is a file that cannot be read, and is reported as one.
  if (target?.isFile() || (entry.isSymbolicLink() && target === undefined)) return [path]
  return [{ file: path, line: 0, column: 0, message: 'is not a regular file: only those of a folder are read' }]
}

const isChart = (folder: string): boolean => existsSync(join(folder, CHART))

/** A chart may hold plain manifests among its templates; they are what they are. */
function templatesOf(
  templates: string,
  chart: string,
  folder: string,
  ignore: readonly string[],
): readonly (string | Unreadable)[] {
  const files = manifestsIn(templates, { ignore: ignore.filter(pattern => !pattern.includes('/')) }).filter(
    each => typeof each !== 'string' || !isIgnored(relative(folder, each), '', ignore),
  )
  const plain = files.filter(each => typeof each !== 'string' || !isTemplateFile(each))
  if (plain.length === files.length) return files
  return [...plain, { file: templates, line: 0, column: 0, message: renderAdvice(chart) }]
}

/** The file of a chart, named by itself. */
export function chartOf(file: string): string | undefined {
  for (let folder = dirname(file), depth = 0; depth < 4; folder = dirname(folder), depth++) {
    if (folder.endsWith(TEMPLATES) && isChart(dirname(folder))) return dirname(folder)
  }
  return undefined
}

/** Nobody writes a template of this size. */
const LARGEST_TEMPLATE = 1024 * 1024

const isTemplateFile = (file: string): boolean =>
  statSync(file).size <= LARGEST_TEMPLATE && isTemplate(readFileSync(file, 'utf8'))

/** Whether there is `{{ ... }}` in it. Not by a pattern: of a million brackets, each would be tried up to the last. */
export function isTemplate(text: string): boolean {
  for (let open = text.indexOf('{{'); open !== -1; ) {
    const close = text.indexOf('}', open)
    if (close === -1) return false
    if (text[close + 1] === '}') return true
    open = text.indexOf('{{', close)
  }
  return false
}

export const renderAdvice = (chart: string): string =>
  `is a Helm template, no manifest: review what it renders to, helm template ${chart} | muster review -`
