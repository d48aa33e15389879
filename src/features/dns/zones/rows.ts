import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import { notFound } from '../../../core/problem'
import { findRow } from '../../../core/rows'
import { rowsOf } from '../../../registry'
import { dnsZones } from './tables'

export type ZoneRow = typeof dnsZones.$inferSelect
/** Fields of the zone that change along with its records. */
export type ZoneEdit = Partial<
  Pick<
    ZoneRow,
    | 'status'
    | 'defaultTtl'
    | 'soaMname'
    | 'soaRname'
    | 'soaTtl'
    | 'soaRefresh'
    | 'soaRetry'
    | 'soaExpire'
    | 'soaMinimum'
    | 'serial'
    | 'updateLimit'
    | 'deleteLimit'
    | 'apply'
    | 'driftPolicy'
    | 'unmanaged'
    | 'ignoreRules'
    | 'blockedPlanId'
    | 'isServed'
  >
>

export const zoneRows = rowsOf('zone', dnsZones)

/** @throws Problem 404 */
export const zoneOf = (read: Reader, ctx: Ctx, id: string): Promise<ZoneRow> => findRow(read, ctx, zoneRows, id)

/** Locks a zone of the caller’s workspace until the transaction ends, so that changes are serialized. @throws Problem 404 */
export async function lockZone(tx: Tx, ctx: Pick<Ctx, 'workspaceId'>, id: string): Promise<ZoneRow> {
  const [row] = await forUpdate(
    tx
      .select()
      .from(dnsZones)
      .where(and(eq(dnsZones.id, id), eq(dnsZones.workspaceId, ctx.workspaceId))),
  )
  if (!row) throw notFound('zone')
  return row
}
