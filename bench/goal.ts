/** What was promised, and what was measured. */
export interface Goal {
  readonly what: string
  readonly value: number
  readonly sense: 'at least' | 'at most'
  readonly goal: number
}

export const isMet = ({ value, sense, goal }: Goal): boolean => (sense === 'at least' ? value >= goal : value <= goal)

export const GOAL_HEAD = ['goal', 'measured', 'wanted', '']

export const goalRow = (entry: Goal): readonly string[] => [
  entry.what,
  entry.value.toFixed(2),
  `${entry.sense} ${entry.goal}`,
  isMet(entry) ? 'met' : 'MISSED',
]
