import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { type Fields, isObject } from '../vocabulary/fields.ts'
import type { KubeconfigAnswer } from './access.ts'

const CLUSTER_KEYS = [
  'server',
  'certificate-authority',
  'certificate-authority-data',
  'insecure-skip-tls-verify',
  'tls-server-name',
]
const USER_KEYS = ['token', 'client-certificate', 'client-certificate-data', 'client-key', 'client-key-data']

/**
 * A kubeconfig by which nobody has to log in anywhere: a server, a token or a certificate. That is most of them, and the
 * official client takes half a second to read one. Undefined: not one of these, or not right; the official client knows
 * all the others, and says what is wrong.
 */
export async function readPlainKubeconfig(
  file: string,
  context: string | undefined,
): Promise<KubeconfigAnswer | undefined> {
  try {
    const config: unknown = parse(await readFile(file, 'utf8'))
    if (!isObject(config)) return undefined
    const chosen = entryOf(config, 'contexts', context ?? config['current-context'])?.context
    if (!isObject(chosen)) return undefined
    const cluster = entryOf(config, 'clusters', chosen.cluster)?.cluster
    const user = entryOf(config, 'users', chosen.user)?.user
    if (!hasOnly(cluster, CLUSTER_KEYS) || !hasOnly(user, USER_KEYS)) return undefined
    return await answerFrom(cluster, user, chosen.namespace, path.dirname(file))
  } catch {
    return undefined
  }
}

async function answerFrom(
  cluster: Fields,
  user: Fields,
  namespace: unknown,
  folder: string,
): Promise<KubeconfigAnswer | undefined> {
  const { server, token } = { server: cluster.server, token: user.token }
  if (typeof server !== 'string' || !/^https?:/.test(server) || !URL.canParse(server)) return undefined
  const [ca, cert, key] = await Promise.all([
    material(cluster, 'certificate-authority', folder),
    material(user, 'client-certificate', folder),
    material(user, 'client-key', folder),
  ])
  const servername = cluster['tls-server-name']
  return {
    server: new URL(server).href,
    ...(typeof namespace === 'string' && namespace !== '' && { namespace }),
    access: {
      headers: typeof token === 'string' && token !== '' ? { authorization: `Bearer ${token}` } : {},
      tls: {
        ...(ca !== undefined && { ca }),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
        ...(typeof servername === 'string' && { servername }),
        ...(cluster['insecure-skip-tls-verify'] === true && { rejectUnauthorized: false }),
      },
    },
  }
}

function entryOf(config: Fields, list: string, name: unknown): Fields | undefined {
  const entries = config[list]
  if (!Array.isArray(entries) || typeof name !== 'string') return undefined
  return entries.filter(isObject).find(entry => entry.name === name)
}

const hasOnly = (entry: unknown, keys: readonly string[]): entry is Fields =>
  isObject(entry) && Object.keys(entry).every(key => keys.includes(key))

/** What stands in the file itself counts, else the file that it names, from where it lies. */
async function material(entry: Fields, name: string, folder: string): Promise<string | undefined> {
  const data = entry[`${name}-data`]
  if (typeof data === 'string' && data !== '') return Buffer.from(data, 'base64').toString('utf8')
  const named = entry[name]
  if (typeof named !== 'string' || named === '') return undefined
  return await readFile(path.resolve(folder, named), 'utf8')
}
