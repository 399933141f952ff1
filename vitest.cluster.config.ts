import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    // A control plane keeps two cores busy by itself: one file after the other, each with planes of its own.
    fileParallelism: false,
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'test-results/cluster.json' }]] : ['default'],
  },
})
