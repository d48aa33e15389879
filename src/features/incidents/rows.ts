import { and, eq } from 'drizzle-orm'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { IncidentRow } from './outages/outage'
import { incidents } from './tables'

/** Updates an incident row locked by the transaction. */
export async function updateIncidentRow(tx: Tx, hub: Hub, row: IncidentRow, set: Partial<IncidentRow>): Promise<IncidentRow> {
  const [after] = await tx
    .update(incidents)
    .set({ ...set, version: row.version + 1, updatedAt: hub.clock.now() })
    .where(and(eq(incidents.id, row.id), eq(incidents.version, row.version)))
    .returning()
  return after!
}

/** Columns of an incident that is open again. */
export const reopenedColumns = {
  status: 'open',
  acknowledgedAt: null,
  acknowledgedBy: null,
  acknowledgedUntil: null,
  resolvedAt: null,
  resolution: null,
  awaitsRecovery: false,
} as const satisfies Partial<IncidentRow>
