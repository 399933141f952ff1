import { QUEUE_NAME } from '../kube/vocabulary/names.ts'

export interface Greeting {
  readonly port: number
  readonly healthPort: number
  /** Set when there is no cluster. */
  readonly certsDir: string | undefined
  readonly cluster: string | undefined
}

/** What a person who has just started Muster wants to know, and one command that shows it working. */
export function greeting({ port, healthPort, certsDir, cluster }: Greeting): string {
  const where = `Muster listens on https://localhost:${port} (webhooks) and http://localhost:${healthPort} (health, metrics).\n`
  if (certsDir === undefined) return `${where}It serves and reconciles ${cluster}.\n`
  return `${where}The reconciler is off, because no cluster was given: start with --kubeconfig FILE to turn it on.

Paste this into another terminal, in this folder, to see a pod get its gate:

${curlExample(port, certsDir)}

`
}

function curlExample(port: number, certsDir: string): string {
  const review = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'try-it',
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      operation: 'CREATE',
      namespace: 'default',
      object: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'train', namespace: 'default', labels: { [QUEUE_NAME]: 'team-a' } },
        spec: { containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1' } } }] },
      },
    },
  }
  const show = [
    `const {response}=JSON.parse(require("fs").readFileSync(0)),pod=${JSON.stringify(review.request.object)}`,
    'for(const {path,value} of JSON.parse(Buffer.from(response.patch,"base64"))){const keys=path.slice(1).split("/").map(k=>k.replace(/~1/g,"/")),last=keys.pop();keys.reduce((o,k)=>o[k],pod)[last]=value}',
    'console.log(JSON.stringify(pod,null,2))',
  ].join(';')
  return [
    `curl -sS --cacert ${shellQuote(`${certsDir}/ca.crt`)} -H 'Content-Type: application/json' \\`,
    `  -d ${shellQuote(JSON.stringify(review))} \\`,
    `  https://localhost:${port}/mutate/pods |`,
    `  node -e ${shellQuote(show)}`,
  ].join('\n')
}

function shellQuote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
