import { sampleReview } from './review.ts'

/** A gang Job around the pod of `sampleReview`, with everything that a scheduling block can say. */
export function sampleJobReview(): Buffer {
  const { request, ...envelope } = JSON.parse(sampleReview({ owner: 'Run' }).toString())
  const { metadata, spec } = request.object
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'train', namespace: metadata.namespace, labels: metadata.labels },
    spec: {
      parallelism: 32,
      completions: 32,
      completionMode: 'Indexed',
      backoffLimit: 6,
      suspend: false,
      scheduling: {
        schedulingPolicy: { gang: { minCount: 32 } },
        schedulingConstraints: { topology: [{ key: 'topology.kubernetes.io/zone' }] },
        disruptionMode: { all: {} },
        resourceClaims: [{ name: 'fabric', resourceClaimTemplateName: 'fabric' }],
      },
      template: { metadata: { labels: metadata.labels }, spec },
    },
  }
  const kind = { group: 'batch', version: 'v1', kind: 'Job' }
  const resource = { group: 'batch', version: 'v1', resource: 'jobs' }
  const asked = { ...request, kind, resource, requestKind: kind, requestResource: resource, name: 'train', object: job }
  return Buffer.from(JSON.stringify({ ...envelope, request: asked }))
}
