import { parseArgs } from 'node:util'
import { nearest } from '../kube/vocabulary/nearest.ts'

/** One flag, as its help and the documentation show it. */
export interface Flag {
  readonly name: string
  readonly short?: string
  /** What the value is, in capitals; absent for switches. */
  readonly value?: string
  readonly multiple?: boolean
  readonly default?: string
  readonly help: string
}

/** A command line that cannot be understood. The message is for the terminal, without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export interface Parsed {
  readonly positionals: readonly string[]
  text(name: string): string | undefined
  texts(name: string): readonly string[]
  given(name: string): boolean
  /** A whole number in [min, max]; the default of the flag if it was not given. */
  number(name: string, min: number, max: number): number
}

const HELP: Flag = { name: 'help', short: 'h', help: 'show this text' }

export function parseFlags(command: string, flags: readonly Flag[], args: readonly string[]): Parsed {
  const known = [...flags, HELP]
  const values = parse(command, known, args)
  const list = (name: string): readonly string[] => {
    const value = values.values[name]
    if (Array.isArray(value)) return value.map(String)
    return value === undefined ? [] : [String(value)]
  }
  return {
    positionals: values.positionals,
    texts: list,
    text: name => list(name).at(-1) ?? known.find(flag => flag.name === name)?.default,
    given: name => values.values[name] !== undefined,
    number(name, min, max) {
      const text = this.text(name) ?? ''
      const number = Number(text)
      if (/^\d+$/.test(text) && number >= min && number <= max) return number
      throw new UsageError(`--${name}: "${text}" is not a whole number from ${min} to ${max}`)
    },
  }
}

function parse(command: string, flags: readonly Flag[], args: readonly string[]) {
  const options = Object.fromEntries(
    flags.map(({ name, short, value, multiple }) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: multiple ?? false,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  )
  try {
    return parseArgs({ args: spelledOut(flags, args), options, allowPositionals: true, strict: true })
  } catch (error) {
    const message = error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error)
    throw new UsageError(`${message}${suggestion(flags, args)}; see muster ${command} --help`)
  }
}

/** `-o=json`, which kubectl takes, too: Node's parser would take the `=` for a part of the value. */
function spelledOut(flags: readonly Flag[], args: readonly string[]): string[] {
  const end = args.indexOf('--')
  return args.map((arg, index) => {
    const [, letter, value] = end === -1 || index < end ? (/^-(\w)=(.*)$/s.exec(arg) ?? []) : []
    const flag = flags.find(({ short }) => short !== undefined && short === letter)
    return flag?.value === undefined ? arg : `--${flag.name}=${value}`
  })
}

/** For the first flag that is none, the one that was meant. */
function suggestion(flags: readonly Flag[], args: readonly string[]): string {
  const names = flags.map(({ name }) => name)
  const given = args.flatMap(arg => /^--([^=]+)/.exec(arg)?.slice(1, 2) ?? [])
  const wrong = given.find(name => !names.includes(name))
  const close = wrong === undefined ? undefined : nearest(wrong, names)
  return close === undefined ? '' : ` (did you mean --${close}?)`
}

export function helpText(command: string, summary: string, usage: string, flags: readonly Flag[]): string {
  const rows = [...flags, HELP].map(flag => {
    const short = flag.short === undefined ? '    ' : `-${flag.short}, `
    const left = `  ${short}--${flag.name}${flag.value === undefined ? '' : ` ${flag.value}`}`
    const fallback = flag.default === undefined ? '' : ` (default ${flag.default})`
    return `${left.padEnd(30)} ${flag.help}${fallback}`
  })
  return `muster ${command}: ${summary}\n\nUsage:\n  ${usage}\n\nFlags:\n${rows.join('\n')}\n`
}
