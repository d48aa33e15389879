import { useQueryClient, type InfiniteData, type QueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { ServerLiveView } from '../../features/servers/live/shapes'
import { apiUrl, call, ApiError, tabWorkspace, type Page } from '../client'
import { reconnect, useIsReachable } from '../connection'
import { store } from '../parts/store'
import { refetchSession, invalidatePath } from '../queries'
import { constantPath, isWithin, resourceApiPath, affectedPaths, type Change } from './affected-paths'

export interface LiveResult {
  id: string
  status: string
  last_check_at: string | null
  ok: boolean
  response_ms: number | null
}

/** What a server does now. */
export interface LiveRow {
  id: string
  at: string
  metrics: Readonly<Record<string, number>>
  processes: ServerLiveView['processes']
}

/** What can be watched: the query parameter with the ids, and the event. */
const watchKinds = {
  monitors: { parameter: 'watch', event: 'results', max: 100 },
  servers: { parameter: 'watch_servers', event: 'live', max: 10 },
} as const
type WatchKind = keyof typeof watchKinds
const kinds = Object.keys(watchKinds) as WatchKind[]
interface Watched {
  monitors: LiveResult
  servers: LiveRow
}

type Listener<Item> = (items: readonly Item[]) => void
const watchers = new Map<Listener<never>, { kind: WatchKind; ids: ReadonlySet<string> }>()
/** How the page receives changes: by the stream, by polling, or not yet. */
export const liveState = store<'live' | 'connecting' | 'polling'>('connecting')
let rewatch = () => {}
const missedListeners = new Set<() => void>()

/** Calls the listener when results may have been missed because the tab was hidden. @returns a function that removes it */
export function onMissedResults(listener: () => void): () => void {
  missedListeners.add(listener)
  return () => missedListeners.delete(listener)
}

/**
 * Calls the listener with each new result of monitors, or row of live metrics of servers. The stream supports up to 100 monitors and
 * 10 servers, so pass only visible ones.
 */
export function useWatched<Kind extends WatchKind>(kind: Kind, ids: readonly string[], listener: Listener<Watched[Kind]>): void {
  const key = [...ids].sort().join(',')
  useEffect(() => {
    watchers.set(listener, { kind, ids: new Set(key === '' ? [] : key.split(',')) })
    rewatch()
    return () => {
      watchers.delete(listener)
      rewatch()
    }
  }, [kind, key, listener])
}

const settleMs = 400
const pollMs = 15_000
// Switching tabs back and forth shouldn't reopen the stream each time.
const hiddenMs = 2000

/**
 * Subscribes to the stream of changes while the shell is mounted, and invalidates cached responses that have changed.
 * Hidden tabs and pages in the back/forward cache have no stream: browsers open at most six HTTP/1.1 connections to a site.
 */
export function useLiveUpdates(workspaceId: string): void {
  const client = useQueryClient()
  const isReachable = useIsReachable()
  const position = useRef<string | null>(null)
  useEffect(() => {
    if (!isReachable) return
    let source: EventSource | null = null
    let watching = ''
    let timer: ReturnType<typeof setTimeout> | undefined
    let hiding: ReturnType<typeof setTimeout> | undefined
    let isPaused = document.visibilityState === 'hidden'
    let hasMissed = isPaused
    const { push, stop } = throttled(changes => applyChanges(client, changes))
    // Without a stream, such as behind a proxy that buffers it, the pages poll.
    const poll = setInterval(() => {
      if (liveState.now() === 'live' || document.visibilityState !== 'visible') return
      void invalidatePath(client, '')
      // An EventSource doesn't reconnect after an error response, such as from a proxy while the hub restarts.
      if (source?.readyState === EventSource.CLOSED) open()
    }, pollMs)
    const idsOf = (kind: WatchKind) =>
      [...new Set([...watchers.values()].flatMap(one => (one.kind === kind ? [...one.ids] : [])))]
        .sort()
        .slice(0, watchKinds[kind].max)
        .join(',')
    const idsToWatch = () => kinds.map(idsOf).join(' ')
    const open = () => {
      source?.close()
      watching = idsToWatch()
      const watched = Object.fromEntries(kinds.map(kind => [watchKinds[kind].parameter, idsOf(kind)]))
      source = new EventSource(
        apiUrl({
          path: '/stream',
          query: { workspace: tabWorkspace() ?? workspaceId, since: position.current, ...watched },
        }),
      )
      source.addEventListener('hello', () => {
        liveState.set('live')
        if (hasMissed) catchUp()
      })
      source.addEventListener('change', event => {
        position.current = event.lastEventId || position.current
        push((JSON.parse(event.data) as { changes: Change[] }).changes)
      })
      source.addEventListener('reset', event => {
        position.current = event.lastEventId || position.current
        void invalidatePath(client, '')
      })
      for (const kind of kinds)
        source.addEventListener(watchKinds[kind].event, event => {
          const items = JSON.parse((event as MessageEvent<string>).data)[kind] as { id: string }[]
          for (const [listener, watched] of watchers)
            if (watched.kind === kind) listener(items.filter(one => watched.ids.has(one.id)) as never)
        })
      source.addEventListener('error', () => {
        const isClosed = source?.readyState === EventSource.CLOSED
        liveState.set(isClosed ? 'polling' : 'connecting')
        if (isClosed) void refetchSession()
        else void reconnect()
      })
    }
    const catchUp = () => {
      hasMissed = false
      void invalidatePath(client, '')
      for (const listener of missedListeners) listener()
    }
    const pause = () => {
      clearTimeout(hiding)
      isPaused = hasMissed = true
      source?.close()
      // All data is refetched later, so the changes until then aren't needed.
      position.current = null
      liveState.set('connecting')
    }
    const pauseWhileHidden = () => {
      clearTimeout(hiding)
      if (document.visibilityState === 'hidden') return void (hiding = setTimeout(pause, hiddenMs))
      if (!isPaused) return
      isPaused = false
      open()
    }
    document.addEventListener('visibilitychange', pauseWhileHidden)
    addEventListener('pagehide', pause)
    addEventListener('pageshow', pauseWhileHidden)
    rewatch = () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        if (!isPaused && idsToWatch() !== watching) open()
      }, settleMs)
    }
    if (!isPaused) open()
    return () => {
      document.removeEventListener('visibilitychange', pauseWhileHidden)
      removeEventListener('pagehide', pause)
      removeEventListener('pageshow', pauseWhileHidden)
      source?.close()
      clearTimeout(hiding)
      clearTimeout(timer)
      clearInterval(poll)
      stop()
      rewatch = () => {}
    }
  }, [client, workspaceId, isReachable])
}

