import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { isLabelKey, isLabelValue, isSubdomain, MAX_LABEL_LENGTH } from '../../kube/vocabulary/formats.ts'
import type { Found } from './catalog.ts'
import { PREFIXES } from './known-keys.ts'

/** What is to be filled in before it is applied, as by envsubst, is judged when it is. */
export const isPlaceholder = (text: string): boolean => /[${}]|<[^>]*>/.test(text)

export const invalid = (field: string, message: string): Found => ({ code: 'FieldInvalid', message, field })
export const missing = (field: string, message: string): Found => ({ code: 'FieldMissing', message, field })

/** Names and labels, of an object or of a template (`at` leads to it). */
export function metadataValues(metadata: unknown, at: string): readonly Found[] {
  if (!isObject(metadata)) return []
  const { name, generateName, namespace, labels } = metadata
  const named = [
    ['name', name],
    // A random end follows, so that it may end with a dash.
    ['generateName', typeof generateName === 'string' ? generateName.replace(/-$/, 'a') : undefined],
    ['namespace', namespace],
  ].flatMap(([key, text]) => {
    if (typeof text !== 'string' || text === '' || isPlaceholder(text) || isSubdomain(text)) return []
    const message = `no API server takes the ${key} ${JSON.stringify(text.slice(0, 80))}: lower-case letters, digits, "-" and ".", at most 253 of them`
    return [invalid(`${at}metadata.${key}`, message)]
  })
  return [...named, ...(isObject(labels) ? labelValues(labels, `${at}metadata.labels`) : [])]
}

function labelValues(labels: Fields, at: string): readonly Found[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    if (typeof value !== 'string' || isPlaceholder(key) || isPlaceholder(value)) return []
    const field = `${at}[${key}]`
    // Those of queues and groups are judged by the webhooks, as names: and names may be longer than labels.
    if (PREFIXES.some(prefix => key.startsWith(prefix))) {
      if (value.length <= MAX_LABEL_LENGTH || !isSubdomain(value)) return []
      const message = `no API server takes a label of more than ${MAX_LABEL_LENGTH} characters, and this has ${value.length}`
      return [invalid(field, message)]
    }
    if (!isLabelKey(key)) return [invalid(field, `no API server takes the label ${JSON.stringify(key.slice(0, 80))}`)]
    if (isLabelValue(value)) return []
    const message = `no API server takes ${JSON.stringify(value.slice(0, 80))} as a label: letters, digits, "-", "_" and ".", at most 63 of them`
    return [invalid(field, message)]
  })
}

export const show = (value: unknown): string => (JSON.stringify(value) ?? '').slice(0, 80)
