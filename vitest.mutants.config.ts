import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/{mutants,campaign}/**/*.test.ts'],
    testTimeout: 300_000,
    // Each bug is looked for in a process or thread of its own; what these files do themselves is wait for them.
    maxWorkers: '100%',
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'test-results/mutants.json' }]] : ['default'],
  },
})
