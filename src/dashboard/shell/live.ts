import { useQueryClient, type InfiniteData, type QueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { addressOf, call, tabWorkspace, type Page } from '../client'
import { seeWhoIsIn, staleAt } from '../queries'

/** Paths whose answers change with a resource, by the first part of its id. */
const touched: Record<string, readonly string[]> = {
  mon: ['/monitors', '/monitoring', '/overview'],
  mtr: ['/monitors', '/overview'],
  inc: ['/incidents', '/overview'],
  mw: ['/maintenance-windows', '/overview'],
  hb: ['/heartbeats', '/overview'],
  chan: ['/notification-channels', '/notifications', '/overview'],
  ntf: ['/notifications', '/notification-channels'],
  zone: ['/dns/zones', '/dns/records', '/overview'],
  rec: ['/dns/zones', '/dns/records'],
  rrset: ['/dns/zones', '/dns/records'],
  plan: ['/dns/plans', '/dns/zones'],
  ztgt: ['/dns/zones', '/overview'],
  tmpl: ['/dns/templates', '/dns/template-bindings'],
  tbnd: ['/dns/templates', '/dns/template-bindings', '/dns/zones'],
  prov: ['/dns/providers'],
  tsig: ['/dns/providers'],
  whe: ['/webhook-endpoints', '/overview'],
  dlv: ['/webhook-deliveries', '/webhook-endpoints', '/overview'],
  tok: ['/tokens', '/overview'],
  inv: ['/invitations', '/overview'],
  usr: ['/members', '/sessions', '/users'],
  ses: ['/sessions'],
  ws: ['/workspaces', '/plans', '/limits', '/sessions'],
  ntc: ['/notices', '/overview'],
  act: ['/actions'],
  aus: ['/audit-streams'],
}

interface Change {
  type: string
  id: string
  action: string
}

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
        heard(client, (JSON.parse(event.data) as { changes: Change[] }).changes)
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
      rewatch = () => {}
    }
  }, [client, workspaceId])
}

const mostPages = 3

function heard(client: QueryClient, changes: readonly Change[]): void {
  const paths = new Set<string>(['/audit-events', '/events'])
  for (const { id } of changes) for (const path of touched[id.slice(0, id.indexOf('_'))] ?? []) paths.add(path)
  for (const path of paths) {
    void client.invalidateQueries({
      predicate: ({ queryKey, state: { data } }) => {
        const at = queryKey[0]
        if (typeof at !== 'string' || (at !== path && !at.startsWith(`${path}/`))) return false
        // A list that was read far down would be read anew page by page: the rows that changed are put in their places.
        if (queryKey[1] !== 'list' || ((data as InfiniteData<unknown> | undefined)?.pages.length ?? 0) <= mostPages) return true
        void patchRows(client, queryKey, at, changes)
        return false
      },
    })
  }
}

async function patchRows(
  client: QueryClient,
  queryKey: readonly unknown[],
  path: string,
  changes: readonly Change[],
): Promise<void> {
  type Pages = InfiniteData<Page<{ id: string }>>
  const has = (pages: Pages | undefined, id: string) => pages?.pages.some(page => page.data.some(row => row.id === id)) ?? false
  const ids = new Set(changes.map(one => one.id).filter(id => has(client.getQueryData<Pages>(queryKey), id)))
  for (const id of ids) {
    const row = await call<{ id: string }>({ method: 'GET', path: `${path}/${id}` }).catch(() => null)
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
