import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

export interface Instruction {
  readonly word: string
  readonly rest: string
}

export interface Stage {
  readonly image: string
  readonly name: string
  readonly instructions: readonly Instruction[]
}

/** The stages of a Dockerfile, with its build arguments put in. */
export function stagesOf(text: string): readonly Stage[] {
  const lines = text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter(line => /^[A-Z]+ /.test(line))
  const all = lines.map(line => ({ word: line.split(' ')[0] ?? '', rest: line.slice(line.indexOf(' ') + 1).trim() }))
  const values = new Map(
    all.filter(({ word }) => word === 'ARG').map(({ rest }) => rest.split('=', 2) as [string, string]),
  )
  const stages: Stage[] = []
  for (const { word, rest } of all) {
    if (word === 'FROM') {
      const [image = '', , name = String(stages.length)] = rest.split(' ')
      const known = image.replace(/\$\{(\w+)\}/g, (_all, argument: string) => values.get(argument) ?? '')
      stages.push({ image: known, name, instructions: [] })
    } else if (word !== 'ARG') {
      const stage = stages.pop()
      if (stage === undefined) throw new Error(`${word} before the first FROM`)
      stages.push({ ...stage, instructions: [...stage.instructions, { word, rest }] })
    }
  }
  return stages
}

export interface Build {
  readonly dockerfile: string
  /** Where COPY takes files from. */
  readonly context: string
  /** Gets one folder per stage. */
  readonly folder: string
  /** Stands for `npm ci`, which needs a network. */
  readonly install: (folder: string, flags: readonly string[]) => void
}

/**
 * Does what a container engine would do with COPY and RUN, each stage in a folder in place of a file system of its own.
 * Of the base image only Node and npm are needed, and those are here. Returns the folder of the last stage.
 */
export function buildWithoutEngine({ dockerfile, context, folder, install }: Build): string {
  let last = ''
  for (const { name, instructions } of stagesOf(dockerfile)) {
    last = join(folder, name)
    let at = last
    for (const { word, rest } of instructions) {
      mkdirSync(at, { recursive: true })
      if (word === 'WORKDIR') at = join(last, rest)
      else if (word === 'COPY') copy(rest, { from: context, stages: folder, root: last, at })
      else if (word === 'RUN') run(rest, last, at, install)
    }
  }
  return last
}

interface Places {
  readonly from: string
  readonly stages: string
  readonly root: string
  readonly at: string
}

function copy(rest: string, { from, stages, root, at }: Places): void {
  const words = rest.split(' ')
  const stage = /^--from=(\w+)$/.exec(words[0] ?? '')?.[1]
  const sources = words.slice(stage === undefined ? 0 : 1, -1)
  const target = words.at(-1) ?? ''
  const to = target.startsWith('/') ? join(root, target) : join(at, target)
  for (const source of sources) {
    const path = join(stage === undefined ? from : join(stages, stage), source)
    // The content of a folder is copied, and a file keeps its name where the target is a folder.
    const into = target.endsWith('/') && !source.endsWith('/') ? join(to, basename(source)) : to
    mkdirSync(dirname(into), { recursive: true })
    cpSync(path, into, { recursive: true, verbatimSymlinks: true })
  }
}

function run(command: string, root: string, at: string, install: Build['install']): void {
  const [program = '', ...args] = command.split(' ')
  if (command.startsWith('npm ci')) {
    install(at, args.slice(1))
    return
  }
  if (program !== 'node') throw new Error(`who would run ${command}?`)
  const inside = args.map(arg => (arg.startsWith('/') ? join(root, arg) : arg))
  const { status, stdout, stderr } = spawnSync(process.execPath, inside, { cwd: at, encoding: 'utf8' })
  if (status !== 0 || stdout + stderr !== '') throw new Error(`${command}: ${status}\n${stdout}${stderr}`)
}
