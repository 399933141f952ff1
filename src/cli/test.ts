import { join } from 'node:path'
import { type Configuration, DEFAULT_CONFIGURATION } from '../config/configuration.ts'
import { formatUnreadable, type Unreadable } from '../documents/place.ts'
import { Coverage, RULES } from '../review/cases/coverage.ts'
import { type ReadCase, readCases } from '../review/cases/read-cases.ts'
import { type CaseOutcome, runCase } from '../review/cases/run-case.ts'
import { initCase, updateCase } from '../review/cases/write-case.ts'
import { oneLine } from '../review/formats/formatter.ts'
import { escaped } from '../review/formats/junit.ts'
import { EXIT } from './command.ts'
import { configurationFile, isWrong, readConfiguration } from './configuration.ts'
import { type Parsed, UsageError } from './flags.ts'
import { fileOutput, outputsOf, print } from './outputs.ts'

const FORMATS = ['table', 'json', 'junit'] as const

/** `muster test`: cases with expectations. */
export async function test(flags: Parsed): Promise<number> {
  const outputs = outputsOf(flags.texts('output'), FORMATS)
  const least = flags.given('coverage') ? flags.number('coverage', 0, 100) : undefined
  const folders = flags.positionals.length === 0 ? ['.'] : flags.positionals
  const manifest = flags.text('init')
  const names = manifest === undefined ? folders : [initialised(manifest, folders)]
  const isUpdate = flags.given('update') || manifest !== undefined
  const read = readCases(names)
  const done: Done[] = read.filter(each => 'message' in each).map(each => notRun(each.file, each.file, [each]))
  const wanted = flags.text('run')
  const cases = read
    .filter(each => 'case' in each)
    .filter(({ name }) => wanted === undefined || pattern(wanted).test(name))
  if (cases.length === 0 && done.length === 0) {
    // A build that tests nothing because a path changed must not be green.
    throw new UsageError(
      `no case to run: there is no file *.case.yaml in ${folders.join(', ')}${wanted === undefined ? '; muster test --init MANIFEST FOLDER makes one' : ' of that name'}`,
    )
  }
  const coverage = new Coverage()
  for (const each of cases) {
    const config = await configurationOf(each, flags.text('config'))
    if ('wrong' in config) {
      done.push(notRun(each.name, each.file, config.wrong))
      continue
    }
    const outcome = await runCase(each, config.configuration)
    for (const result of outcome.results) coverage.add(result)
    const difference = isUpdate && outcome.differences.length > 0 ? updateCase(each.file, outcome.results) : undefined
    const rewritten = manifest === undefined ? 'updated' : 'created'
    done.push({ name: each.name, file: each.file, outcome, ...(difference && { difference, rewritten }) })
  }
  for (const { outcome } of done) {
    for (const each of outcome.unreadable) process.stderr.write(`${formatUnreadable(each)}\n`)
    for (const stack of outcome.failures) process.stderr.write(`muster test: a failure of Muster itself: ${stack}\n`)
  }
  const isThin = least !== undefined && coverage.percent < least
  await report(outputs, done, coverage, least)
  if (done.some(({ outcome }) => outcome.failures.length > 0)) return EXIT.internal
  if (done.some(isUnreadable)) return EXIT.unreadable
  return isThin || done.some(isFailed) ? EXIT.denied : EXIT.ok
}

interface Done {
  readonly name: string
  readonly file: string
  readonly outcome: CaseOutcome
  /** What was rewritten, and how to call that. */
  readonly difference?: string
  readonly rewritten?: 'updated' | 'created'
}

/** It says nothing about the policy, so it has neither passed nor failed. */
const notRun = (name: string, file: string, unreadable: readonly Unreadable[]): Done => ({
  name,
  file,
  outcome: { results: [], differences: [], failures: [], unreadable },
})

const isUnreadable = ({ outcome }: Done): boolean => outcome.unreadable.length > 0
const isFailed = ({ outcome, difference }: Done): boolean => outcome.differences.length > 0 && difference === undefined

function pattern(text: string): RegExp {
  try {
    return new RegExp(text)
  } catch {
    throw new UsageError(`--run: "${text}" is no regular expression`)
  }
}

