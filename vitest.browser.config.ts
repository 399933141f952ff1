import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 30_000,
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'test-results/browser.json' }]] : ['default'],
  },
})
