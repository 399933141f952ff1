import { defineConfig } from 'vitest/config'

export default defineConfig({
  // What controller authors import from the package, from source.
  resolve: {
    alias: {
      '@muster-dev/muster/workloadbuilder': new URL('src/workload/workloadbuilder.ts', import.meta.url).pathname,
    },
  },
  test: {
    include: ['test/{unit,server,simulation,conformance,mutants}/**/*.test.ts'],
    testTimeout: 20_000,
    // By default one core is left idle, which on a machine with two is half of it.
    maxWorkers: '100%',
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'test-results/main.json' }]] : ['default'],
  },
})