function initialised(manifest: string, [folder = '.']: readonly string[]): string {
  try {
    return initCase(manifest, folder)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

async function configurationOf(
  { folder, case: { config } }: ReadCase,
  given: string | undefined,
): Promise<{ readonly configuration: Configuration } | { readonly wrong: readonly Unreadable[] }> {
  const file = config === undefined ? configurationFile(given) : join(folder, config)
  const read = file === undefined ? DEFAULT_CONFIGURATION : await readConfiguration(file)
  return isWrong(read) ? { wrong: read } : { configuration: read }
}

async function report(
  outputs: ReturnType<typeof outputsOf<(typeof FORMATS)[number]>>,
  done: readonly Done[],
  coverage: Coverage,
  least: number | undefined,
): Promise<void> {
  const texts = {
    table: () => table(done, coverage, least),
    json: () => json(done, coverage),
    junit: () => junit(done),
  }
  const all = outputs.length === 0 ? [{ format: 'table' as const, file: undefined }] : outputs
  for (const { format, file } of all) {
    if (file === undefined) await print(texts[format]())
    else {
      const output = fileOutput(file)
      await output.write(texts[format]())
      await output.close()
    }
  }
}

function table(done: readonly Done[], coverage: Coverage, least: number | undefined): string {
  const lines = done.flatMap(({ name, outcome, difference, rewritten }) => {
    const wrong = outcome.differences.map(each => `  ${oneLine(each)}`)
    if (difference !== undefined) return [`${rewritten}  ${name}`, difference.trimEnd()]
    if (outcome.unreadable.length > 0) return [`unreadable  ${name}`]
    return wrong.length === 0 ? [`passed  ${name}`] : [`failed  ${name}`, ...wrong]
  })
  const [failed, unreadable] = [done.filter(isFailed).length, done.filter(isUnreadable).length]
  const counts = `${done.length - failed - unreadable} passed, ${failed} failed`
  lines.push(
    `${done.length} ${done.length === 1 ? 'case' : 'cases'}: ${counts}${unreadable === 0 ? '' : `, ${unreadable} unreadable`}`,
  )
  const { untouched, percent } = coverage
  const touched = RULES.length - untouched.length
  lines.push(
    `rules: ${touched} of ${RULES.length} touched (${percent} %)${least === undefined ? '' : `, ${least} % wanted`}`,
  )
  if (least !== undefined) lines.push(...untouched.map(rule => `  no case touches ${rule}`))
  return `${lines.join('\n')}\n`
}

function json(done: readonly Done[], coverage: Coverage): string {
  const { untouched, percent } = coverage
  const cases = done.map(each => ({
    name: each.name,
    file: each.file,
    passed: !isFailed(each) && !isUnreadable(each),
    differences: each.outcome.differences,
    unreadable: each.outcome.unreadable,
  }))
  const report = { apiVersion: 'test.muster.dev/v1alpha1', kind: 'TestReport', cases }
  return `${JSON.stringify({ ...report, coverage: { rules: RULES.length, percent, untouched } }, null, 2)}\n`
}

function junit(done: readonly Done[]): string {
  const cases = done.map(each => {
    const attributes = `name="${escaped(each.name)}" classname="muster test"`
    const { differences, unreadable } = each.outcome
    if (isUnreadable(each)) return complaint(attributes, 'error', unreadable.map(formatUnreadable))
    return isFailed(each) ? complaint(attributes, 'failure', differences) : `    <testcase ${attributes}/>\n`
  })
  const [failed, unreadable] = [done.filter(isFailed).length, done.filter(isUnreadable).length]
  const counts = `tests="${done.length}" failures="${failed}" errors="${unreadable}" skipped="0"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="muster test">\n  <testsuite name="cases" ${counts}>\n${cases.join('')}  </testsuite>\n</testsuites>\n`
}

function complaint(attributes: string, element: 'error' | 'failure', texts: readonly string[]): string {
  const message = escaped(texts[0] ?? '')
  const body = escaped(texts.join('\n'))
  return `    <testcase ${attributes}>\n      <${element} message="${message}">${body}</${element}>\n    </testcase>\n`
}
