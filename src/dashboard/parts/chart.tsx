import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface Series {
  label: string
  /** A colour of the style sheet, such as `--accent`. */
  colour: string
  /** One a time; null is a gap. */
  values: readonly (number | null)[]
  dashed?: boolean
  /** A line by itself where the others are stacked. */
  apart?: boolean
}

/** A span of time set apart behind the lines: an incident, a window of maintenance. */
export interface Band {
  from: number
  to: number
  /** A colour of the style sheet, such as `--bad-soft`. */
  colour: string
  label: string
}

interface ChartProps {
  /** What it shows, to a screen reader; the figures should stand somewhere in words as well. */
  label: string
  /** Milliseconds since the epoch, rising. */
  times: readonly number[]
  series: readonly Series[]
  /** Each series is drawn on top of those before. */
  stacked?: boolean
  bands?: readonly Band[]
  /** What the axis of time spans, in milliseconds since the epoch, whatever figures there are; those alone when absent. */
  span?: readonly [from: number, to: number]
  format(value: number): string
  /** The span that was drawn over with the pointer, in milliseconds since the epoch. */
  onZoom?(from: number, to: number): void
  /** The time that was clicked. */
  onPick?(at: number): void
  height?: number
}

/** Charts of one page share their pointer: a time seen in one is seen in all. */
const shared = uPlot.sync('bailiwick')

/** Figures over time. Import it by `lazy`, since most pages have none. */
export default function Chart({ label, times, series, stacked, bands, span, format, onZoom, onPick, height = 220 }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const acts = useRef({ onZoom, onPick })
  acts.current = { onZoom, onPick }
  useEffect(() => {
    const node = place.current!
    const style = getComputedStyle(document.documentElement)
    const colour = (name: string) => style.getPropertyValue(name).trim()
    const seconds = times.map(time => time / 1000)
    const drawn = stacked ? stack(series) : series.map(one => one.values)
    const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line') } }
    const plot = new uPlot(
      {
        width: Math.max(node.clientWidth, 1),
        height,
        cursor: {
          sync: { key: shared.key },
          drag: { x: onZoom !== undefined, y: false, setScale: false },
          points: { size: 6 },
        },
        legend: { live: true },
        axes: [axis, { ...axis, size: 64, values: (_, splits) => splits.map(value => (value === null ? '' : format(value))) }],
        scales: {
          ...(span && { x: { range: (): [number, number] => [span[0] / 1000, span[1] / 1000] } }),
          y: { range: (_, least, most) => [Math.min(0, least ?? 0), (most ?? 1) * 1.1 || 1] },
        },
        series: [
          { label: 'Time' },
          ...series.map((one, at) => ({
            label: one.label,
            stroke: colour(one.colour),
            width: 1.5,
            ...(one.dashed && { dash: [5, 4] }),
            ...(stacked && !one.apart && { fill: `color-mix(in srgb, ${colour(one.colour)} 25%, transparent)` }),
            points: { show: times.length < 3 },
            // A stack is drawn as sums; what is told is each one's own part.
            value: (_: uPlot, __: number, ___: number, index: number | null) =>
              told(index === null ? null : series[at]!.values[index], format),
          })),
        ],
        hooks: {
          drawClear: [
            drawing => {
              for (const band of bands ?? []) {
                const from = Math.max(drawing.valToPos(band.from / 1000, 'x', true), drawing.bbox.left)
                const to = Math.min(drawing.valToPos(band.to / 1000, 'x', true), drawing.bbox.left + drawing.bbox.width)
                if (to <= from) continue
                drawing.ctx.fillStyle = colour(band.colour)
                drawing.ctx.fillRect(from, drawing.bbox.top, Math.max(to - from, 2), drawing.bbox.height)
              }
            },
          ],
          setSelect: [
            drawing => {
              const { left, width } = drawing.select
              if (width < 8) return
              acts.current.onZoom?.(drawing.posToVal(left, 'x') * 1000, drawing.posToVal(left + width, 'x') * 1000)
              drawing.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false)
            },
          ],
        },
      },
      [seconds, ...(drawn as (number | null)[][])],
      node,
    )
    plot.over.addEventListener('click', () => {
      const at = plot.cursor.idx
      if (at !== null && at !== undefined && plot.select.width < 8) acts.current.onPick?.(times[at]!)
    })
    const watch = new ResizeObserver(() => plot.setSize({ width: Math.max(node.clientWidth, 1), height }))
    watch.observe(node)
    return () => {
      watch.disconnect()
      plot.destroy()
    }
  }, [times, series, stacked, bands, span?.[0], span?.[1], height, format, onZoom === undefined])
  return <div ref={place} role="img" aria-label={label} className="chart w-full" style={{ minHeight: height + 30 }} />
}

const told = (value: number | null | undefined, format: (value: number) => string) =>
  value === null || value === undefined ? '–' : format(value)

function stack(series: readonly Series[]): (number | null)[][] {
  const sums: (number | null)[][] = []
  let below: (number | null)[] = []
  for (const one of series) {
    const sum = one.apart ? [...one.values] : one.values.map((value, at) => (value === null ? null : value + (below[at] ?? 0)))
    if (!one.apart) below = sum
    sums.push(sum)
  }
  return sums
}
