import { builtinFor, engineSource } from '../cluster/engine.ts'
import { type Configuration, DEFAULT_CONFIGURATION } from '../config/configuration.ts'
import { LiveConfiguration } from '../config/live.ts'
import { parseConfiguration } from '../config/load.ts'
import { formatConfigError } from '../config/source.ts'
import type { Resource } from '../kube/vocabulary/api.ts'
import { SYSTEM_NAMESPACE } from '../kube/vocabulary/names.ts'
import type { KubeObject, StringMap } from '../kube/vocabulary/objects.ts'
import type { Engine } from '../reconciler/engine.ts'
import { SILENT, type Sight } from './sight.ts'

export const CONFIG_MAPS: Resource = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
}

/** Where manifests/base puts the configuration. */
export const CONFIGURATION_REF = { namespace: SYSTEM_NAMESPACE, name: 'muster' }
const KEY = 'config.yaml'

export interface ConfigMap extends KubeObject {
  readonly data?: StringMap | null
}

/** What Muster runs by in the cluster. */
export interface Installation {
  /** Undefined where nobody here can tell. */
  readonly config: Configuration | undefined
  readonly engine: Engine
  /** The other one that it may be, where the configuration is not known. */
  readonly other?: Engine
}

/** `--config` is for whoever runs Muster from a file, or may not read the ConfigMap. */
export async function readInstallation(sight: Sight, given: Configuration | undefined): Promise<Installation> {
  const config = given ?? (await readConfigMap(sight))
  if (config?.engine === 'builtin') return { config, engine: builtinFor(config) }
  const kueue = await kueueIn(sight)
  if (config === undefined) {
    return { config, engine: builtinFor(DEFAULT_CONFIGURATION), ...(kueue && { other: kueue }) }
  }
  if (kueue === undefined) sight.note('Kueue: the configuration says engine: kueue, and its Workloads are not served')
  return { config, engine: kueue ?? builtinFor(config) }
}

/** Kueue as the engine, with what its answers depend on; undefined where it is not served. */
async function kueueIn(sight: Sight): Promise<Engine | undefined> {
  const live = new LiveConfiguration({ ...DEFAULT_CONFIGURATION, engine: 'kueue' })
  const source = engineSource(live, { ...sight, log: SILENT })
  await source.ask()
  for (const { resource, outline, see } of source.engine?.background ?? []) {
    const objects = await sight.list<KubeObject>(resource, { outline })
    if (objects !== 'denied') for (const object of objects) see(object, false)
  }
  return source.engine
}

async function readConfigMap(sight: Sight): Promise<Configuration | undefined> {
  const map = await sight.get<ConfigMap>(CONFIG_MAPS, CONFIGURATION_REF)
  if (map === 'denied') return undefined
  const where = `ConfigMap ${CONFIGURATION_REF.namespace}/${CONFIGURATION_REF.name}`
  if (map === 'absent') {
    sight.note(`the configuration: ${where} is not there; name the file with --config`)
    return undefined
  }
  const parsed = configurationIn(map)
  if ('configuration' in parsed) return parsed.configuration
  sight.note(`the configuration: ${where} cannot be used, and Muster runs by an older one (muster doctor says more)`)
  return undefined
}

/** The configuration in the ConfigMap, or everything that is wrong with it. */
export function configurationIn({
  data,
}: ConfigMap): { readonly configuration: Configuration } | { readonly errors: readonly string[] } {
  const text = data?.[KEY]
  if (text === undefined) return { errors: [`it has no key ${KEY}`] }
  const parsed = parseConfiguration(text, KEY)
  return 'errors' in parsed ? { errors: parsed.errors.map(formatConfigError) } : parsed
}
