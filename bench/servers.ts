import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface RunningServer {
  readonly name: string
  readonly child: ChildProcess
  readonly port: number
  readonly healthPort: number | undefined
}

/** Output goes to a file, not to a pipe that this process would have to empty while it measures. */
export async function start(name: string, args: readonly string[], folder: string): Promise<RunningServer> {
  const logFile = join(folder, `${name.replaceAll(' ', '-')}.log`)
  const output = openSync(logFile, 'w')
  const child = spawn(process.execPath, [...args], { stdio: ['ignore', output, output] })
  closeSync(output)
  for (let tries = 0; tries < 400 && child.exitCode === null; tries++) {
    const text = readFileSync(logFile, 'utf8')
    const port = /listening (\d+)|https:\/\/localhost:(\d+)/.exec(text)
    if (port !== null) {
      const health = /http:\/\/localhost:(\d+)/.exec(text)?.[1]
      return {
        name,
        child,
        port: Number(port[1] ?? port[2]),
        healthPort: health === undefined ? undefined : Number(health),
      }
    }
    await sleep(50)
  }
  child.kill('SIGKILL')
  throw new Error(`${name} did not start:\n${readFileSync(logFile, 'utf8')}`)
}

/** Built as for the image: running from TypeScript would count the memory of the compiler that strips the types. */
export async function install(folder: string): Promise<string> {
  const root = new URL('..', import.meta.url).pathname
  const app = join(folder, 'app')
  mkdirSync(join(app, 'bin'), { recursive: true })
  const build = spawn(process.execPath, [join(root, 'scripts/build.ts'), join(app, 'dist')], { stdio: 'inherit' })
  const [code] = await once(build, 'exit')
  if (code !== 0) throw new Error('the build failed')
  copyFileSync(join(root, 'package.json'), join(app, 'package.json'))
  copyFileSync(join(root, 'bin/muster.js'), join(app, 'bin/muster.js'))
  symlinkSync(join(root, 'node_modules'), join(app, 'node_modules'))
  return join(app, 'bin/muster.js')
}

export async function metric({ healthPort }: RunningServer, name: string): Promise<number> {
  const text = await (await fetch(`http://localhost:${healthPort}/metrics`)).text()
  const line = text.split('\n').find(candidate => candidate.startsWith(`${name} `))
  return line === undefined ? Number.NaN : Number(line.slice(name.length + 1))
}
