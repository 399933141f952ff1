import { startVitest, type TestModule } from 'vitest/node'

/** Test files to run, on code in which one file may read differently. */
export interface TestRun {
  readonly tests: readonly string[]
  /** Absolute path and text. */
  readonly altered?: { readonly file: string; readonly text: string }
}

export interface TestReport {
  readonly tried: number
  /** Tests that failed, each with its first error. */
  readonly failed: readonly string[]
  /** Test files that could not even be loaded: a bug that shows like this shows nothing. */
  readonly unloadable: readonly string[]
  /** Whether the altered file was in it at all. */
  readonly loaded: boolean
}

/**
 * One run of vitest in this process. The altered text is given out where the file is loaded: the tests that ship judge
 * the code that ships, but for it. Nothing is kept between two runs.
 */
async function run({ tests, altered }: TestRun): Promise<TestReport> {
  let loaded = false
  const planting = {
    name: 'planted-bug',
    enforce: 'pre' as const,
    load(id: string) {
      if (id !== altered?.file) return undefined
      loaded = true
      return altered.text
    },
  }
  const vitest = await startVitest(
    [],
    {
      config: false,
      include: [...tests],
      watch: false,
      reporters: [],
      cache: false,
      // It would give out the file as it was, or keep it as it is here.
      fsModuleCache: false,
      pool: 'threads',
      maxWorkers: 1,
      isolate: false,
      bail: 1,
    },
    { plugins: [planting], server: { ws: false, watch: null } },
  )
  const modules = vitest.state.getTestModules()
  await vitest.close()
  return {
    tried: modules.reduce((sum, { children }) => sum + [...children.allTests()].length, 0),
    failed: modules.flatMap(failedIn),
    unloadable: modules.flatMap(module => module.errors().map(error => `${module.relativeModuleId}: ${error.message}`)),
    loaded,
  }
}

const failedIn = ({ children }: TestModule): readonly string[] =>
  [...children.allTests('failed')].map(test => `${test.fullName}: ${test.result().errors?.[0]?.message ?? ''}`)

process.on('message', (message: TestRun) => {
  run(message).then(
    report => process.send?.(report),
    (error: Error) => process.send?.({ tried: 0, failed: [], unloadable: [error.message], loaded: false }),
  )
})
