import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import * as names from '../../kube/vocabulary/names.ts'
import { nearest } from '../../kube/vocabulary/nearest.ts'
import type { World } from '../../webhooks/world.ts'
import type { Found } from './catalog.ts'
import { HOMES, KNOWN_KEYS, keyOfWrongPrefix, PLACES, PREFIXES, TOPOLOGY_KEYS } from './known-keys.ts'

/** What Kueue does with them, and the built-in engine does not. */
const WITHOUT_EFFECT: Readonly<Record<string, string | undefined>> = {
  [names.MAX_EXEC_TIME]: 'nothing ends a workload after that time',
  [names.PRIORITY_CLASS]: 'queues are first in, first out',
  [names.ADMISSION_GATED_BY]: 'nobody waits for other gates before admission',
  [names.PREBUILT_WORKLOAD]: 'Muster makes the Workload itself',
  [names.ELASTIC_JOB]: 'a running workload does not grow',
  ...Object.fromEntries(TOPOLOGY_KEYS.map(key => [key, 'Muster does not choose nodes'])),
}

type Knowing = Pick<World, 'config' | 'scheduling'>

/** But for what the PodGroups of kube-scheduler have a word for. */
function whyWithoutEffect(key: string, { config, scheduling }: Knowing): string | undefined {
  if (config.engine !== 'builtin' || !Object.hasOwn(WITHOUT_EFFECT, key)) return undefined
  if (key === names.REQUIRED_TOPOLOGY && scheduling().kubernetes?.podGroups === true) return undefined
  return WITHOUT_EFFECT[key]
}

const MAPS = ['labels', 'annotations'] as const
type Place = (typeof MAPS)[number]

/** Keys that look as if they did something. `kind` is `group/Kind` of the object that has them. */
export function keyFindings(metadata: Fields, kind: string, world: Knowing): readonly Found[] {
  return MAPS.flatMap(place => {
    const map = metadata[place]
    if (!isObject(map)) return []
    return Object.keys(map).flatMap((key): readonly Found[] => {
      const field = `metadata.${place}[${key}]`
      if (PREFIXES.some(prefix => key.startsWith(prefix))) return ownKey(key, place, kind, world, field)
      const meant = keyOfWrongPrefix(key)
      if (meant === undefined) return []
      return [{ code: 'UnknownKey', message: `${key} means nothing to Kueue or Muster; did you mean ${meant}?`, field }]
    })
  })
}

function ownKey(key: string, place: Place, kind: string, world: Knowing, field: string): readonly Found[] {
  if (!KNOWN_KEYS.has(key)) return [{ code: 'UnknownKey', message: unknown(key), field }]
  const right = PLACES.get(key)
  if (right !== undefined && right !== place) {
    return [
      { code: 'KeyMisplaced', message: `${key} counts among the ${right} only, and stands in the ${place}`, field },
    ]
  }
  const home = HOMES.get(key)
  if (home !== undefined && !home.kinds.includes(kind)) {
    return [{ code: 'KeyMisplaced', message: `${key} counts ${home.where}; here nobody reads it`, field }]
  }
  const why = whyWithoutEffect(key, world)
  if (why === undefined) return []
  return [{ code: 'KeyWithoutEffect', message: `${key} has no effect with the built-in engine: ${why}`, field }]
}

function unknown(key: string): string {
  const prefix = PREFIXES.find(each => key.startsWith(each)) ?? ''
  const known = [...KNOWN_KEYS].filter(each => each.startsWith(prefix)).map(each => each.slice(prefix.length))
  const name = key.slice(prefix.length)
  const elsewhere = PREFIXES.map(each => each + name).find(each => KNOWN_KEYS.has(each))
  const close = nearest(name, known)
  const meant = elsewhere ?? (close === undefined ? undefined : prefix + close)
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  return `${key} is no key of ${prefix === 'muster.dev/' ? 'Muster' : 'Kueue'}${hint}`
}
