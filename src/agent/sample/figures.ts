/** A counter, and what its increase is divided by, such as the time. */
interface Counter {
  count: number
  per: number
}

/** What a file says about a metric: its value, or counters from which the value is computed. */
export type Figure = number | Counter

/** Figures by metric. Metrics that the file doesn’t have are undefined. */
export type Figures = Record<string, Figure | undefined>

/** Figures by device. */
export type DeviceFigures = Map<string, Figures>

/** A counter per second. `seconds` is a time that no one sets back. */
export const perSecond = (count: number, seconds: number): Counter => ({ count, per: seconds })

/** The value of a figure; null if it needs the previous figure and there is none, or if a counter has been reset since. */
export function valueOf(figure: Figure, previous: Figure | undefined): number | null {
  if (typeof figure === 'number') return Number.isFinite(figure) ? figure : null
  if (typeof previous !== 'object') return null
  const [count, per] = [figure.count - previous.count, figure.per - previous.per]
  return count >= 0 && per > 0 && Number.isFinite(count / per) ? count / per : null
}

/** The number after a name at the start of a line; undefined if there is none. */
export function numberAfter(text: string, name: string): number | undefined {
  const line = text.startsWith(name) ? 0 : text.indexOf(`\n${name}`) + 1
  if (line === 0 && !text.startsWith(name)) return undefined
  const from = line + name.length
  const value = Number.parseFloat(text.slice(from, from + 40))
  return Number.isNaN(value) ? undefined : value
}

/** The words of a line. */
export const words = (line: string): string[] => line.trim().split(/\s+/)
