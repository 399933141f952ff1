import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { tallyOf } from '../support/tally.ts'

const folder = fileURLToPath(new URL('..', import.meta.url))
const occurrences = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length

describe('a property', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.test.ts'))
    .map(file => ({ file, text: readFileSync(join(folder, file), 'utf8') }))
    .filter(({ text }) => /^import fc from 'fast-check'$/m.test(text))

  it.each(files)('of $file counts what it has tried', ({ text }) => {
    expect(occurrences(text, /\bfc\.assert\(/g)).toBeGreaterThan(0)
    expect(occurrences(text, /\.expectAll\(\)/g)).toBe(occurrences(text, /\bfc\.assert\(/g))
  })

  it('fails when a kind was never tried, and says what was', () => {
    const tried = tallyOf('often', 'never')
    tried.count('often', 'often')
    expect(() => tried.expectAll()).toThrow('never tried, of {"often":2,"never":0}')
    tried.count('never')
    expect(() => tried.expectAll()).not.toThrow()
  })
})
