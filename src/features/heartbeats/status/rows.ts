import { newId } from '../../../core/ids'
import type { Flip, HeartbeatState, Outcome } from './state'
import type { flips } from '../tables'
import type { HeartbeatRow } from '../view'

/**
 * Returns the columns to store after a state transition.
 * @param alertHeldUntil until when to hold the alert of a change to `down` (ms UTC)
 */
export const columnsAfter = (
  row: Pick<HeartbeatRow, 'statusSince' | 'alertHeldUntil'>,
  { state, flip }: Outcome,
  alertHeldUntil: number | null = null,
): HeartbeatState & { statusSince: number; alertHeldUntil: number | null } => ({
  status: state.status,
  statusSince: flip?.at ?? row.statusSince,
  alertHeldUntil: flip ? alertHeldUntil : row.alertHeldUntil,
  lastPingAt: state.lastPingAt,
  lastDurationMs: state.lastDurationMs,
  openRuns: state.openRuns,
  expectedAt: state.expectedAt,
  downAt: state.downAt,
})

/** The columns of {@link columnsAfter}. */
export const stateColumns = [
  'status',
  'statusSince',
  'alertHeldUntil',
  'lastPingAt',
  'lastDurationMs',
  'openRuns',
  'expectedAt',
  'downAt',
] as const satisfies (keyof ReturnType<typeof columnsAfter>)[]

/** The row of a status change. */
export const flipRow = (heartbeatId: string, flip: Flip): typeof flips.$inferInsert => ({
  id: newId('flip'),
  heartbeatId,
  at: flip.at,
  from: flip.from!,
  to: flip.to,
  reason: flip.reason,
})
