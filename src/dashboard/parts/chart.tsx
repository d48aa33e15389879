import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { redraw } from './redraw'
import { formatDateTime } from './time'
import { usesTwelveHourClock, displayTimezone } from './timezone'

export interface Series {
  label: string
  /** A color variable of the style sheet, such as `--accent`. */
  color: string
  /** One value per time. Null is a gap. */
  values: readonly (number | null)[]
  dashed?: boolean
  /** Not stacked, even if the other series are. */
  unstacked?: boolean
}

/** A highlighted time range in the background: an incident, a maintenance window. */
export interface Band {
  from: number
  to: number
  /** A color variable of the style sheet, such as `--bad-soft`. */
  color: string
  label: string
}

/** A numbered line at a time: something that happened. Describe it as text next to the chart. */
export interface Mark {
  at: number
  number: number
  /** A color variable of the style sheet, such as `--bad-mark`. */
  color: string
}

interface ChartProps {
  /** Label for screen readers. Show the values as text somewhere on the page as well. */
  label: string
  /** Milliseconds since the epoch, in ascending order. */
  times: readonly number[]
  series: readonly Series[]
  /** Stacks the series on top of each other. */
  stacked?: boolean
  bands?: readonly Band[]
  marks?: readonly Mark[]
  /** Fixed range of the time axis, in milliseconds since the epoch. Defaults to the range of the data. */
  span?: readonly [from: number, to: number]
  format(value: number): string
  /** Called with the time range selected by dragging, in milliseconds since the epoch. */
  onZoom?(from: number, to: number): void
  /** Called with the time that was clicked. */
  onPick?(at: number): void
  height?: number
}

/** Synchronizes the cursor of all charts on a page. */
const cursorSync = uPlot.sync('bailiwick')

/** A time series chart. Load it with `lazy`, since most pages have none. */
export default function Chart(props: ChartProps) {
  const { label, times, series, stacked = false, bands, marks, span, onZoom, height = 220 } = props
  const container = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const latest = useRef(props)
  latest.current = props
  // New data is set on the existing chart. Only a different layout creates a new one.
  const layout = JSON.stringify([series.map(one => [one.label, one.color, one.dashed, one.unstacked]), stacked])
  useEffect(() => {
    const node = container.current!
    const draw = () => {
      plot.current?.destroy()
      plot.current = createPlot(node, latest)
    }
    const stop = redraw(node, () => plot.current?.setSize({ width: Math.max(node.clientWidth, 1), height }), draw)
    return () => {
      stop()
      plot.current?.destroy()
      plot.current = null
    }
  }, [layout, height, onZoom === undefined])
  useEffect(() => plot.current?.setData(plotData(latest.current)), [times, series, bands, marks, span?.[0], span?.[1]])
  return <div ref={container} role="img" aria-label={label} className="chart w-full" style={{ minHeight: height + 30 }} />
}

const minDragPx = 8

