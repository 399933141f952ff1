import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const SRC = fileURLToPath(new URL('../../src', import.meta.url))

/** A sentence that is looked into: what follows from it would change with the wording. */
const READS: readonly RegExp[] = [
  /\b(?:message|detail|note)\??\s*\.(?:includes|startsWith|endsWith|indexOf|match|matchAll|search)\(/g,
  /\.(?:test|exec)\((?:[\w.?]*\.)?(?:message|detail|note)\b/g,
]

/** Nothing follows from these but what another sentence says. */
const HARMLESS: Readonly<Record<string, string>> = {
  'admission/protocol.ts': 'of the message of JSON.parse only the position is passed on, since it quotes the body',
  'review/cases/compare.ts': 'it is what a test case asks for: that a detail says something',
}

it('reads no sentence back: what code goes by is a reason, a cause, a code or a field', () => {
  const readers = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .filter(file => READS.some(read => readFileSync(join(SRC, file), 'utf8').match(read)))
  expect(readers.sort()).toEqual(Object.keys(HARMLESS))
})
