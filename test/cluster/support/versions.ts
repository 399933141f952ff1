import { type KubernetesVersion, kubernetesVersion } from '../programs/catalog.ts'

/** What Kubernetes has had for long: queues, gates, webhooks, policies. */
const ANY_VERSION = [
  ...['control-plane', 'install', 'admission', 'slice', 'reconciler', 'job-life', 'jobs-queue', 'jobset'],
  ...['account', 'away', 'charge', 'claims', 'job-pods', 'status', 'workloads'].map(name => `attacks/${name}`),
]

/** What is about something that only some versions have. */
const ONLY: Readonly<Record<Exclude<KubernetesVersion, '1.37'>, readonly string[]>> = {
  // PodGroups, and a Job controller that makes gangs by the shape of a Job.
  '1.36': ['gang-jobs-136', 'attacks/pod-groups', 'attacks/grouped-jobs'],
  // Pods that name a podGroup of a Workload. Nothing there is placed by PodGroups.
  '1.35': ['kai-workloads'],
}

/** The test files that a version can pass; the newest passes them all. */
export function filesFor(version: KubernetesVersion): readonly string[] {
  if (version === '1.37') return ['test/cluster/**/*.test.ts']
  return [...ANY_VERSION, ...ONLY[version]].map(name => `test/cluster/${name}.test.ts`)
}

const version = kubernetesVersion(process.env)

/** In which PodGroups of Kubernetes are served. */
export const POD_GROUP_API = `scheduling.k8s.io/${version === '1.36' ? 'v1alpha2' : 'v1beta1'}`

/** On 1.36 the API server lets nobody change how many a PodGroup wants, whatever admission says. */
export const POD_GROUPS_CHANGE = version !== '1.36'
