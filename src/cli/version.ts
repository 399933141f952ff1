import { readFileSync } from 'node:fs'
import { isObject } from '../kube/vocabulary/fields.ts'

/** From package.json, which lies one folder above src/ and dist/ alike. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return isObject(manifest) && 'version' in manifest ? String(manifest.version) : 'unknown'
}
