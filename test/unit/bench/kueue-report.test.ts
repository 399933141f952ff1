import { describe, expect, it } from 'vitest'
import { isMet } from '../../../bench/goal.ts'
import { goals } from '../../../bench/kueue-goals.ts'
import type { Load } from '../../../bench/kueue-loads.ts'
import { page } from '../../../bench/kueue-page.ts'
import { type Figures, loadRows, type Results, systemRows } from '../../../bench/kueue-report.ts'
import { markdownTable } from '../../../bench/markdown.ts'

const singles: Load = { name: '500 single pods', pods: 500, group: false, earlier: 0 }
const busy: Load = { name: 'a busy group', pods: 300, group: true, earlier: 500 }

const timing = (lifted: number, apiServer = 10): Figures => ({
  ...{ created: 1, lifted, bound: lifted + 1, createP50: 5, createP99: 50 },
  ...{ muster: 0, kueue: 0, apiServer },
})
const system = (name: string, rounds: readonly Figures[], perSecond: number, mb: number): Results => ({
  ...{ name, loads: new Map([[singles, [...rounds]]]), reviews: [{ perSecond, p99: 1000 / perSecond }] },
  memory: [name === 'Kueue' ? { muster: 0, kueue: mb } : { muster: mb, kueue: 0 }],
})
const results = [
  system('plain pods', [timing(9)], Number.NaN, 0),
  system('Muster', [timing(10, 14)], 4000, 80),
  system('Kueue', [timing(40)], 1000, 160),
]

describe('the report of the side by side', () => {
  const measured = goals(results, { singles })
  const value = (text: string) => measured.find(({ what }) => what.includes(text))?.value

  it('compares what was measured, and no more', () => {
    expect(value('single pods, times as fast as Kueue')).toBe(4)
    expect(value('of the rate of plain pods')).toBe(0.9)
    expect(value('CPU of the API server')).toBe(1.4)
    expect(value('webhook: reviews/s')).toBe(4)
    expect(value('webhook: p99')).toBe(0.25)
    expect(value('memory, of that of Kueue')).toBe(0.5)
    expect(measured.filter(({ what }) => what.includes('undefined'))).toEqual([])
    expect(measured.every(isMet)).toBe(true)
  })

  it('takes the ratio within a round, and the middle of the rounds', () => {
    const ratios = goals(
      [
        system('Muster', [timing(1), timing(10), timing(10)], 1, 1),
        system('Kueue', [timing(2), timing(70), timing(50)], 1, 1),
      ],
      { singles },
    )
    expect(ratios.find(({ what }) => what.startsWith('Muster: 500 single pods'))?.value).toBe(5)
  })

  it('holds a group in the clean-up to the raw patches by what comes after the last create', () => {
    const of = (name: string, lifted: number): Results => ({
      ...{ name, reviews: [], memory: [], loads: new Map([[busy, [timing(lifted)]]]) },
    })
    const [goal] = goals([of('raw patches', 3), of('Muster', 4)], { busy })
    expect(goal).toMatchObject({ value: 1.5, sense: 'at most' })
  })

  it('has a row for each system that took part, with nothing where nothing was measured', () => {
    expect(loadRows(results, singles).map(([name, lifted, rate]) => [name, lifted, rate])).toEqual([
      ['plain pods', '9.0', '56'],
      ['Muster', '10.0', '50'],
      ['Kueue', '40.0', '13'],
    ])
    expect(loadRows(results, busy)).toEqual([])
    expect(systemRows(results).map(([name, ...rest]) => [name, ...rest.slice(2)])).toEqual([
      ['Muster', '80', '-', '80'],
      ['Kueue', '-', '160', '160'],
    ])
  })

  it('is a table that lines up', () => {
    expect(
      markdownTable(
        ['what', 'ms'],
        [
          ['a', '1'],
          ['longer', '10.5'],
        ],
      ),
    ).toBe(['| what   |   ms |', '|--------|-----:|', '| a      |    1 |', '| longer | 10.5 |'].join('\n'))
  })

  it('says how many goals are missed, and what else the machine had to do', () => {
    const quiet = page(results, { singles }, { rounds: 1, others: 1 })
    expect(quiet).toContain('| Muster: memory, of that of Kueue')
    expect(quiet).toMatch(/^\d+ of \d+ are met\.$/m)
    expect(quiet).not.toContain('meanwhile')
    const slow = [system('Muster', [timing(39)], 1, 1), system('Kueue', [timing(40)], 1, 1)]
    const busy = page(slow, { singles }, { rounds: 3, others: 34.6 })
    expect(busy).toContain('took 35 % of them meanwhile')
    expect(busy).toMatch(/are met, \d missed\.$/m)
    expect(busy).toContain('MISSED')
  })
})
