import { newId } from '../../core/ids'
import type { Flip, HeartbeatState, Outcome } from './state'
import type { flips } from './tables'
import type { HeartbeatRow } from './view'

/**
 * The row's columns after an outcome: the state, since when it has its status, and until when its alert is held.
 * @param heldUntil of a change to `down` (ms UTC)
 */
export const columnsAfter = (
  row: HeartbeatRow,
  { state, flip }: Outcome,
  heldUntil: number | null = null,
): HeartbeatState & { statusSince: number; heldUntil: number | null } => ({
  status: state.status,
  statusSince: flip?.at ?? row.statusSince,
  heldUntil: flip ? heldUntil : row.heldUntil,
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
