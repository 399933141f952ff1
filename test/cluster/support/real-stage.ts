import { parseObject, toApiError } from '../../../src/kube/client/answers.ts'
import { createKubeClient } from '../../../src/kube/client/client.ts'
import { kubeconfigCredentials } from '../../../src/kube/client/credentials.ts'
import { JsonText } from '../../../src/kube/client/json-text.ts'
import { objectPath } from '../../../src/kube/client/paths.ts'
import { readBody, Transport } from '../../../src/kube/client/transport.ts'
import { systemClock } from '../../../src/kube/vocabulary/clock.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { PODS } from '../../../src/kube/vocabulary/resources.ts'
import type { Stage } from '../../simulation/honesty/stage.ts'
import type { ControlPlane } from './control-plane.ts'
import { eventually } from './wait.ts'

const LIMIT_MS = 15_000
const MOST_BYTES = 1024 * 1024

/** The real API server, reached with the client that Muster uses. What `KubeApi` does not offer is sent by hand. */
export async function realStage(plane: ControlPlane): Promise<Stage & { close(): Promise<void> }> {
  const credentials = await kubeconfigCredentials({ file: plane.kubeconfig, clock: systemClock })
  const client = createKubeClient({ credentials, clock: systemClock })
  const transport = new Transport(credentials)

  async function send(method: string, path: string, body: object): Promise<void> {
    const text = JSON.stringify(body)
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }
    const signal = AbortSignal.timeout(LIMIT_MS)
    const call = { method, path, headers, body: text, signal, pool: 'calls', repeatable: false } as const
    const response = await transport.send(call, await credentials.access(false))
    const answer = await readBody(response, new JsonText(MOST_BYTES))
    if ((response.statusCode ?? 0) >= 300) throw toApiError(call, response, answer)
    parseObject(call, answer)
  }

  return {
    api: client,
    delete: (resource, ref, { uid, graceSeconds }) =>
      send('DELETE', objectPath(resource, ref), {
        ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }),
        ...(uid !== undefined && { preconditions: { uid } }),
      }),
    async bind(ref, nodeName) {
      await send('POST', objectPath(PODS, { ...ref, subresource: 'binding' }), {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: ref.name },
        target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
      })
      // A deletion looks at the pod as the server's own cache has it: without a node it would be gone at once.
      await eventually('the cache of the API server has the node', async () => {
        const { stdout } = await plane.kubectl(['get', '--raw', `${objectPath(PODS, ref)}?resourceVersion=0`])
        return (JSON.parse(stdout) as Pod).spec.nodeName === nodeName
      })
    },
    createNamespace: name => plane.createNamespace(name),
    sleep: ms => new Promise(resolve => setTimeout(resolve, ms)),
    compact: () => plane.compactEtcd(),
    restart: () => plane.restartApiServer(),
    async close() {
      transport.destroy()
      await client.close()
    },
  }
}