const throttleMs = 1000

/** Passes on changes immediately, but at most once a second, so that a burst of changes doesn't cause many refetches. */
function throttled(apply: (changes: readonly Change[]) => void): { push(changes: readonly Change[]): void; stop(): void } {
  let waiting: Change[] | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = () => {
    timer = setTimeout(() => {
      const pending = waiting ?? []
      waiting = null
      if (pending.length === 0) return
      apply(pending)
      waiting = []
      wait()
    }, throttleMs)
  }
  return {
    push(changes) {
      if (waiting) return void waiting.push(...changes)
      apply(changes)
      waiting = []
      wait()
    },
    stop: () => clearTimeout(timer),
  }
}

const maxRefetchedPages = 3

function applyChanges(client: QueryClient, changes: readonly Change[]): void {
  const affected = [...affectedPaths(changes)]
  void client.invalidateQueries({
    predicate: ({ queryKey, state: { data } }) => {
      const key = queryKey[0]
      if (typeof key !== 'string' || key === constantPath || !affected.some(path => isWithin(key, path))) return false
      // Refetching a list with many loaded pages would load all of them again. Update only the changed rows.
      if (queryKey[1] !== 'list' || ((data as InfiniteData<unknown> | undefined)?.pages.length ?? 0) <= maxRefetchedPages)
        return true
      void patchRows(client, queryKey, changes)
      return false
    },
  })
}

type Pages = InfiniteData<Page<{ id: string }>>

async function patchRows(client: QueryClient, queryKey: readonly unknown[], changes: readonly Change[]): Promise<void> {
  const shown = new Set(client.getQueryData<Pages>(queryKey)?.pages.flatMap(page => page.data.map(row => row.id)))
  const changedRows = new Map(changes.filter(one => shown.has(one.id)).map(one => [one.id, resourceApiPath(one)]))
  for (const [id, path] of changedRows) {
    if (path === null) continue
    const row = await fetchRow(path)
    if (row === 'unknown') continue
    client.setQueryData<Pages>(
      queryKey,
      before =>
        before && {
          ...before,
          pages: before.pages.map(page => ({
            ...page,
            data: page.data.flatMap(old => (old.id !== id ? [old] : row ? [{ ...old, ...row }] : [])),
          })),
        },
    )
  }
}

/** Fetches a row. Null if it was deleted, `unknown` if it couldn't be fetched. */
async function fetchRow(path: string): Promise<{ id: string } | null | 'unknown'> {
  try {
    return await call<{ id: string }>({ method: 'GET', path })
  } catch (error) {
    return error instanceof ApiError && error.status === 404 ? null : 'unknown'
  }
}
