import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { KubeconfigAnswer } from './access.ts'
import { readPlainKubeconfig } from './plain-kubeconfig.ts'

export type KubeconfigReply = { readonly ok: KubeconfigAnswer } | { readonly error: string }

const run = promisify(execFile)
/** A cloud's login tool may ask a server, which may take its time; a person is not waiting for anything else here. */
const LIMIT_MS = 60_000

/**
 * Reads a kubeconfig, and logs in, in a process that lives only for this, unless it is a plain one. The official client knows all the ways to
 * log in and takes 70 MB and half a second for it; a thread would keep the memory.
 */
export async function readKubeconfig(file: string, context: string | undefined): Promise<KubeconfigAnswer> {
  const plain = await readPlainKubeconfig(file, context)
  if (plain !== undefined) return plain
  // A URL is not an import: nothing turns its extension into the one of the compiled file.
  const entry = import.meta.url.endsWith('.ts') ? './kubeconfig-reader.ts' : './kubeconfig-reader.js'
  const program = fileURLToPath(new URL(entry, import.meta.url))
  const { stdout } = await run(process.execPath, [program, file, ...(context === undefined ? [] : [context])], {
    timeout: LIMIT_MS,
  })
  const reply = JSON.parse(stdout) as KubeconfigReply
  if ('error' in reply) throw new Error(reply.error)
  return reply.ok
}
