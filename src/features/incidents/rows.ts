import { getTableColumns } from 'drizzle-orm'
import { batched } from '../../core/db/together'
import type { Tx } from '../../core/db/transaction'
import { updateRows } from '../../core/db/update-rows'
import type { Hub } from '../../core/hub'
import type { IncidentRow } from './outages/outage'
import { incidents } from './tables'

/** Updates an incident row locked by the transaction. */
export const updateIncidentRow = (tx: Tx, hub: Hub, row: IncidentRow, set: Partial<IncidentRow>): Promise<IncidentRow> =>
  updateLocked(tx, { ...row, ...set, version: row.version + 1, updatedAt: hub.clock.now() })

const { id: _, workspaceId: __, createdAt: ___, ...changeable } = getTableColumns(incidents)
const columns = Object.keys(changeable) as (keyof typeof changeable)[]

const updateLocked = batched('incident-row', async (tx, rows: readonly IncidentRow[]) => {
  await updateRows(tx, incidents, { name: 'all', set: columns }, rows)
  return rows
})

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
