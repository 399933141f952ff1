import { formatUnreadable } from '../documents/place.ts'
import { EXIT } from './command.ts'
import { CONFIGURATION_FILE, findConfiguration, isWrong, readConfiguration } from './configuration.ts'
import { type Parsed, UsageError } from './flags.ts'
import { print } from './outputs.ts'

/** `muster config check`: everything that is wrong with configuration files, with its place. */
export async function configCheck(flags: Parsed): Promise<number> {
  const named = [...flags.positionals, ...flags.texts('filename')]
  const found = named.length === 0 ? findConfiguration('.') : undefined
  if (named.length === 0 && found === undefined) {
    throw new UsageError(`no file to check: name one; there is no ${CONFIGURATION_FILE} here or above`)
  }
  let wrong = 0
  for (const file of found === undefined ? named : [found]) {
    const read = await readConfiguration(file)
    if (isWrong(read)) {
      wrong += read.length
      for (const each of read) process.stderr.write(`${formatUnreadable(each)}\n`)
    } else await print(`${file}: is right\n`)
  }
  return wrong > 0 ? EXIT.unreadable : EXIT.ok
}
