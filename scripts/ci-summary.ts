import { readFileSync } from 'node:fs'

/** How a step of the build ended: its exit code, and the report that it should have written, if it runs tests. */
export interface Step {
  readonly name: string
  readonly code: number
  readonly report?: string
}

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
}

/** `check:0`, or `test:1:test-results/main.json`. */
export function parseStep(argument: string): Step {
  const [name = '', code = '', report] = argument.split(':')
  if (!name || !/^\d+$/.test(code)) throw new Error(`not NAME:EXIT_CODE[:REPORT]: ${argument}`)
  return { name, code: Number(code), ...(report ? { report } : {}) }
}

/**
 * The sum over all steps. A step that failed without a failed test (a type error, a file that does not load, a report
 * that was never written) counts as one failure, so that the line never looks better than the build.
 */
export function summarize(steps: readonly Step[], complain: (text: string) => void): Counts {
  let total: Counts = { passed: 0, failed: 0, skipped: 0 }
  for (const step of steps) {
    const counts = step.report ? readCounts(step.report, complain) : { passed: 0, failed: 0, skipped: 0 }
    const unexplained = step.code !== 0 && counts.failed === 0
    if (unexplained) complain(`step ${step.name} ended with code ${step.code}`)
    total = {
      passed: total.passed + counts.passed,
      failed: total.failed + counts.failed + (unexplained ? 1 : 0),
      skipped: total.skipped + counts.skipped,
    }
  }
  return total
}

function readCounts(path: string, complain: (text: string) => void): Counts {
  try {
    const report = JSON.parse(readFileSync(path, 'utf8')) as VitestReport
    const counts = {
      passed: report.numPassedTests,
      failed: report.numFailedTests,
      skipped: report.numPendingTests + report.numTodoTests,
    }
    if (!Object.values(counts).every(Number.isInteger)) throw new Error('it has not the counts of a vitest report')
    return counts
  } catch (error) {
    complain(`no usable test report ${path}: ${error instanceof Error ? error.message : String(error)}`)
    return { passed: 0, failed: 1, skipped: 0 }
  }
}

if (import.meta.main) {
  const { passed, failed, skipped } = summarize(process.argv.slice(2).map(parseStep), text => console.log(text))
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  process.exitCode = failed > 0 ? 1 : 0
}
