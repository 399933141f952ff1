import { spawn } from 'node:child_process'

/** How a desktop opens an address. The address is an argument, never part of a command line. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Tries to. The address is printed in any case, so nothing follows from a failure. */
export function openBrowser(url: string): void {
  const [program = '', ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}
