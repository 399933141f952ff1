import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import type { StringMap } from '../../kube/vocabulary/objects.ts'

const MAPS = ['labels', 'annotations'] as const

/** Whether labels and annotations are texts, as those who read them expect. What is not, rules about shape refuse. */
export function hasTexts(metadata: Fields): boolean {
  return MAPS.every(field => {
    const map = metadata[field]
    return map === undefined || map === null || (isObject(map) && isTexts(map))
  })
}

export const isTexts = (map: Fields): map is StringMap => Object.values(map).every(value => typeof value === 'string')
