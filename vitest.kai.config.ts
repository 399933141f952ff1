import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/kai/**/*.test.ts'],
    fileParallelism: false,
    pool: 'forks',
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 30_000,
  },
})
