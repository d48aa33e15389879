import type { SourceRow } from './view'

/** When a source becomes stale unless it reports (ms UTC); null if it doesn’t. */
export const staleTime = ({
  status,
  staleAfterSeconds,
  lastSeenAt,
}: Pick<SourceRow, 'status' | 'staleAfterSeconds' | 'lastSeenAt'>): number | null =>
  staleAfterSeconds === null || lastSeenAt === null || status === 'paused' ? null : lastSeenAt + staleAfterSeconds * 1000