// Tick labels by tick distance in seconds, with a second line where a year or day starts.
const timeLabels = (minute: string, second: string): uPlot.Axis.Values => [
  [31_536_000, '{YYYY}', null, null, null, null, null, null, 1],
  [2_419_200, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400, '{MMM} {D}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, minute, null, null, '\n{MMM} {D}', null, null, null, 1],
  [1, second, null, null, '\n{MMM} {D}', null, null, null, 1],
]

const clocks = { 12: timeLabels('{h}:{mm} {AA}', '{h}:{mm}:{ss} {AA}'), 24: timeLabels('{HH}:{mm}', '{HH}:{mm}:{ss}') }

function createPlot(node: HTMLElement, latest: { readonly current: ChartProps }): uPlot {
  const { series, stacked, span, onZoom, height = 220 } = latest.current
  const style = getComputedStyle(document.documentElement)
  const color = (name: string) => style.getPropertyValue(name).trim()
  const axis = { stroke: color('--muted'), grid: { stroke: color('--line'), width: 1 }, ticks: { stroke: color('--line') } }
  const format = (value: number) => latest.current.format(value)
  const timezone = displayTimezone()
  const plot = new uPlot(
    {
      width: Math.max(node.clientWidth, 1),
      height,
      tzDate: seconds => uPlot.tzDate(new Date(seconds * 1000), timezone),
      cursor: {
        sync: { key: cursorSync.key },
        drag: { x: onZoom !== undefined, y: false, setScale: false },
        points: { size: 6 },
      },
      legend: { live: true },
      // Half of a label can be to the right of the last time.
      padding: [null, 30, null, null],
      axes: [
        { ...axis, space: 70, values: clocks[usesTwelveHourClock() ? 12 : 24] },
        { ...axis, size: axisWidth, values: (_, splits) => splits.map(value => (value === null ? '' : format(value))) },
      ],
      scales: {
        ...(span && { x: { range: (): [number, number] => latest.current.span!.map(ms => ms / 1000) as [number, number] } }),
        y: { range: (_, min, max) => [Math.min(0, min ?? 0), (max ?? 1) * 1.1 || 1] },
      },
      series: [
        { label: 'Time', value: (_: uPlot, seconds: number | null) => (seconds === null ? '–' : formatDateTime(seconds * 1000)) },
        ...series.map((one, at) => ({
          label: one.label,
          stroke: color(one.color),
          width: 1.5,
          ...(one.dashed && { dash: [5, 4] }),
          ...(stacked && !one.unstacked && { fill: `color-mix(in srgb, ${color(one.color)} 35%, transparent)` }),
          // A value between two gaps has no line.
          points: { show: true, filter: (plot: uPlot, at: number) => isolated(plot.data[at]!) },
          // A stack is drawn as sums, but the legend shows the value of each series.
          value: (_: uPlot, __: number, ___: number, index: number | null) =>
            formatted(index === null ? null : latest.current.series[at]?.values[index], format),
        })),
      ],
      // Fill each layer of a stack down to the one below it.
      bands: stacked ? stackBands(series) : [],
      hooks: {
        // Without a cursor, there are no values to show.
        setCursor: [plot => plot.root.toggleAttribute('data-cursor', plot.cursor.idx !== null && plot.cursor.idx !== undefined)],
        drawClear: [
          plot => {
            for (const band of latest.current.bands ?? []) {
              const from = Math.max(plot.valToPos(band.from / 1000, 'x', true), plot.bbox.left)
              const to = Math.min(plot.valToPos(band.to / 1000, 'x', true), plot.bbox.left + plot.bbox.width)
              if (to <= from) continue
              plot.ctx.fillStyle = color(band.color)
              plot.ctx.fillRect(from, plot.bbox.top, Math.max(to - from, 2), plot.bbox.height)
            }
          },
        ],
        draw: [plot => drawMarks(plot, latest.current.marks ?? [], color)],
        setSelect: [
          plot => {
            const { left, width } = plot.select
            if (width < minDragPx) return
            latest.current.onZoom?.(plot.posToVal(left, 'x') * 1000, plot.posToVal(left + width, 'x') * 1000)
            plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false)
          },
        ],
      },
    },
    plotData(latest.current),
    node,
  )
  plot.over.addEventListener('click', () => {
    const at = plot.cursor.idx
    const time = at === null || at === undefined ? undefined : latest.current.times[at]
    if (time !== undefined && plot.select.width < minDragPx) latest.current.onPick?.(time)
  })
  return plot
}

const [markDash, markFontPx] = [3, 10]

/** Draws marks as lines, with their numbers at the top where there is space. */
function drawMarks(plot: uPlot, marks: readonly Mark[], color: (name: string) => string): void {
  const { ctx, bbox } = plot
  const scale = devicePixelRatio
  const size = markFontPx * scale
  let free = -Infinity
  ctx.save()
  ctx.font = `600 ${size}px system-ui, sans-serif`
  ctx.textAlign = 'center'
  ctx.textBaseline = 'bottom'
  for (const { at, number, color: name } of marks.toSorted((a, b) => a.at - b.at)) {
    const x = plot.valToPos(at / 1000, 'x', true)
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.strokeStyle = ctx.fillStyle = color(name)
    ctx.lineWidth = scale
    ctx.setLineDash([markDash * scale, markDash * scale])
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    const text = String(number)
    const half = ctx.measureText(text).width / 2
    if (x - half < free) continue
    ctx.fillText(text, x, bbox.top)
    free = x + half + 2 * scale
  }
  ctx.restore()
}

const [minAxisPx, characterPx, tickPx] = [64, 7, 20]

/** The width of an axis with its longest label. */
const axisWidth = (_: uPlot, labels: readonly string[] | null): number =>
  Math.max(minAxisPx, ...(labels ?? []).map(one => one.length * characterPx + tickPx))

const plotData = ({ times, series, stacked }: ChartProps): uPlot.AlignedData => [
  times.map(time => time / 1000),
  ...((stacked ? stack(series) : series.map(one => one.values)) as (number | null)[][]),
]

/** The places of values without a value next to them. */
function isolated(values: uPlot.AlignedData[number]): number[] {
  const isKnown = (at: number) => values[at] !== null && values[at] !== undefined
  return Array.from(values, (_, at) => at).filter(at => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1))
}

/** Returns pairs of adjacent layers, the upper one first, as series indexes. Index 0 holds the times. */
function stackBands(series: readonly Series[]): { series: [number, number] }[] {
  const layers = series.flatMap((one, at) => (one.unstacked ? [] : [at + 1]))
  return layers.slice(1).map((upper, at) => ({ series: [upper, layers[at]!] }))
}

const formatted = (value: number | null | undefined, format: (value: number) => string) =>
  value === null || value === undefined ? '–' : format(value)

function stack(series: readonly Series[]): (number | null)[][] {
  const sums: (number | null)[][] = []
  let below: (number | null)[] = []
  for (const one of series) {
    const sum = one.unstacked
      ? [...one.values]
      : one.values.map((value, at) => (value === null ? null : value + (below[at] ?? 0)))
    if (!one.unstacked) below = sum
    sums.push(sum)
  }
  return sums
}
