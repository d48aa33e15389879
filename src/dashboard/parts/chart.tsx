import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { wholeTime } from './time'
import { isTwelveHours, shownTimezone } from './timezone'

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
export default function Chart(props: ChartProps) {
  const { label, times, series, stacked = false, bands, span, onZoom, height = 220 } = props
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const latest = useRef(props)
  latest.current = props
  // New figures are put into the chart that stands; only what it looks like makes another one.
  const look = JSON.stringify([series.map(one => [one.label, one.colour, one.dashed, one.apart]), stacked, times.length < 3])
  useEffect(() => {
    const node = place.current!
    const make = () => {
      plot.current?.destroy()
      plot.current = drawn(node, latest)
    }
    make()
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: Math.max(node.clientWidth, 1), height }))
    resized.observe(node)
    const themed = new MutationObserver(make)
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      resized.disconnect()
      themed.disconnect()
      plot.current?.destroy()
      plot.current = null
    }
  }, [look, height, onZoom === undefined])
  useEffect(() => plot.current?.setData(figuresOf(latest.current)), [times, series, bands, span?.[0], span?.[1]])
  return <div ref={place} role="img" aria-label={label} className="chart w-full" style={{ minHeight: height + 30 }} />
}

const leastDrag = 8

// What stands at a mark, by the seconds between two: its own words, and those that are added where a year or a day begins.
const timeLabels = (minute: string, second: string): uPlot.Axis.Values => [
  [31_536_000, '{YYYY}', null, null, null, null, null, null, 1],
  [2_419_200, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, minute, null, null, '\n{D} {MMM}', null, null, null, 1],
  [1, second, null, null, '\n{D} {MMM}', null, null, null, 1],
]

const clocks = {
  12: timeLabels('{h}:{mm} {AA}', '{h}:{mm}:{ss} {AA}'),
  24: timeLabels('{HH}:{mm}', '{HH}:{mm}:{ss}'),
}

function drawn(node: HTMLElement, latest: { readonly current: ChartProps }): uPlot {
  const { times, series, stacked, span, onZoom, height = 220 } = latest.current
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line') } }
  const format = (value: number) => latest.current.format(value)
  const timezone = shownTimezone()
  const plot = new uPlot(
    {
      width: Math.max(node.clientWidth, 1),
      height,
      tzDate: seconds => uPlot.tzDate(new Date(seconds * 1000), timezone),
      cursor: {
        sync: { key: shared.key },
        drag: { x: onZoom !== undefined, y: false, setScale: false },
        points: { size: 6 },
      },
      legend: { live: true },
      axes: [
        { ...axis, space: 70, values: clocks[isTwelveHours() ? 12 : 24] },
        { ...axis, size: 64, values: (_, splits) => splits.map(value => (value === null ? '' : format(value))) },
      ],
      scales: {
        ...(span && { x: { range: (): [number, number] => latest.current.span!.map(ms => ms / 1000) as [number, number] } }),
        y: { range: (_, least, most) => [Math.min(0, least ?? 0), (most ?? 1) * 1.1 || 1] },
      },
      series: [
        { label: 'Time', value: (_: uPlot, seconds: number | null) => (seconds === null ? '–' : wholeTime(seconds * 1000)) },
        ...series.map((one, at) => ({
          label: one.label,
          stroke: colour(one.colour),
          width: 1.5,
          ...(one.dashed && { dash: [5, 4] }),
          ...(stacked && !one.apart && { fill: `color-mix(in srgb, ${colour(one.colour)} 35%, transparent)` }),
          points: { show: times.length < 3 },
          // A stack is drawn as sums; what is told is each one's own part.
          value: (_: uPlot, __: number, ___: number, index: number | null) =>
            told(index === null ? null : latest.current.series[at]?.values[index], format),
        })),
      ],
      // Each layer of a stack is filled down to the one below it.
      bands: stacked ? layersOf(series) : [],
      hooks: {
        drawClear: [
          drawing => {
            for (const band of latest.current.bands ?? []) {
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
            if (width < leastDrag) return
            latest.current.onZoom?.(drawing.posToVal(left, 'x') * 1000, drawing.posToVal(left + width, 'x') * 1000)
            drawing.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false)
          },
        ],
      },
    },
    figuresOf(latest.current),
    node,
  )
  plot.over.addEventListener('click', () => {
    const at = plot.cursor.idx
    const time = at === null || at === undefined ? undefined : latest.current.times[at]
    if (time !== undefined && plot.select.width < leastDrag) latest.current.onPick?.(time)
  })
  return plot
}

const figuresOf = ({ times, series, stacked }: ChartProps): uPlot.AlignedData => [
  times.map(time => time / 1000),
  ...((stacked ? stack(series) : series.map(one => one.values)) as (number | null)[][]),
]

/** The places of layers that lie on each other, the upper one first; the first place is that of the times. */
function layersOf(series: readonly Series[]): { series: [number, number] }[] {
  const layers = series.flatMap((one, at) => (one.apart ? [] : [at + 1]))
  return layers.slice(1).map((upper, at) => ({ series: [upper, layers[at]!] }))
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
