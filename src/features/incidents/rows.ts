import { and, eq } from 'drizzle-orm'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { IncidentRow } from './outage'
import { incidents } from './tables'

/** Changes the row of an incident that the transaction holds. */
export async function write(tx: Tx, hub: Hub, row: IncidentRow, set: Partial<IncidentRow>): Promise<IncidentRow> {
  const [after] = await tx
    .update(incidents)
    .set({ ...set, version: row.version + 1, updatedAt: hub.clock.now() })
    .where(and(eq(incidents.id, row.id), eq(incidents.version, row.version)))
    .returning()
  return after!
}

/** Columns of an incident that is open again, by whatever way. */
export const unresolved = {
  status: 'open',
  acknowledgedAt: null,
  acknowledgedBy: null,
  acknowledgedUntil: null,
  resolvedAt: null,
  resolution: null,
  awaitsRecovery: false,
} as const satisfies Partial<IncidentRow>
