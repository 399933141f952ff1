/**
 * Orders resourceVersions. Since KEP-5504 they are promised to be decimal numbers without leading zeros, so the longer
 * one is the greater one; they outgrow what a JavaScript number holds exactly. No version is older than any version.
 */
export function compareVersions(a: string | undefined, b: string | undefined): number {
  const left = a ?? ''
  const right = b ?? ''
  if (left === right) return 0
  if (left.length !== right.length) return left.length - right.length
  return left < right ? -1 : 1
}
