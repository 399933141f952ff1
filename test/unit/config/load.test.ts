import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { ConfigurationError, loadConfiguration } from '../../../src/config/load.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileWith(name: string, content: string | Uint8Array): string {
  const file = join(folder, name)
  writeFileSync(file, content)
  return file
}

function failure(file: string): ConfigurationError {
  try {
    loadConfiguration(file)
  } catch (error) {
    if (error instanceof ConfigurationError) return error
    throw error
  }
  throw new Error(`${file} was accepted`)
}

const HEADER = 'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\n'

describe('loadConfiguration', () => {
  it('gives the defaults without a file', () => {
    expect(loadConfiguration(undefined)).toBe(DEFAULT_CONFIGURATION)
  })

  it('reads a file', () => {
    expect(loadConfiguration(fileWith('good.yaml', `${HEADER}engine: kueue\n`)).engine).toBe('kueue')
  })

  it('hands warnings over, with their place', () => {
    const file = fileWith(
      'warned.yaml',
      `${HEADER}integrations: {frameworks: [job]}\nguard: {controllers: {job: [ada]}}\n`,
    )
    const warnings: string[] = []
    loadConfiguration(file, warning => warnings.push(warning))
    expect(warnings).toEqual([
      `${file}:3:29: integrations.frameworks[0]: "job" is not a framework name that Kueue ships`,
    ])
  })

  it('lists everything that is wrong, one error per line', () => {
    const file = fileWith('bad.yaml', `${HEADER}engin: kueue\nqueues: 5\n`)
    const error = failure(file)
    expect(error.message).toBe(
      `${file}:3:1: engin: unknown key "engin"; did you mean "engine"?\n${file}:4:9: queues: must be a list, not 5`,
    )
    expect(error.errors.map(each => each.path)).toEqual(['engin', 'queues'])
  })

  it('reads nothing that has no end, and no more than a configuration may have', () => {
    expect(failure('/dev/zero').message).toBe('/dev/zero: cannot be read: it is a device, not a file')
    const file = fileWith('large.yaml', `${HEADER}#${' '.repeat(4 * 1024 * 1024)}\n`)
    expect(failure(file).message).toBe(`${file}: is larger than 4194304 bytes`)
  })

  it('says why a file cannot be read', () => {
    const missing = join(folder, 'missing.yaml')
    expect(failure(missing).message).toBe(`${missing}: cannot be read: there is no such file`)
    expect(failure(folder).message).toBe(`${folder}: cannot be read: it is a folder; name the file in it`)
    const binary = fileWith('binary.yaml', Uint8Array.of(0xff, 0xfe, 0x00, 0x80))
    expect(failure(binary).message).toBe(`${binary}: is not UTF-8 text`)
  })
})
