import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { RecentView } from '../../../features/monitors/series/shapes'
import { call } from '../../client'
import { useResults, type LiveResult } from '../../shell/live'

type Result = RecentView['results'][number]

/** How a monitor did lately, with what came since it was read. */
export interface Recent {
  uptimePercent: number | null
  results: readonly Result[]
  /** What the stream told last; null before it told anything. */
  live: LiveResult | null
}

const mostKept = 30
const mostAtOnce = 100
const restMs = 120
const againMs = 60_000

/**
 * How the monitors on the screen did lately, by id: read in one request for those that were not read yet, told on by the stream as
 * results come, and read again each minute, since uptime moves by itself.
 */
export function useRecent(ids: readonly string[]): ReadonlyMap<string, Recent> {
  const [known, setKnown] = useState<ReadonlyMap<string, Recent>>(new Map())
  const latest = useRef(known)
  latest.current = known
  const key = ids.slice(0, mostAtOnce).join(',')
  const wanted = useMemo(() => (key === '' ? [] : key.split(',')), [key])
  useEffect(() => {
    const gone = new AbortController()
    const read = async (some: readonly string[]) => {
      if (some.length === 0 || document.visibilityState !== 'visible') return
      const { data } = await call<{ data: RecentView[] }>(
        { method: 'GET', path: '/monitors/recent', query: { ids: some } },
        gone.signal,
      )
      setKnown(before => new Map([...before, ...data.map(one => [one.id, read1(one, before.get(one.id))] as const)]))
    }
    // What cannot be read shows as nothing known; the list around it tells why.
    const quietly = (some: readonly string[]) => void read(some).catch(() => undefined)
    const first = setTimeout(() => quietly(wanted.filter(id => !latest.current.has(id))), latest.current.size === 0 ? 0 : restMs)
    const again = setInterval(() => quietly(wanted), againMs)
    return () => {
      gone.abort()
      clearTimeout(first)
      clearInterval(again)
    }
  }, [wanted])
  const heard = useCallback((results: readonly LiveResult[]) => {
    if (results.length === 0) return
    setKnown(before => new Map([...before, ...results.map(one => [one.id, heardOf(before.get(one.id), one)] as const)]))
  }, [])
  useResults(wanted, heard)
  return known
}

const read1 = (view: RecentView, before: Recent | undefined): Recent => ({
  uptimePercent: view.uptime_percent,
  results: view.results,
  live: before?.live ?? null,
})

function heardOf(before: Recent | undefined, live: LiveResult): Recent {
  const results = before?.results ?? []
  const last = results.at(-1)
  const next =
    live.last_check_at === null || (last && last.at >= live.last_check_at)
      ? results
      : [...results, { at: live.last_check_at, status: statusOf(live), latency_ms: live.response_ms }].slice(-mostKept)
  return { uptimePercent: before?.uptimePercent ?? null, results: next, live }
}

/** What a check found, as far as the stream tells. */
export const statusOf = ({ ok, status }: LiveResult): Result['status'] =>
  ok ? (status === 'degraded' ? 'degraded' : 'up') : 'down'
