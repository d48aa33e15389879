import type { Row } from './cloud-responses'
import { dayMs, hourMs, minuteMs } from './time-units'

/** The averages of metrics, whose values vary over the day. Each core counts up to 100 percent. */
const averages: Readonly<Record<string, number>> = {
  cpu: 90,
  'disk.0.bandwidth.read': 180_000,
  'disk.0.bandwidth.write': 420_000,
  'disk.0.iops.read': 12,
  'disk.0.iops.write': 35,
  'network.0.bandwidth.in': 95_000,
  'network.0.bandwidth.out': 640_000,
  'network.0.pps.in': 110,
  'network.0.pps.out': 160,
}
const maxPoints = 500

/** The time series of a server between two times, always the same for the same times. */
export function metricsJson(serverId: number, query: URLSearchParams): Row {
  const [from, until] = ['start', 'end'].map(name => Date.parse(query.get(name)!)) as [number, number]
  const stepMs = Math.max(Number(query.get('step')) * 1000, (until - from) / maxPoints)
  const times = Array.from({ length: Math.floor((until - from) / stepMs) }, (_, at) => from + at * stepMs)
  const series = Object.entries(averages).map(([name, average], at) => {
    const values = times.map(time => [time / 1000, (average * loadAt(time, serverId * 10 + at)).toFixed(2)])
    return [name, { values }]
  })
  return { metrics: { time_series: Object.fromEntries(series) } }
}

/** A number from -0.5 to 0.5 that looks random. */
function noiseAt(n: number, seed: number): number {
  const value = Math.sin(n * 12.9898 + seed * 78.233) * 43_758.5453
  return value - Math.floor(value) - 0.5
}

/** How busy a server is at a time (ms UTC), around 1: more during the day, with differences from minute to minute. */
function loadAt(at: number, seed: number): number {
  const day = Math.sin((at / dayMs - 0.4) * 2 * Math.PI)
  const [hour, minute] = [hourMs, minuteMs].map(ms => noiseAt(Math.floor(at / ms), seed)) as [number, number]
  return Math.max(0.05, 1 + day * 0.4 + hour * 0.2 + minute * 0.3)
}
