import { newId } from '../../core/ids'
import type { Flip, HeartbeatState } from './state'
import type { flips } from './tables'

/** The columns that a state is stored in. */
export const stateColumns = ({ status, lastPingAt, lastDurationMs, openRuns, expectedAt, downAt }: HeartbeatState): HeartbeatState =>
  ({ status, lastPingAt, lastDurationMs, openRuns, expectedAt, downAt })

/** A change of status as its row. */
export const flipRow = (heartbeatId: string, flip: Flip): typeof flips.$inferInsert =>
  ({ id: newId('flip'), heartbeatId, at: flip.at, from: flip.from!, to: flip.to, reason: flip.reason })
