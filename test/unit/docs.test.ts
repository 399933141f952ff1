import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { SCHEMAS } from '../../scripts/schemas.ts'
import { REVIEW_REASONS } from '../../src/admission/reasons.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { DEFAULT_CONFIGURATION } from '../../src/config/configuration.ts'
import { parseConfiguration } from '../../src/config/load.ts'
import { configurationKeys } from '../../src/config/schema.ts'
import { CHECKS } from '../../src/insight/doctor/catalog.ts'
import { LINTS } from '../../src/review/lints/catalog.ts'
import { createMetrics } from '../../src/server/metrics.ts'
import { REASONS } from '../../src/workload/reasons.ts'
import * as workloadbuilder from '../../src/workload/workloadbuilder.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Cells of the table rows whose first cell is code; further tables that explain other things have none. */
function rows(markdown: string): readonly (readonly string[])[] {
  return markdown
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .map(line =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim()),
    )
}

const firstCode = (cells: readonly string[]): string => /^`([^`]+)`/.exec(cells[0] ?? '')?.[1] ?? ''

function section(markdown: string, heading: string): string {
  const start = markdown.indexOf(`\n## ${heading}\n`)
  expect(start, heading).toBeGreaterThanOrEqual(0)
  const end = markdown.indexOf('\n## ', start + 1)
  return markdown.slice(start, end < 0 ? undefined : end)
}

describe('docs/configuration.md', () => {
  const page = read('docs/configuration.md')

  it('has every key of the schema, and no other', () => {
    const selectors = /\.(matchLabels|matchExpressions)\b/
    const keys = configurationKeys().filter(key => !selectors.test(key))
    expect(rows(section(page, 'Keys')).map(firstCode)).toEqual(keys)
  })

  it('shows the defaults', () => {
    const example = /```yaml\n([\s\S]+?)```/.exec(section(page, 'The defaults'))?.[1] ?? ''
    expect(parseConfiguration(example, 'docs/configuration.md')).toEqual({
      configuration: DEFAULT_CONFIGURATION,
      warnings: [],
    })
  })
})

