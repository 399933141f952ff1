import { describe, expect, it } from 'vitest'
import { CHAPTERS } from './honesty/chapters.ts'
import { performOnModel } from './honesty/model-stage.ts'
import { readRecorded } from './honesty/recorded.ts'
import { differences } from './honesty/transcript.ts'

describe('the model API server', () => {
  it.each(CHAPTERS)('answers as a real one has answered: $name', async chapter => {
    const real = { name: 'the API server', transcript: await readRecorded(chapter) }
    const model = { name: 'the model', transcript: await performOnModel(chapter) }
    expect(differences(chapter.name, real, model, chapter.notModelled).join('\n')).toBe('')
  })
})
