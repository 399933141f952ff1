import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/hostile/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 1_800_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
  },
})
