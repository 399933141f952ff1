import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/rules/**/*.test.ts'],
    testTimeout: 300_000,
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'test-results/rules.json' }]] : ['default'],
  },
})
