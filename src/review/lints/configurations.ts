import type { Subject } from '../subjects.ts'
import type { Found } from './catalog.ts'

const GROUP = 'config.muster.dev'

/** What is wrong with a configuration of Muster that lies among the manifests: what `muster config check` would say. */
export async function configurationFindings({ request, isReview }: Subject): Promise<readonly Found[]> {
  if (request.kind.group !== GROUP || isReview) return []
  // It brings the compiler of schemas, and hardly any review needs it.
  const { parseConfiguration } = await import('../../config/load.ts')
  const result = parseConfiguration(JSON.stringify(request.object), '')
  if (!('errors' in result)) return []
  return result.errors.map(({ path, message }) => ({ code: 'ConfigurationInvalid', message, field: path }))
}
