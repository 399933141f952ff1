export interface Panel {
  readonly title: string
  readonly bars: readonly { readonly name: string; readonly value: number }[]
}

export interface Chart {
  readonly title: string
  readonly unit: string
  /** One below the other; each has a scale of its own. */
  readonly panels: readonly Panel[]
  /** The bars that the chart is about. */
  readonly ours: readonly string[]
}

const WIDTH = 760
const LABELS = 150
const VALUES = 70
const BAR = 18
const GAP = 6
const HEAD = 34
const TOP = 40
const MARGIN = 16

/**
 * Colours of their own for dark and light, and a ground of their own: a picture does not inherit those of the page that
 * shows it, and a page may be dark where the machine is not.
 */
const STYLE = `
.ground { fill: #ffffff }
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 15px }
.panel { font-weight: 600 }
.bar { fill: #8c959f }
.ours { fill: #0969da }
@media (prefers-color-scheme: dark) {
  .ground { fill: #0d1117 }
  text { fill: #e6edf3 }
  .bar { fill: #6e7681 }
  .ours { fill: #4493f8 }
}`

/** Horizontal bars, the shorter the better, as an SVG file that needs nothing else. */
export function barChart({ title, unit, panels, ours }: Chart): string {
  const parts: string[] = []
  let y = TOP
  for (const panel of panels) {
    const longest = Math.max(...panel.bars.map(({ value }) => value))
    parts.push(text(0, y + 14, panel.title, 'panel'))
    y += 24
    for (const { name, value } of panel.bars) {
      const width = ((WIDTH - LABELS - VALUES) * value) / longest
      const middle = y + BAR - 5
      parts.push(text(0, middle, name))
      const kind = ours.includes(name) ? 'bar ours' : 'bar'
      parts.push(`<rect class="${kind}" x="${LABELS}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="3"/>`)
      parts.push(text(LABELS + width + 6, middle, `${value.toFixed(1)} ${unit}`))
      y += BAR + GAP
    }
    y += HEAD - BAR
  }
  const [width, height] = [WIDTH + 2 * MARGIN, y + MARGIN]
  const size = `width="${width}" height="${height}" viewBox="${-MARGIN} ${-MARGIN} ${width} ${height}"`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escaped(title)}">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="ground" x="${-MARGIN}" y="${-MARGIN}" width="${width}" height="${height}" rx="8"/>`,
    text(0, 18, title, 'title'),
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function text(x: number, y: number, content: string, kind?: string): string {
  return `<text${kind === undefined ? '' : ` class="${kind}"`} x="${x.toFixed(1)}" y="${y}">${escaped(content)}</text>`
}

const escaped = (content: string): string =>
  content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
