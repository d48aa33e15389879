import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query'
import { useMemo } from 'react'
import { call, Refused, type Call, type Page, type Query } from './client'
import { toast } from './parts/toast'

const sessionKey = ['/sessions/current']

/** What was read, by path and query. Live updates mark it stale by path: see live.ts. */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: (error, query) => heard(error, query.queryKey[0]) }),
  mutationCache: new MutationCache({ onError: error => heard(error, null) }),
  defaultOptions: {
    queries: {
      // The stream tells what changes; a look now and then finds what it could not tell.
      staleTime: 15_000,
      refetchOnWindowFocus: true,
      retry: (count, error) => count < 2 && error instanceof Refused && (error.status === 0 || error.status >= 500),
    },
  },
})

/** Looks anew who is signed in, after a sign that nobody is: the shell then leads to the login. */
export const seeWhoIsIn = (): Promise<void> => queries.invalidateQueries({ queryKey: sessionKey })

function heard(error: Error, path: unknown): void {
  if (error instanceof Refused && error.status === 401 && path !== sessionKey[0]) void seeWhoIsIn()
}

interface ReadOptions {
  /** Reads again each so many milliseconds while the page is looked at. */
  everyMs?: number
  /** Holds on to the rows of the query before while those of the next are read. */
  keep?: boolean
}

/** Reads one thing; a path of null reads nothing. */
export function useOne<Thing>(path: string | null, query: Query = {}, options: ReadOptions = {}): UseQueryResult<Thing, Refused> {
  return useQuery<Thing, Refused>({
    queryKey: [path, query],
    queryFn: ({ signal }) => call<Thing>({ method: 'GET', path: path!, query }, signal),
    enabled: path !== null,
    ...(options.everyMs && { refetchInterval: options.everyMs }),
    ...(options.keep && { placeholderData: keepPreviousData }),
  })
}

/** A list as far as it was read. */
export interface Listed<Row> {
  rows: Row[]
  /** How many there are in all, counted up to 10,000; null while unknown or not asked for. */
  total: number | null
  hasMore: boolean
  /** Nothing was read so far. */
  isLoading: boolean
  isLoadingMore: boolean
  error: Refused | null
  /** Reads the next page, when there is one and it is not being read. */
  more(): void
  again(): void
}

/** Reads a list page by page. A `limit` of 100 when the query names none; a path of null reads nothing. */
export function useList<Row>(path: string | null, query: Query = {}, options: ReadOptions = {}): Listed<Row> {
  const asked = { limit: 100, ...query }
  const found = useInfiniteQuery<Page<Row>, Refused>({
    queryKey: [path, 'list', asked],
    queryFn: ({ pageParam, signal }) =>
      call<Page<Row>>({ method: 'GET', path: path!, query: { ...asked, cursor: pageParam as string | null } }, signal),
    initialPageParam: null,
    getNextPageParam: page => (page.pagination.has_more ? page.pagination.next_cursor : undefined),
    enabled: path !== null,
    placeholderData: keepPreviousData,
    ...(options.everyMs && { refetchInterval: options.everyMs }),
  })
  const pages = found.data?.pages
  const rows = useMemo(() => pages?.flatMap(page => page.data) ?? [], [pages])
  return {
    rows,
    total: pages?.[0]?.pagination.total ?? null,
    hasMore: found.hasNextPage,
    isLoading: found.isPending && path !== null,
    isLoadingMore: found.isFetchingNextPage,
    error: found.error,
    more: () => {
      if (found.hasNextPage && !found.isFetchingNextPage) void found.fetchNextPage()
    },
    again: () => void found.refetch(),
  }
}

interface SendOptions<Answer> {
  /** What the toast says when it is done; nothing when absent. */
  done?: string | ((answer: Answer) => string)
  /** Takes it back: offered in the toast. */
  undo?: (answer: Answer) => Call
  /** Paths of which all that was read is read anew. */
  stale?: readonly string[]
  /** Errors are told by whoever asked, such as a form beside its fields; a toast tells them when absent. */
  quiet?: boolean
  onDone?: (answer: Answer) => void
}

/** Sends changes. `send.mutate(call)`, `send.mutateAsync(call)`, `send.isPending`, `send.error`. */
export function useSend<Answer = unknown>(options: SendOptions<Answer> = {}) {
  const client = useQueryClient()
  const afresh = () => Promise.all((options.stale ?? []).map(path => staleAt(client, path)))
  return useMutation<Answer, Refused, Call>({
    mutationFn: asked => call<Answer>(asked),
    onSuccess: async answer => {
      if (options.done !== undefined) {
        const title = typeof options.done === 'string' ? options.done : options.done(answer)
        toast.done(title, options.undo && (() => call(options.undo!(answer)).then(afresh)))
      }
      options.onDone?.(answer)
      await afresh()
    },
    onError: error => {
      if (!options.quiet) toast.failed(error)
    },
  })
}

/** Marks all that was read below a path as stale; what is on the screen is read at once. */
export const staleAt = (client: QueryClient, path: string): Promise<void> =>
  client.invalidateQueries({
    predicate: ({ queryKey }) =>
      typeof queryKey[0] === 'string' && (queryKey[0] === path || queryKey[0].startsWith(`${path}/`) || path === ''),
  })
