import type { SourceRow } from './view'

/** When a source becomes stale unless it reports (ms UTC); null if it doesn’t. */
export const staleTime = ({
  status,
  staleAfterSeconds,
  lastSeenAt,
}: Pick<SourceRow, 'status' | 'staleAfterSeconds' | 'lastSeenAt'>): number | null =>
  staleAfterSeconds === null || lastSeenAt === null || status === 'paused' ? null : lastSeenAt + staleAfterSeconds * 1000

/** Whether a source has not reported for longer than it may. @param now ms UTC */
export function isOverdue(row: Parameters<typeof staleTime>[0], now: number): boolean {
  const at = staleTime({ ...row, status: 'fresh' })
  return at !== null && at <= now
}
