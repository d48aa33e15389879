import { useMemo } from 'react'
import type { ServerLatestView } from '../../../features/servers/metrics/shapes'
import { useOne } from '../../queries'

const maxAtOnce = 100

/** What the visible servers use, by id. */
export function useLatest(ids: readonly string[]): ReadonlyMap<string, ServerLatestView> {
  const some = ids.slice(0, maxAtOnce)
  const found = useOne<{ data: ServerLatestView[] }>(
    some.length === 0 ? null : '/servers/latest',
    { ids: some },
    { refetchMs: 60_000, keepPrevious: true },
  )
  return useMemo(() => new Map((found.data?.data ?? []).map(one => [one.id, one])), [found.data])
}
