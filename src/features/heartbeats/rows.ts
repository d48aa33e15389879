import { newId } from '../../core/ids'
import type { Flip, HeartbeatState, Outcome } from './state'
import type { flips } from './tables'
import type { HeartbeatRow } from './view'

/** The row's columns after an outcome: the state, and since when it has its status. */
export const columnsAfter = (row: HeartbeatRow, { state, flip }: Outcome): HeartbeatState & { statusSince: number } => ({
  status: state.status,
  statusSince: flip?.at ?? row.statusSince,
  lastPingAt: state.lastPingAt,
  lastDurationMs: state.lastDurationMs,
  openRuns: state.openRuns,
  expectedAt: state.expectedAt,
  downAt: state.downAt,
})

/** A change of status as its row. */
export const flipRow = (heartbeatId: string, flip: Flip): typeof flips.$inferInsert => ({
  id: newId('flip'),
  heartbeatId,
  at: flip.at,
  from: flip.from!,
  to: flip.to,
  reason: flip.reason,
})