describe('docs/workloadbuilder.md', () => {
  const page = read('docs/workloadbuilder.md')
  const nameOf = (cells: readonly string[]): string => firstCode(cells).replace(/\(.*/, '')

  it('has every function that the package exports, and no other', () => {
    expect(rows(section(page, 'Functions')).map(nameOf).sort()).toEqual(Object.keys(workloadbuilder).sort())
  })

  it('has every type that it exports, and no other', () => {
    const source = read('src/workload/workloadbuilder.ts')
    const types = [...source.matchAll(/^export (type )?\{(.+?)\}/gms)].flatMap(([, type, names = '']) =>
      names
        .split(',')
        .map(name => name.trim())
        .filter(name => type !== undefined || name.startsWith('type '))
        .map(name => name.replace('type ', '')),
    )
    expect(rows(section(page, 'Types')).map(nameOf).sort()).toEqual(types.sort())
  })
})

describe('docs/flags.md', () => {
  const page = read('docs/flags.md')

  it.each(COMMANDS.map(command => [command.name, command] as const))('has the flags of muster %s', (name, command) => {
    const documented = rows(section(page, `muster ${name}`)).map(firstCode)
    const actual = command.flags.map(flag =>
      flag.value === undefined ? `--${flag.name}` : `--${flag.name} ${flag.value}`,
    )
    expect(documented.filter(flag => flag !== '--help')).toEqual(actual)
  })

  it('has their defaults', () => {
    for (const command of COMMANDS) {
      const defaults = new Map(rows(section(page, `muster ${command.name}`)).map(cells => [firstCode(cells), cells[1]]))
      for (const { name, value, default: fallback } of command.flags) {
        if (fallback !== undefined) expect(defaults.get(`--${name} ${value}`), name).toBe(fallback)
      }
    }
  })
})

describe('docs/metrics.md', () => {
  it('has every metric with its type and labels, and no other', async () => {
    const { registry } = createMetrics({ version: 'test', processMetrics: false })
    const actual = registry.getMetricsAsArray().map(metric => {
      const labels = 'labelNames' in metric ? (metric.labelNames as readonly string[]) : []
      return [metric.name, String(metric.type), labels.map(label => `\`${label}\``).join(', ')]
    })
    const before = read('docs/metrics.md').split('\n## ')[0] ?? ''
    const documented = rows(before).map(cells => [firstCode(cells), cells[1], cells[2]])
    expect(documented).toEqual(actual)
  })
})

describe('reasons', () => {
  it.each(['docs/reasons.md', 'README.md'])('are all explained in %s, in their order', file => {
    const documented = rows(read(file)).map(firstCode)
    expect(documented).toEqual([...REASONS])
  })
})

describe('docs/review.md', () => {
  const rooms = ['webhooks', 'review', 'admission']
  const sources = rooms.flatMap(room =>
    readdirSync(join(root, 'src', room), { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts'))
      .map(file => read(join('src', room, file))),
  )

  it('explains every reason of a result, in their order', () => {
    expect(rows(section(read('docs/review.md'), 'Output').split('### Reasons')[1] ?? '').map(firstCode)).toEqual([
      ...REVIEW_REASONS,
    ])
  })

  it('and every reason that a webhook gives is among them', () => {
    const given = sources.flatMap(source => [
      ...source.matchAll(/\b(?:allowed|patched|patchedAlike|ignored)\(\s*'(\w+)'/g),
      ...source.matchAll(/\breason(?: =|:) '([A-Z]\w+)'/g),
    ])
    const words = new Set(given.map(([, word = '']) => word))
    expect(words.size).toBeGreaterThan(20)
    expect([...words].filter(word => !REVIEW_REASONS.some(reason => reason === word))).toEqual([])
  })
})

describe('docs/schemas', () => {
  it.each(Object.keys(SCHEMAS))('has the schema of %s as the code has it, else run: node scripts/schemas.ts', name => {
    expect(JSON.parse(read(`docs/schemas/${name}.schema.json`))).toEqual(JSON.parse(JSON.stringify(SCHEMAS[name])))
  })
})

describe('docs/lints.md', () => {
  it('has every lint with its severity and summary, and a section for each', () => {
    const page = read('docs/lints.md')
    const documented = rows(page).map(cells => [firstCode(cells), cells[1], cells[2]])
    expect(documented).toEqual(LINTS.map(({ code, severity, summary }) => [code, severity, summary]))
    for (const { code } of LINTS) expect(section(page, code).length).toBeGreaterThan(code.length + 20)
  })
})

describe('docs/doctor.md', () => {
  it('has every finding with its severity, summary and remedy, and a section for each', () => {
    const page = read('docs/doctor.md')
    const documented = rows(page).map(cells => [firstCode(cells), cells[1], cells[2]])
    const checks = Object.entries(CHECKS)
    expect(documented).toEqual(checks.map(([code, { severity, summary }]) => [code, severity, summary]))
    for (const [code, { remedy }] of checks) expect(section(page, code)).toContain(remedy)
  })
})

const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.md'))
    .map(file => join('docs', file)),
]

describe('links', () => {
  it.each(pages)('of %s lead to files that exist', page => {
    const targets = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => target)
    for (const target of targets) {
      expect(() => readdirOrRead(join(root, dirname(page), target)), target).not.toThrow()
    }
  })
})

describe('paths', () => {
  /** Records of decisions say how things were; the changelog, too. */
  const present = pages.filter(page => !page.startsWith('docs/decisions/') && page !== 'CHANGELOG.md')

  it.each(present)('that %s names are there', page => {
    const named = read(page).matchAll(/`((?:src|test|manifests|examples|bench|scripts)\/[^`\s]*)`/g)
    expect([...named].map(([, path = '']) => path).filter(path => !existsSync(join(root, path)))).toEqual([])
  })
})

describe.each([
  ['docs/keps.md', 20],
  ['docs/security.md', 10],
])('%s', (file, least) => {
  it('cites tests that exist, in the folder or file that stands after them', () => {
    const page = read(file)
    const cited = [...page.matchAll(/“([^”]+)”(?=[^`|]*`(test\/[^`]+)`)/g)]
    const missing = cited.filter(([, test = '', place = '']) => !testsIn(place).includes(`('${test}'`))
    expect(missing.map(([, test, place]) => `${test} in ${place}`)).toEqual([])
    expect(cited.length).toBeGreaterThan(least)
    expect(page.split('“')).toHaveLength(cited.length + 1)
  })
})

function testsIn(folder: string): string {
  if (folder.endsWith('.test.ts')) return read(folder)
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return files
    .filter(file => file.endsWith('.test.ts'))
    .map(file => read(join(folder, file)))
    .join('\n')
}

function readdirOrRead(path: string): void {
  if (path.endsWith('/')) readdirSync(path)
  else readFileSync(path)
}

describe('docs/kueue.md', () => {
  const weaknesses = read('docs/kueue.md')
    .split('\n')
    .filter(line => /^\| G\d+ \|/.test(line))
    .map(line => ({
      number: line.split(' ')[1] ?? '',
      files: [...line.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file),
    }))

  it('says of every weakness what becomes of it', () => {
    expect(weaknesses.map(({ number }) => number)).toEqual(Array.from({ length: 27 }, (_, index) => `G${index + 1}`))
  })

  it.each(weaknesses)('names a test that has the number $number', ({ number, files }) => {
    for (const file of files) expect(existsSync(join(root, file)), file).toBe(true)
    expect(files.filter(file => read(file).includes(`'${number}: `))).not.toEqual([])
  })
})
