import { useQueryClient, type InfiniteData, type QueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { addressOf, call, Refused, tabWorkspace, type Page } from '../client'
import { seeWhoIsIn, staleAt } from '../queries'
import { isBelow, pathOf, pathsOf, type Change } from './concerned'

export interface LiveResult {
  id: string
  status: string
  last_check_at: string | null
  ok: boolean
  response_ms: number | null
}

type Listener = (results: readonly LiveResult[]) => void
const watchers = new Map<Listener, ReadonlySet<string>>()
const states = new Set<() => void>()
let state: 'live' | 'connecting' | 'polling' = 'connecting'
let rewatch = () => {}

/** Whether the page hears of changes at once. */
export const useLiveState = () =>
  useSyncExternalStore(
    listener => {
      states.add(listener)
      return () => states.delete(listener)
    },
    () => state,
  )

/** Tells each result of these monitors as it comes, at most a hundred of them: those that are on the screen. */
export function useResults(ids: readonly string[], listener: Listener): void {
  const key = [...ids].sort().join(',')
  useEffect(() => {
    watchers.set(listener, new Set(key === '' ? [] : key.split(',')))
    rewatch()
    return () => {
      watchers.delete(listener)
      rewatch()
    }
  }, [key, listener])
}

const settleMs = 400
const pollMs = 15_000
const mostWatched = 100

/** Listens to the stream of changes for as long as the shell is shown, and marks what was read as stale when it changes. */
export function useLive(workspaceId: string): void {
  const client = useQueryClient()
  useEffect(() => {
    let source: EventSource | null = null
    let position: string | null = null
    let watching = ''
    let timer: ReturnType<typeof setTimeout> | undefined
    const { hear, stop } = paced(changes => heard(client, changes))
    // Without a stream, such as behind a proxy that holds it back, the pages look for themselves.
    const poll = setInterval(() => {
      if (state === 'live' || document.visibilityState !== 'visible') return
      void staleAt(client, '')
      // One that was refused, such as by a proxy while the hub started anew, does not try again by itself.
      if (source?.readyState === EventSource.CLOSED) open()
    }, pollMs)
    const setState = (to: typeof state) => {
      state = to
      for (const listener of states) listener()
    }
    const wanted = () => [...new Set([...watchers.values()].flatMap(ids => [...ids]))].sort().slice(0, mostWatched).join(',')
    const open = () => {
      source?.close()
      watching = wanted()
      source = new EventSource(
        addressOf({ path: '/stream', query: { workspace: tabWorkspace() ?? workspaceId, watch: watching, since: position } }),
      )
      source.addEventListener('hello', () => {
        setState('live')
      })
      source.addEventListener('change', event => {
        position = event.lastEventId || position
        hear((JSON.parse(event.data) as { changes: Change[] }).changes)
      })
      source.addEventListener('reset', event => {
        position = event.lastEventId || position
        void staleAt(client, '')
      })
      source.addEventListener('results', event => {
        const { monitors } = JSON.parse(event.data) as { monitors: LiveResult[] }
        for (const [listener, ids] of watchers) listener(monitors.filter(one => ids.has(one.id)))
      })
      source.addEventListener('error', () => {
        const isRefused = source?.readyState === EventSource.CLOSED
        setState(isRefused ? 'polling' : 'connecting')
        if (isRefused) void seeWhoIsIn()
      })
    }
    rewatch = () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        if (wanted() !== watching) open()
      }, settleMs)
    }
    open()
    return () => {
      source?.close()
      clearTimeout(timer)
      clearInterval(poll)
      stop()
      rewatch = () => {}
    }
  }, [client, workspaceId])
}

const paceMs = 1000

/** Hands over what is heard at once, and what comes within the next second together: a storm is not to be read four times a second. */
function paced(hand: (changes: readonly Change[]) => void): { hear(changes: readonly Change[]): void; stop(): void } {
  let waiting: Change[] | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  const rest = () => {
    timer = setTimeout(() => {
      const heldBack = waiting ?? []
      waiting = null
      if (heldBack.length === 0) return
      hand(heldBack)
      waiting = []
      rest()
    }, paceMs)
  }
  return {
    hear(changes) {
      if (waiting) return void waiting.push(...changes)
      hand(changes)
      waiting = []
      rest()
    },
    stop: () => clearTimeout(timer),
  }
}

const mostPages = 3

function heard(client: QueryClient, changes: readonly Change[]): void {
  const concerned = [...pathsOf(changes)]
  void client.invalidateQueries({
    predicate: ({ queryKey, state: { data } }) => {
      const at = queryKey[0]
      if (typeof at !== 'string' || !concerned.some(path => isBelow(at, path))) return false
      // A list that was read far down would be read anew page by page: the rows that changed are put in their places.
      if (queryKey[1] !== 'list' || ((data as InfiniteData<unknown> | undefined)?.pages.length ?? 0) <= mostPages) return true
      void patchRows(client, queryKey, changes)
      return false
    },
  })
}

type Pages = InfiniteData<Page<{ id: string }>>

async function patchRows(client: QueryClient, queryKey: readonly unknown[], changes: readonly Change[]): Promise<void> {
  const shown = new Set(client.getQueryData<Pages>(queryKey)?.pages.flatMap(page => page.data.map(row => row.id)))
  const toRead = new Map(changes.filter(one => shown.has(one.id)).map(one => [one.id, pathOf(one)]))
  for (const [id, path] of toRead) {
    if (path === null) continue
    const row = await rowAt(path)
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

/** A row as it is by now: null when it is gone, `unknown` when that could not be read, and nothing is to be made of it. */
async function rowAt(path: string): Promise<{ id: string } | null | 'unknown'> {
  try {
    return await call<{ id: string }>({ method: 'GET', path })
  } catch (error) {
    return error instanceof Refused && error.status === 404 ? null : 'unknown'
  }
}
