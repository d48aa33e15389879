import { isDeepStrictEqual } from 'node:util'
import type { Ctx } from '../../../core/ctx'
import { insertRows } from '../../../core/db/insert-rows'
import type { Tx } from '../../../core/db/transaction'
import { newId } from '../../../core/ids'
import type { ChangeOrigin, RecordChange } from '../changes/changed-event'
import { soaFieldsOf } from '../zones/soa-fields'
import { type Rrset } from '../records/rows'
import { rrsetKey } from '../zones/names'
import { type ZoneRow } from '../zones/rows'
import { dnsChangesetRrsets, dnsChangesets, type StoredRrset } from './tables'

/** An rrset before and after a change; null if it didn’t exist. */
export interface RrsetStep {
  name: string
  type: string
  before: Rrset | null
  after: Rrset | null
}

/** Why and how a change was made. */
export interface ChangeCause {
  origin: ChangeOrigin
  /** Reason given by the actor. */
  note?: string | null
  /** Plan that made the change. */
  planId?: string | null
}

/** Adds a change to the history of a zone, in the transaction of the change. */
export async function recordChangeset(
  tx: Tx,
  ctx: Pick<Ctx, 'hub' | 'actor' | 'context'>,
  zone: { before: ZoneRow; after: ZoneRow },
  by: ChangeCause,
  { changes, rrsets }: { changes: readonly RecordChange[]; rrsets: readonly RrsetStep[] },
): Promise<void> {
  const { id: zoneId, workspaceId, version } = zone.after
  const soa = { before: soaFieldsOf(zone.before), after: soaFieldsOf(zone.after) }
  const sameSoa = isDeepStrictEqual(soa.before, soa.after)
  const counts = { created: 0, updated: 0, deleted: 0 }
  for (const one of changes) counts[one.action]++
  const changeset = {
    id: newId('zchg'),
    zoneId,
    workspaceId,
    version,
    serialBefore: zone.before.serial,
    serialAfter: zone.after.serial,
    soaBefore: sameSoa ? null : soa.before,
    soaAfter: sameSoa ? null : soa.after,
    actor: ctx.actor,
    actorId: ctx.actor.id,
    origin: by.origin,
    note: by.note ?? null,
    planId: by.planId ?? null,
    ...counts,
    rrsetCount: rrsets.length,
    occurredAt: ctx.hub.clock.now(),
    requestId: ctx.context.request_id,
  }
  await insertRows(tx, dnsChangesets, [changeset])
  await insertRows(
    tx,
    dnsChangesetRrsets,
    rrsets
      .map(one => ({ ...one, key: rrsetKey(one) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map(({ name, type, before, after }, place) => ({
        zoneId,
        version,
        place,
        name,
        type,
        before: before && storedRrset(before),
        after: after && storedRrset(after),
      })),
  )
}

/** An rrset as stored in the history. */
export function storedRrset({ row, records }: Rrset): StoredRrset {
  const {
    id: _,
    zoneId: _zone,
    name: _name,
    type: _type,
    version: _version,
    createdAt: _createdAt,
    updatedAt: _updatedAt,
    ...terms
  } = row
  return {
    ...terms,
    records: records.map(({ id, rdata, version, createdAt }) => [id, Buffer.from(rdata).toString('base64'), version, createdAt]),
  }
}
