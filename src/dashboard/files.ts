import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface PageFile {
  readonly type: string
  readonly body: Buffer
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Beside the code in a checkout and in a package: src/dashboard, dist/dashboard and dist/bundle are equally deep. */
const FOLDER = fileURLToPath(new URL('../../dashboard/', import.meta.url))

/** The files of the page by their path, all read at once: what is asked for later never touches the disk. */
export function pageFiles(folder = FOLDER): ReadonlyMap<string, PageFile> {
  const files = readdirSync(folder).flatMap(name => {
    const type = TYPES[extname(name)]
    if (type === undefined) return []
    const path = name === 'index.html' ? '/' : `/${name}`
    return [[path, { type, body: readFileSync(join(folder, name)) }] as const]
  })
  return new Map(files)
}
