import { readYaml } from '../documents/yaml-reader.ts'
import { ApiError, type KubeApi, type Resource } from '../kube/vocabulary/api.ts'
import { isObject } from '../kube/vocabulary/fields.ts'
import { KUEUE_POD_WEBHOOKS } from '../kube/vocabulary/kueue.ts'
import type { KubeObject, StringMap } from '../kube/vocabulary/objects.ts'
import { MUTATING_WEBHOOKS } from '../kube/vocabulary/resources.ts'
import type { InstalledConfiguration } from '../kube/vocabulary/webhook-configurations.ts'

/** How Kueue is set up, as far as it concerns pods. */
export interface KueueSetup {
  /** Why Kueue gates pods itself; undefined: it does not. */
  readonly podIntegration: string | undefined
  /** Kueue takes admissions back whose pods do not get ready, so somebody has to say when they are. */
  readonly waitsForPodsReady: boolean
}

const CONFIG_MAPS: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true }
/** As Kueue's manifests and its chart call them. */
const CONFIG = { namespace: 'kueue-system', name: 'kueue-manager-config' }
const CONFIG_FILE = 'controller_manager_config.yaml'
const WEBHOOKS = { name: 'kueue-mutating-webhook-configuration' }

/** The integrations with which Kueue gates pods: the others of them stand on the first. */
const ON_PODS: readonly string[] = ['pod', 'deployment', 'statefulset', 'leaderworkerset.x-k8s.io/leaderworkerset']

interface ConfigMap extends KubeObject {
  readonly data?: StringMap | null
}

/** From the file that Kueue was started with; where that is not to be had, from the webhooks that it has for pods. */
export async function kueueSetup(api: Pick<KubeApi, 'get'>, signal: AbortSignal): Promise<KueueSetup> {
  const { data } = (await orNothing(api.get<ConfigMap>(CONFIG_MAPS, CONFIG, { signal }))) ?? {}
  const text = data?.[CONFIG_FILE]
  const known = text === undefined ? undefined : setupIn(text)
  if (known !== undefined) return known
  const installed = await orNothing(api.get<InstalledConfiguration>(MUTATING_WEBHOOKS, WEBHOOKS, { signal }))
  return { podIntegration: webhookForPods(installed), waitsForPodsReady: false }
}

/** Undefined: nobody can read it. */
export function setupIn(text: string): KueueSetup | undefined {
  const [read] = readYaml(text)
  if (read === undefined || 'problem' in read || !isObject(read.value)) return undefined
  const { integrations, waitForPodsReady } = read.value
  const frameworks: unknown = isObject(integrations) ? integrations.frameworks : []
  const gating = Array.isArray(frameworks) ? ON_PODS.filter(name => frameworks.includes(name)) : []
  const podIntegration =
    gating.length === 0
      ? undefined
      : `integrations.frameworks in ConfigMap ${CONFIG.namespace}/${CONFIG.name} has ${gating.join(', ')}`
  return {
    podIntegration,
    // In v1beta1 it is switched on by a field of its own, in v1beta2 by being there.
    waitsForPodsReady: isObject(waitForPodsReady) && waitForPodsReady.enable !== false,
  }
}

/** The chart makes the webhook one that may fail when the integration is off. */
function webhookForPods(installed: InstalledConfiguration | undefined): string | undefined {
  const found = installed?.webhooks?.find(
    ({ name, rules, failurePolicy }) =>
      KUEUE_POD_WEBHOOKS.includes(name) &&
      failurePolicy !== 'Ignore' &&
      (rules ?? []).some(({ resources }) => resources?.includes('pods')),
  )
  return found && `webhook ${found.name} of MutatingWebhookConfiguration ${WEBHOOKS.name} is called for pods`
}

async function orNothing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return undefined
    throw error
  }
}
