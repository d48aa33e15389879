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
import { onReconnect } from './connection'
import { call, ApiError, type Call, type Page, type Query } from './client'
import { useDebounced } from './parts/debounced'
import { createdIn } from './parts/created'
import { toast } from './parts/toast'

const sessionKey = ['/sessions/current']

/** The cache of API responses, by path and query. Live updates invalidate it by path: see live.ts. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error, query) => checkSession(error, query.queryKey[0]) }),
  mutationCache: new MutationCache({ onError: error => checkSession(error, null) }),
  defaultOptions: {
    // The hub may be on this machine, so it can be reachable while the browser is offline.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      // The stream reports changes. Refetching now and then finds those it missed.
      staleTime: 15_000,
      refetchOnWindowFocus: true,
      // While the hub is unreachable, connection.ts tries again.
      retry: (count, error) => count < 2 && error instanceof ApiError && error.status >= 500,
    },
  },
})

// Everything may have changed in the meantime.
onReconnect(() => void invalidatePath(queryClient, ''))

/** Refetches the session after a response suggests that it has ended. The shell then redirects to the sign-in page. */
export const refetchSession = (): Promise<void> => queryClient.invalidateQueries({ queryKey: sessionKey })

function checkSession(error: Error, path: unknown): void {
  if (error instanceof ApiError && error.status === 401 && path !== sessionKey[0]) void refetchSession()
}

interface ReadOptions<Data = never> {
  /** Refetches at this interval in milliseconds while the page is visible. A function of the data, if it depends on it. */
  refetchMs?: number | ((data: Data) => number | false)
  /** Shows the result of the previous query of the same path until the next one has loaded. */
  keepPrevious?: boolean
}

/** Shows the result of the previous query until the next one has loaded. Never the result for another resource, as if it were this one. */
const keepPreviousOf =
  (path: string | null) =>
  <Data>(previous: Data | undefined, query: { queryKey: readonly unknown[] } | undefined): Data | undefined =>
    query?.queryKey[0] === path ? previous : undefined

/** Fetches a single resource. A path of null fetches nothing. */
export function useOne<Resource>(
  path: string | null,
  query: Query = {},
  { refetchMs, keepPrevious }: ReadOptions<Resource> = {},
): UseQueryResult<Resource, ApiError> {
  return useQuery<Resource, ApiError>({
    queryKey: [path, query],
    queryFn: ({ signal }) => call<Resource>({ method: 'GET', path: path!, query }, signal),
    enabled: path !== null,
    refetchInterval:
      typeof refetchMs === 'function' ? ({ state: { data } }) => data !== undefined && refetchMs(data) : (refetchMs ?? false),
    ...(keepPrevious && { placeholderData: keepPreviousOf(path) }),
  })
}

/** The pages of a list that are loaded so far. */
export interface LoadedList<Row> {
  rows: Row[]
  /** Total number of rows, counted up to 10,000. Null while unknown or not requested. */
  total: number | null
  hasMore: boolean
  /** True until the first page has loaded. */
  isLoading: boolean
  isLoadingMore: boolean
  error: ApiError | null
  /** Loads the next page if there is one and it isn't loading already. */
  loadMore(): void
  retry(): void
}

/** Fetches a list page by page. The default `limit` is 100. A path of null fetches nothing. */
export function useList<Row>(path: string | null, query: Query = {}, options: { refetchMs?: number } = {}): LoadedList<Row> {
  const params = { limit: 100, ...query }
  const found = useInfiniteQuery<Page<Row>, ApiError>({
    queryKey: [path, 'list', params],
    queryFn: async ({ pageParam, signal }) => {
      for (let cursor = pageParam as string | null; ;) {
        const page = await call<Page<Row>>({ method: 'GET', path: path!, query: { ...params, cursor } }, signal)
        // A page can be empty although there are more, if a filter matches few of many items.
        if (page.data.length > 0 || !page.pagination.has_more) return page
        cursor = page.pagination.next_cursor
      }
    },
    initialPageParam: null,
    getNextPageParam: page => (page.pagination.has_more ? page.pagination.next_cursor : undefined),
    enabled: path !== null,
    placeholderData: keepPreviousOf(path),
    ...(options.refetchMs && { refetchInterval: options.refetchMs }),
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
    loadMore: () => {
      if (found.hasNextPage && !found.isFetchingNextPage) void found.fetchNextPage()
    },
    retry: () => void found.refetch(),
  }
}

export interface DryRun<Result> {
  result: Result | null
  error: ApiError | null
  /** False while the user is typing, and until the response arrives. */
  isCurrent: boolean
}

/** Sends a request that changes nothing, to check what the user is typing. Null sends nothing. Keeps the last response meanwhile. */
export function useDryRun<Result>(request: Call | null): DryRun<Result> {
  const now = request ? JSON.stringify(request) : ''
  const text = useDebounced(now)
  const { data, error, isPending, isPlaceholderData } = useQuery<Result, ApiError>({
    queryKey: ['dry run', text],
    queryFn: ({ signal }) => call<Result>(JSON.parse(text), signal),
    enabled: text !== '',
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  })
  if (text === '') return { result: null, error: null, isCurrent: true }
  return { result: error ? null : (data ?? null), error, isCurrent: now === text && !isPending && !isPlaceholderData }
}

export interface SendOptions<Result> {
  /** Text of the toast after success. No toast if absent, unless something was created. */
  toast?: string | ((result: Result) => string)
  /** The page that the toast links to, if it isn’t the one of what was created. */
  link?: string
  /** Call that undoes the change, offered in the toast. */
  undo?: (result: Result) => Call
  /** Paths to refetch afterwards, including everything below them. */
  invalidates?: readonly string[]
  /** Shows no toast for errors, because the caller does, such as a form next to its fields. */
  quiet?: boolean
  onSuccess?: (result: Result) => void
}

/** Sends a change to the API. Use `send.mutate(call)`, `send.mutateAsync(call)`, `send.isPending`, `send.error`. */
export function useSend<Result = unknown>(options: SendOptions<Result> = {}) {
  const client = useQueryClient()
  const refetch = () => Promise.all((options.invalidates ?? []).map(path => invalidatePath(client, path)))
  return useMutation<Result, ApiError, Call>({
    mutationFn: request => call<Result>(request),
    onSuccess: async (result, request) => {
      // First, since it may open a dialog that holds the toast.
      options.onSuccess?.(result)
      const created = createdIn(request, result)
      const title = (typeof options.toast === 'function' ? options.toast(result) : options.toast) ?? created?.title
      if (title !== undefined) {
        const { undo } = options
        toast.success(title, { undo: undo && (() => call(undo(result)).then(refetch)), to: options.link ?? created?.to })
      }
      await refetch()
    },
    onError: error => {
      if (!options.quiet) toast.error(error)
    },
  })
}

/** Invalidates everything cached at or below a path. Queries in use are refetched immediately. */
export const invalidatePath = (client: QueryClient, path: string): Promise<void> =>
  client.invalidateQueries({
    predicate: ({ queryKey }) =>
      typeof queryKey[0] === 'string' && (queryKey[0] === path || queryKey[0].startsWith(`${path}/`) || path === ''),
  })
