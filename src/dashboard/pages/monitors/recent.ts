import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { RecentView } from '../../../features/monitors/series/shapes'
import { call } from '../../client'
import { maxBars } from '../../parts/bars'
import { onMissedResults, useWatched, type LiveResult } from '../../shell/live'

type Result = RecentView['results'][number]

/** Recent results of a monitor, with live updates. */
export interface Recent {
  uptimePercent: number | null
  results: readonly Result[]
  /** The last live update; null if there was none yet. */
  live: LiveResult | null
}

const maxAtOnce = 100
const restMs = 120
const againMs = 60_000

/**
 * Recent results of the visible monitors, by id. Loads new monitors in one request, applies live updates, and refreshes every minute,
 * because uptime changes over time.
 */
export function useRecent(ids: readonly string[]): ReadonlyMap<string, Recent> {
  const [known, setKnown] = useState<ReadonlyMap<string, Recent>>(new Map())
  const latest = useRef(known)
  latest.current = known
  const key = ids.slice(0, maxAtOnce).join(',')
  const wanted = useMemo(() => (key === '' ? [] : key.split(',')), [key])
  useEffect(() => {
    const controller = new AbortController()
    const read = async (some: readonly string[]) => {
      if (some.length === 0 || document.visibilityState !== 'visible') return
      const { data } = await call<{ data: RecentView[] }>(
        { method: 'GET', path: '/monitors/recent', query: { ids: some, results: maxBars } },
        controller.signal,
      )
      setKnown(before => new Map([...before, ...data.map(one => [one.id, loadedFrom(one, before.get(one.id))] as const)]))
    }
    // Errors show as unknown here; the surrounding list reports them.
    const readQuietly = (some: readonly string[]) => void read(some).catch(() => undefined)
    const first = setTimeout(
      () => readQuietly(wanted.filter(id => !latest.current.has(id))),
      latest.current.size === 0 ? 0 : restMs,
    )
    const again = setInterval(() => readQuietly(wanted), againMs)
    const off = onMissedResults(() => readQuietly(wanted))
    return () => {
      off()
      controller.abort()
      clearTimeout(first)
      clearInterval(again)
    }
  }, [wanted])
  const onResults = useCallback((results: readonly LiveResult[]) => {
    if (results.length === 0) return
    setKnown(before => new Map([...before, ...results.map(one => [one.id, withLive(before.get(one.id), one)] as const)]))
  }, [])
  useWatched('monitors', wanted, onResults)
  return known
}

const loadedFrom = (view: RecentView, before: Recent | undefined): Recent => ({
  uptimePercent: view.uptime_percent,
  results: view.results,
  live: before?.live ?? null,
})

function withLive(before: Recent | undefined, live: LiveResult): Recent {
  const results = before?.results ?? []
  const last = results.at(-1)
  const next =
    live.last_check_at === null || (last && last.at >= live.last_check_at)
      ? results
      : [...results, { at: live.last_check_at, status: statusOf(live), latency_ms: live.response_ms }].slice(-maxBars)
  return { uptimePercent: before?.uptimePercent ?? null, results: next, live }
}

/** The status of a check, derived from a live update. */
const statusOf = ({ ok, status }: LiveResult): Result['status'] => (ok ? (status === 'degraded' ? 'degraded' : 'up') : 'down')
