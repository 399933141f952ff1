// A program of its own, started by `kubeconfig-process.ts`: a kubeconfig and perhaps a context in, one JSON line out.
import { loadKubeconfig } from './kubeconfig.ts'
import type { KubeconfigReply } from './kubeconfig-process.ts'

const [file = '', context] = process.argv.slice(2)

process.stdout.write(JSON.stringify(await answer()))

async function answer(): Promise<KubeconfigReply> {
  try {
    const opened = await loadKubeconfig(file, context)
    const { server, namespace } = opened
    return { ok: { server: server.href, ...(namespace && { namespace }), access: await opened.access() } }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}
