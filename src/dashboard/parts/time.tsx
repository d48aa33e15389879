import { useSyncExternalStore } from 'react'
import { systemClock } from '../../core/clock'
import { timeFormat } from './timezone'

const tickMs = 1000
const watchers = new Set<() => void>()
let ticking: ReturnType<typeof setInterval> | undefined
let second = Math.floor(systemClock.now() / tickMs)

// One clock for the whole page: a hundred rows do not need a hundred timers.
function subscribe(watcher: () => void): () => void {
  watchers.add(watcher)
  ticking ??= setInterval(() => {
    second = Math.floor(systemClock.now() / tickMs)
    for (const one of watchers) one()
  }, tickMs)
  return () => {
    watchers.delete(watcher)
    if (watchers.size > 0) return
    clearInterval(ticking)
    ticking = undefined
  }
}

/** The time, in milliseconds since the epoch, to the second; whoever asks is drawn anew when it moves. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => second) * tickMs

export const wholeTime = (at: string | number): string =>
  timeFormat({ dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(at))
export const clockTime = (at: string | number): string => timeFormat({ hour: '2-digit', minute: '2-digit' }).format(new Date(at))
export const dayOf = (at: string | number): string => timeFormat({ dateStyle: 'medium' }).format(new Date(at))

/** «3 min ago», «in 2 h», with the whole time to point at. `never` where there is none. */
export function Ago({ at, never = 'never' }: { at: string | number | null | undefined; never?: string }) {
  const now = useNow()
  if (at === null || at === undefined) return <span className="text-muted">{never}</span>
  const passed = now - new Date(at).getTime()
  const words = Math.abs(passed) < 1500 ? 'now' : passed > 0 ? `${roughly(passed)} ago` : `in ${roughly(-passed)}`
  return (
    <time dateTime={new Date(at).toISOString()} title={wholeTime(at)} className="whitespace-nowrap">
      {words}
    </time>
  )
}

/** How long something lasts that goes on: counts while one looks. */
export function Since({ at }: { at: string | number }) {
  return <span className="whitespace-nowrap">{span(Math.max(0, useNow() - new Date(at).getTime()))}</span>
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** A span in one unit, of which there are two at least: «95 min», «30 h». Short enough for a column. */
function roughly(ms: number): string {
  const [name, size] = units.find(([, one]) => ms >= 2 * one) ?? units.at(-1)!
  return `${Math.floor(ms / size)} ${name}`
}

/** A span in its two largest units: «2 h 5 min», «40 s», «350 ms». */
export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const first = units.findIndex(([, size]) => ms >= size)
  const [name, size] = units[first]!
  const count = Math.floor(ms / size)
  const next = units[first + 1]
  const rest = next && count < 10 ? Math.floor((ms % size) / next[1]) : 0
  return rest > 0 ? `${count} ${name} ${rest} ${next![0]}` : `${count} ${name}`
}

/** Milliseconds as a figure: «42 ms», «1.25 s». */
export const latency = (ms: number | null | undefined): string =>
  ms === null || ms === undefined
    ? '–'
    : ms < 1000
      ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
      : `${(ms / 1000).toFixed(2)} s`
