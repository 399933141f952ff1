import { defineConfig } from 'vitest/config'

export default defineConfig({
  // What controller authors import from the package, from source.
  resolve: {
    alias: {
      '@muster-dev/muster/workloadbuilder': new URL('src/workload/workloadbuilder.ts', import.meta.url).pathname,
    },
  },
  test: {
    // What hangs is to fail; what has to share its machine is not.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // By default one core is left idle, which on a machine with two is half of it.
    maxWorkers: '100%',
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'test-results/main.json' }]] : ['default'],
    projects: [
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['test/server/**/*.test.ts'],
          // The longest files are here: begun last, they would keep one core waiting for the other.
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'decisions',
          include: ['test/{unit,simulation,conformance}/**/*.test.ts'],
          // Nothing in src/ keeps state at module level, so one process loads it once for all files.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
    ],
  },
})
