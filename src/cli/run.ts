import { nearest } from '../kube/vocabulary/nearest.ts'
import { CannotLook, type Command, EXIT } from './command.ts'
import { COMMANDS } from './commands.ts'
import { helpText, type Parsed, parseFlags, UsageError } from './flags.ts'
import { OutputError } from './outputs.ts'
import { version } from './version.ts'

/** Runs one command line and returns the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const [name] = args
  if (name === undefined || name === '--help' || name === '-h') {
    process.stdout.write(overview())
    return name === undefined ? EXIT.unreadable : EXIT.ok
  }
  if (name === 'help') return help(args.slice(1))
  if (name === '--version' || name === 'version') {
    process.stdout.write(`muster ${version()}\n`)
    return EXIT.ok
  }
  const command = commandOf(args)
  return command === undefined ? unknown(args) : await runCommand(command, args.slice(words(command).length))
}

const words = ({ name }: Command): readonly string[] => name.split(' ')

const commandOf = (args: readonly string[]): Command | undefined =>
  COMMANDS.find(command => words(command).every((word, index) => args[index] === word))

/** `muster help review` is `muster review --help`. */
function help(args: readonly string[]): number {
  const command = commandOf(args)
  if (command === undefined && args.length > 0) return unknown(args)
  process.stdout.write(
    command === undefined ? overview() : helpText(command.name, command.summary, command.usage, command.flags),
  )
  return EXIT.ok
}

function unknown(args: readonly string[]): number {
  const names = COMMANDS.map(({ name }) => name)
  const partial = names.filter(name => name.startsWith(`${args[0]} `))
  const close = partial[0] ?? nearest(args[0] ?? '', names) ?? nearest(args.slice(0, 2).join(' '), names)
  const hint = close === undefined ? '' : ` (did you mean "muster ${close}"?)`
  process.stderr.write(`muster: there is no command "${printable(args[0] ?? '')}"${hint}; see muster --help\n`)
  return EXIT.unreadable
}

async function runCommand(command: Command, rest: readonly string[]): Promise<number> {
  try {
    const flags = parseFlags(command.name, command.flags, rest)
    if (flags.given('help')) {
      process.stdout.write(helpText(command.name, command.summary, command.usage, command.flags))
      return EXIT.ok
    }
    refuseNames(command, flags)
    return await command.run(flags)
  } catch (error) {
    if (error instanceof UsageError || error instanceof CannotLook) {
      process.stderr.write(`muster ${command.name}: ${error.message}\n`)
      return EXIT.unreadable
    }
    if (error instanceof OutputError) {
      process.stderr.write(`muster ${command.name}: ${error.message}\n`)
      return EXIT.internal
    }
    // Node's own code for an uncaught error is 1, which would say that something was denied.
    const detail = error instanceof Error ? error.stack : String(error)
    process.stderr.write(`muster ${command.name}: a failure of Muster itself: ${detail}\n`)
    return EXIT.internal
  }
}

/** A word that means nothing is mostly the value of a flag that was lost. npm keeps every flag before "--" to itself. */
function refuseNames({ name, names }: Command, { positionals: [first] }: Parsed): void {
  if (names || first === undefined) return
  const npm = process.env.npm_lifecycle_event
  const hint = npm === undefined ? '' : `; npm takes flags for its own unless they follow "--": npm ${npm} -- --FLAG`
  throw new UsageError(`it takes no names, and there is "${printable(first)}"${hint}; see muster ${name} --help`)
}

/** What somebody typed, without what a terminal obeys. */
const printable = (text: string): string => JSON.stringify(text).slice(1, -1)

function overview(): string {
  const rows = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(13)} ${summary}`)
  return `muster: a pod or Job that asks for a queue waits until its whole workload may start

Commands:
${rows.join('\n')}
  version       print the version
  help COMMAND  show the flags of a command

muster COMMAND --help shows the flags of a command.
`
}
