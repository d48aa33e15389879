import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import { notFound } from '../../../core/problem'
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
