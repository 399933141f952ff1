import { describe, expect, it } from 'vitest'
import { barChart } from '../../../bench/bar-chart.ts'

const chart = barChart({
  title: 'Seconds <of> a "run" & more',
  unit: 's',
  ours: ['Muster'],
  panels: [
    {
      title: 'One',
      bars: [
        { name: 'Muster', value: 2 },
        { name: 'Kueue', value: 8 },
      ],
    },
    { title: 'Two', bars: [{ name: 'Kueue', value: 1 }] },
  ],
})
const widths = [...chart.matchAll(/<rect class="bar[^>]*width="([\d.]+)"/g)].map(([, width]) => Number(width))

describe('the bar chart', () => {
  it('has bars as long as their values, and a scale of its own for each panel', () => {
    const [ours = 0, theirs = 0, alone] = widths
    expect(theirs / ours).toBeCloseTo(4)
    expect(alone).toBe(theirs)
  })

  it('sets off the bars that it is about, and names and counts every one', () => {
    expect(chart.match(/class="bar ours"/g)).toHaveLength(1)
    for (const label of ['One', 'Two', 'Muster', 'Kueue', '2.0 s', '8.0 s', '1.0 s'])
      expect(chart).toContain(`>${label}<`)
  })

  it('is a file of its own, readable on a dark page and safe with any text', () => {
    expect(chart).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /)
    expect(chart).toContain('prefers-color-scheme: dark')
    expect(chart).toMatch(/<rect class="ground" x="-16" y="-16" width="792"/)
    expect(chart).toContain('>Seconds &lt;of> a &quot;run&quot; &amp; more<')
    const height = Number(/ height="(\d+)" viewBox/.exec(chart)?.[1])
    expect(Math.max(...[...chart.matchAll(/ y="(\d+)"/g)].map(([, y]) => Number(y)))).toBeLessThan(height)
  })
})
