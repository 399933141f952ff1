import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

interface Installed {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly env: readonly { readonly name: string; readonly value: string }[]
          readonly resources: { readonly limits: { readonly memory: string } }
        }[]
      }
    }
  }
}

const MANIFEST = new URL('../../manifests/base/deployment.yaml', import.meta.url)
const [container] = (parse(readFileSync(MANIFEST, 'utf8')) as Installed).spec.template.spec.containers
const options = container?.env.find(({ name }) => name === 'NODE_OPTIONS')?.value
const [, mebibytes] = /^(\d+)Mi$/.exec(container?.resources.limits.memory ?? '') ?? []
if (options === undefined || mebibytes === undefined)
  throw new Error(`${MANIFEST}: NODE_OPTIONS, or the limit of memory`)

/** What a replica has where it is installed: what is measured, and what has to live within it, runs with the same. */
export const NODE_FLAGS: readonly string[] = options.split(' ')
export const MEMORY_LIMIT_MB = Number(mebibytes)
