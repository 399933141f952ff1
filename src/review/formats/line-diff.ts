/** Lines that are shown around each change. */
const CONTEXT = 3
/** Beyond this the changed middle is shown as one change: nobody reads more, and the comparison is quadratic. */
const MAX_CELLS = 4_000_000

type Step = readonly [mark: ' ' | '-' | '+', line: string]

/** The hunks of a unified diff; empty when there is no difference. */
export function unifiedDiff(before: string, after: string): string {
  if (before === after) return ''
  const steps = stepsBetween(linesOf(before), linesOf(after))
  const changed = steps.flatMap(([mark], index) => (mark === ' ' ? [] : [index]))
  let text = ''
  for (let first = 0; first < changed.length; ) {
    let last = first
    while (last + 1 < changed.length && at(changed, last + 1) - at(changed, last) <= 2 * CONTEXT) last++
    const from = Math.max(at(changed, first) - CONTEXT, 0)
    text += hunk(steps, from, Math.min(at(changed, last) + CONTEXT + 1, steps.length))
    first = last + 1
  }
  return text
}

const at = (numbers: readonly number[], index: number): number => numbers[index] ?? 0

const linesOf = (text: string): readonly string[] => text.replace(/\n$/, '').split('\n')

function hunk(steps: readonly Step[], from: number, to: number): string {
  const count = (part: readonly Step[], other: '+' | '-'): number => part.filter(([mark]) => mark !== other).length
  const [head, body] = [steps.slice(0, from), steps.slice(from, to)]
  const range = (other: '+' | '-'): string => `${count(head, other) + 1},${count(body, other)}`
  const lines = body.map(([mark, line]) => `${mark}${line}\n`)
  return `@@ -${range('+')} +${range('-')} @@\n${lines.join('')}`
}

function stepsBetween(before: readonly string[], after: readonly string[]): readonly Step[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const same = (lines: readonly string[]): readonly Step[] => lines.map(line => [' ', line])
  const [left, right] = [before.slice(start, before.length - end), after.slice(start, after.length - end)]
  return [...same(before.slice(0, start)), ...middle(left, right), ...same(before.slice(before.length - end))]
}

/** By the longest common subsequence. */
function middle(left: readonly string[], right: readonly string[]): readonly Step[] {
  if (left.length * right.length > MAX_CELLS) {
    return [...left.map((line): Step => ['-', line]), ...right.map((line): Step => ['+', line])]
  }
  const width = right.length + 1
  const common = new Uint32Array((left.length + 1) * width)
  for (let row = left.length - 1; row >= 0; row--) {
    for (let column = right.length - 1; column >= 0; column--) {
      const cell = row * width + column
      common[cell] =
        left[row] === right[column]
          ? 1 + (common[cell + width + 1] ?? 0)
          : Math.max(common[cell + width] ?? 0, common[cell + 1] ?? 0)
    }
  }
  const steps: Step[] = []
  let [row, column] = [0, 0]
  while (row < left.length || column < right.length) {
    const cell = row * width + column
    if (row < left.length && column < right.length && left[row] === right[column]) {
      steps.push([' ', left[row++] ?? ''])
      column++
    } else if (
      column >= right.length ||
      (row < left.length && (common[cell + width] ?? 0) >= (common[cell + 1] ?? 0))
    ) {
      steps.push(['-', left[row++] ?? ''])
    } else steps.push(['+', right[column++] ?? ''])
  }
  return steps
}
