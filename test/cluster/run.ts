import { parseArgs } from 'node:util'
import { CONTROL_PLANE, HELM, KUBERNETES_VERSIONS, KUEUE, kubernetesVersion } from './programs/catalog.ts'
import { runTests, tellWhyNot } from './programs/run-tests.ts'

/**
 * `npm run test:cluster -- [--kubernetes 1.36] [FILE...]`: builds the programs of that version, or finds them, and runs
 * the tests that it can pass.
 */
async function main(): Promise<void> {
  const { values, positionals: files } = parseArgs({
    options: { kubernetes: { type: 'string' } },
    allowPositionals: true,
  })
  const env = { ...process.env, ...(values.kubernetes !== undefined && { MUSTER_KUBERNETES: values.kubernetes }) }
  console.error(`Kubernetes ${kubernetesVersion(env)}, of ${KUBERNETES_VERSIONS.join(', ')}`)
  await runTests({ programs: [...CONTROL_PLANE, ...KUEUE, ...HELM], config: 'vitest.cluster.config.ts', files, env })
}

await main().catch(tellWhyNot)
