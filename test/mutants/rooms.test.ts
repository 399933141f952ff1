import { globSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { GANG_FAMILIES } from './bugs/gangs.ts'
import { GROUND_FAMILIES } from './bugs/ground.ts'
import { JOB_FAMILIES } from './bugs/jobs.ts'
import { KAI_FAMILIES } from './bugs/kai.ts'
import { LINT_FAMILIES } from './bugs/lints.ts'
import { POD_FAMILIES } from './bugs/pods.ts'
import { TLS_FAMILIES } from './bugs/tls.ts'
import { UNINSTALL_FAMILIES } from './bugs/uninstall.ts'
import { WORKLOAD_FAMILIES } from './bugs/workloads.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const ROOMS = new Set(
  globSync('src/{admission,validation,webhooks,tls,uninstall,review/lints}/**/*.ts', { cwd: ROOT }).map(dirname),
)
const FAMILIES = [
  ...[...POD_FAMILIES, ...GROUND_FAMILIES, ...JOB_FAMILIES],
  ...[...WORKLOAD_FAMILIES, ...TLS_FAMILIES, ...KAI_FAMILIES, ...GANG_FAMILIES, ...LINT_FAMILIES],
  ...UNINSTALL_FAMILIES,
]
const BUGS = FAMILIES.flatMap(({ bugs }) => bugs)

it.each([...ROOMS].sort())('there are bugs planted in %s', room => {
  expect(BUGS.filter(({ file }) => dirname(file) === room)).not.toEqual([])
})
