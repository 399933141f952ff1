import { Worker } from 'node:worker_threads'
import type { Access } from './credentials.ts'

export interface KubeconfigAnswer {
  readonly server: string
  readonly access: Access
}

export type KubeconfigReply = { readonly ok: KubeconfigAnswer } | { readonly error: string }

/**
 * Reads a kubeconfig, and logs in, on a thread that lives only for this. The official client knows all the ways to log
 * in and takes 80 MB and half a second for it: with the thread the memory goes as well.
 */
export async function readKubeconfig(file: string, context: string | undefined): Promise<KubeconfigAnswer> {
  // A URL is not an import: nothing turns its extension into the one of the compiled file.
  const entry = import.meta.url.endsWith('.ts') ? './kubeconfig-worker.ts' : './kubeconfig-worker.js'
  const worker = new Worker(new URL(entry, import.meta.url), {
    name: 'muster-kubeconfig',
    workerData: { file, context },
  })
  const reply = await new Promise<KubeconfigReply>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', code => reject(new Error(`reading the kubeconfig ${file} ended with code ${code}`)))
  })
  await worker.terminate()
  if ('error' in reply) throw new Error(reply.error)
  return reply.ok
}
