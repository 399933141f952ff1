/** Kubernetes' MicroTime: the API server refuses a Lease or Event whose fraction does not have exactly six digits. */
export function microTime(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, -1)}000Z`
}
