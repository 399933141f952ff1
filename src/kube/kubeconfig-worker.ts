import { parentPort, workerData } from 'node:worker_threads'
import { loadKubeconfig } from './kubeconfig.ts'
import type { KubeconfigReply } from './kubeconfig-thread.ts'

const { file, context } = workerData as { readonly file: string; readonly context?: string }

parentPort?.postMessage(await answer())

async function answer(): Promise<KubeconfigReply> {
  try {
    const opened = await loadKubeconfig(file, context)
    return { ok: { server: opened.server.href, access: await opened.access() } }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}
