import { EXIT } from './command.ts'
import { COMMANDS } from './commands.ts'
import { helpText, parseFlags, UsageError } from './flags.ts'
import { version } from './version.ts'

/** Runs one command line and returns the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(overview())
    return name === undefined ? EXIT.unreadable : EXIT.ok
  }
  if (name === '--version' || name === 'version') {
    process.stdout.write(`muster ${version()}\n`)
    return EXIT.ok
  }
  const command = COMMANDS.find(candidate => candidate.name === name)
  if (command === undefined) {
    process.stderr.write(`muster: there is no command "${name}"; see muster --help\n`)
    return EXIT.unreadable
  }
  try {
    const flags = parseFlags(command.name, command.flags, rest)
    if (flags.given('help')) {
      process.stdout.write(helpText(command.name, command.summary, command.usage, command.flags))
      return EXIT.ok
    }
    return await command.run(flags)
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`muster ${command.name}: ${error.message}\n`)
      return EXIT.unreadable
    }
    // Node's own code for an uncaught error is 1, which would say that something was denied.
    const detail = error instanceof Error ? error.stack : String(error)
    process.stderr.write(`muster ${command.name}: a failure of Muster itself: ${detail}\n`)
    return EXIT.internal
  }
}

function overview(): string {
  const rows = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`)
  return `muster: a pod or Job that asks for a queue waits until its whole workload may start

Commands:
${rows.join('\n')}
  version    print the version

muster COMMAND --help shows the flags of a command.
`
}
