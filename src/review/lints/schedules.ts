const NAMED = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/
const EVERY = /^@every \S+$/
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const DAYS = 'sun mon tue wed thu fri sat'.split(' ')

interface Part {
  readonly name: string
  readonly min: number
  readonly max: number
  /** Words for its numbers, from `min` on. */
  readonly words?: readonly string[]
}

const PARTS: readonly Part[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, words: MONTHS },
  { name: 'day of the week', min: 0, max: 6, words: DAYS },
]

/** What is wrong with the schedule of a CronJob, as the library of its controller reads it. */
export function scheduleProblem(schedule: string): string | undefined {
  const text = schedule.trim()
  if (NAMED.test(text) || EVERY.test(text)) return undefined
  const fields = text.split(/\s+/)
  if (fields.length !== PARTS.length) return 'it has five fields, as "0 3 * * *"'
  for (const [index, part] of PARTS.entries()) {
    const given = fields[index] ?? ''
    if (!given.split(',').every(each => isRange(each, part))) {
      return `${JSON.stringify(given)} is no ${part.name}, which goes from ${part.min} to ${part.max}`
    }
  }
  return undefined
}

function isRange(text: string, part: Part): boolean {
  const [range = '', step, more] = text.split('/')
  if (more !== undefined || (step !== undefined && !/^0*[1-9]\d*$/.test(step))) return false
  if (range === '*' || range === '?') return true
  const ends = range.split('-').map(end => numberOf(end, part))
  const [from, to = from] = ends
  return ends.length <= 2 && from !== undefined && to !== undefined && !ends.includes(undefined) && from <= to
}

function numberOf(text: string, { min, max, words = [] }: Part): number | undefined {
  const word = words.indexOf(text.toLowerCase())
  if (word !== -1) return word + min
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return number >= min && number <= max ? number : undefined
}
