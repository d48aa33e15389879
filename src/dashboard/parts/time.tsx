import { useSyncExternalStore } from 'react'
import { hubNow } from '../hub-clock'
import { timeFormat, usesTwelveHourClock } from './timezone'

const tickMs = 1000
const watchers = new Set<() => void>()
let ticking: ReturnType<typeof setInterval> | undefined
let second = 0

const currentSecond = () => Math.floor(hubNow() / tickMs)

// One timer for the whole page instead of one per row.
function subscribe(watcher: () => void): () => void {
  watchers.add(watcher)
  if (ticking === undefined) second = currentSecond()
  ticking ??= setInterval(() => {
    second = currentSecond()
    for (const one of watchers) one()
  }, tickMs)
  return () => {
    watchers.delete(watcher)
    if (watchers.size > 0) return
    clearInterval(ticking)
    ticking = undefined
  }
}

/** The time of the hub in milliseconds since the epoch, rounded to seconds. Re-renders the component every second. */
export const useNow = (): number =>
  useSyncExternalStore(subscribe, () => (ticking === undefined ? currentSecond() : second)) * tickMs

export const formatDateTime = (at: string | number): string =>
  timeFormat({ dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(at))
const hourAndMinute = () => ({ hour: usesTwelveHourClock() ? 'numeric' : '2-digit', minute: '2-digit' }) as const
export const formatTime = (at: string | number): string => timeFormat(hourAndMinute()).format(new Date(at))
/** Formats a time of day such as `07:00`, without converting it to another time zone. */
export const formatTimeOfDay = (local: string): string =>
  timeFormat({ ...hourAndMinute(), timeZone: 'UTC' }).format(new Date(`1970-01-01T${local}Z`))
/** Formats a date or local time of another time zone, such as `2026-11-26T19:19:39`, without converting it. */
export const formatLocal = (local: string): string =>
  local.includes('T')
    ? timeFormat({ dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' }).format(new Date(`${local}Z`))
    : timeFormat({ dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(local))
export const formatDate = (at: string | number): string => timeFormat({ dateStyle: 'medium' }).format(new Date(at))

interface RelativeTimeProps {
  at: string | number | null | undefined
  /** Shown if there is no time. */
  fallback?: string
  /** Shown once the time has passed, for something that is due then. */
  past?: string
}

/** “3 min ago” or “in 2 h”, with the full time as a tooltip. */
export function RelativeTime({ at, fallback = 'Never', past }: RelativeTimeProps) {
  const now = useNow()
  if (at === null || at === undefined) return <span className="text-muted">{fallback}</span>
  return (
    <time dateTime={new Date(at).toISOString()} title={formatDateTime(at)} className="whitespace-nowrap">
      {relativeText(now - new Date(at).getTime(), past)}
    </time>
  )
}

/**
 * “3 min ago” or “in 2 h”.
 * @param passed ms since the time; negative if it is in the future
 * @param past the text once it has passed
 */
export function relativeText(passed: number, past?: string): string {
  if (past !== undefined && passed > -1000) return past
  if (passed > -2000 && passed < 1500) return 'now'
  return passed > 0 ? `${roughDuration(passed)} ago` : `in ${roughDuration(-passed)}`
}

interface TimeListProps {
  times: readonly string[]
  format?(at: string): string
  /** Shown if there are no times. */
  empty?: string | false
}

/** A list of times, with how far away each is. */
export const TimeList = ({ times, format = formatDateTime, empty }: TimeListProps) => (
  <ol>
    {times.map(at => (
      <li key={at} className="flex flex-wrap gap-x-3">
        <span className="min-w-52">{format(at)}</span>
        <span className="text-muted">
          <RelativeTime at={at} />
        </span>
      </li>
    ))}
    {times.length === 0 && empty && <li className="text-muted">{empty}</li>}
  </ol>
)

/** Time elapsed since `at`, updated every second. */
export const ElapsedTime = ({ at }: { at: string | number }) => (
  <span className="whitespace-nowrap">{formatDuration(Math.max(0, useNow() - new Date(at).getTime()))}</span>
)

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** Formats a duration in its largest unit, rounded down: “3 min”, “1 h”. */
function roughDuration(ms: number): string {
  const [name, size] = units.find(([, one]) => ms >= one) ?? units.at(-1)!
  return `${Math.floor(ms / size)} ${name}`
}

/** Formats a duration in its two largest units: “2 h 5 min”, “40 s”, “350 ms”. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const first = units.findIndex(([, size]) => ms >= size)
  const [name, size] = units[first]!
  const count = Math.floor(ms / size)
  const next = units[first + 1]
  const rest = next && count < 10 ? Math.floor((ms % size) / next[1]) : 0
  return rest > 0 ? `${count} ${name} ${rest} ${next![0]}` : `${count} ${name}`
}

/** Formats a latency: “42 ms”, “1.25 s”. */
export const formatLatency = (ms: number | null | undefined): string =>
  ms === null || ms === undefined
    ? '–'
    : ms < 1000
      ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
      : `${(ms / 1000).toFixed(2)} s`
