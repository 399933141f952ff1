import { defineConfig } from 'vitest/config'
import { kubernetesVersion } from './test/cluster/programs/catalog.ts'
import { filesFor } from './test/cluster/support/versions.ts'

export default defineConfig({
  test: {
    include: [...filesFor(kubernetesVersion(process.env))],
    // Each file has planes of its own and waits far more than it works: two cores carry three at a time.
    maxWorkers: 3,
    pool: 'forks',
    testTimeout: 300_000,
    hookTimeout: 240_000,
    teardownTimeout: 30_000,
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'test-results/cluster.json' }]] : ['default'],
  },
})
