import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import { prepared } from '../../../core/db/prepared'
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
    | 'isServed'
  >
>

export const zoneRows = rowsOf('zone', dnsZones)

/** @throws Problem 404 */
export const zoneOf = (read: Reader, ctx: Ctx, id: string): Promise<ZoneRow> => findRow(read, ctx, zoneRows, id)

/** Locks a zone of the caller’s workspace until the transaction ends, so that changes are serialized. @throws Problem 404 */
export async function lockZone(tx: Tx, ctx: Pick<Ctx, 'workspaceId'>, id: string): Promise<ZoneRow> {
  const statement = prepared<ZoneRow[], Tx>(tx, 'dns-zone-lock', handle => {
    const isOwn = and(eq(dnsZones.id, sql.placeholder('id')), eq(dnsZones.workspaceId, sql.placeholder('workspaceId')))
    return forUpdate(handle.select().from(dnsZones).where(isOwn))
  })
  const [row] = await statement.execute({ id, workspaceId: ctx.workspaceId })
  if (!row) throw notFound('zone')
  return row
}
