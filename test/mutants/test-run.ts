import { createVitest, type TestModule, type Vitest } from 'vitest/node'

/** Test files to run, on code in which one file may read differently. Paths are absolute. */
export interface TestRun {
  readonly tests: readonly string[]
  readonly altered?: Altered
}

interface Altered {
  readonly file: string
  readonly text: string
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

/** What the loader gives out instead of what lies in the folder. */
let altered: Altered | undefined
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

/** One vitest for all runs, which reads a file anew only when it is altered; a new thread for every run. */
const starting = createVitest(
  {
    config: false,
    watch: false,
    reporters: [],
    cache: false,
    // It would keep altered files for the runs of other people.
    fsModuleCache: false,
    pool: 'threads',
    maxWorkers: 1,
    isolate: false,
    bail: 1,
    testTimeout: 120_000,
  },
  { plugins: [planting], server: { ws: false, watch: null } },
)

/** The tests that ship judge the code that ships, but for what is altered. */
async function run(vitest: Vitest, { tests, altered: next }: TestRun): Promise<TestReport> {
  for (const file of [altered?.file, next?.file]) if (file !== undefined) vitest.invalidateFile(file)
  altered = next
  loaded = false
  const project = vitest.getRootProject()
  const run = await vitest.runTestSpecifications(tests.map(file => project.createSpecification(file)))
  // It answers with all it has ever run: what another bug has broken says nothing of this one.
  const testModules = run.testModules.filter(({ moduleId }) => tests.includes(moduleId))
  return {
    tried: testModules.reduce((sum, { children }) => sum + [...children.allTests()].length, 0),
    failed: testModules.flatMap(failedIn),
    unloadable: testModules.flatMap(module => module.errors().map(({ message }) => `${module.moduleId}: ${message}`)),
    loaded,
  }
}

const failedIn = ({ children }: TestModule): readonly string[] =>
  [...children.allTests('failed')].map(test => `${test.fullName}: ${test.result().errors?.[0]?.message ?? ''}`)

process.on('message', (message: TestRun) => {
  void starting
    .then(vitest => run(vitest, message))
    .catch((error: Error): TestReport => ({ tried: 0, failed: [], unloadable: [error.message], loaded: false }))
    .then(report => process.send?.(report))
})
