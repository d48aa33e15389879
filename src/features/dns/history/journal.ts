import { isDeepStrictEqual } from 'node:util'
import type { Ctx } from '../../../core/ctx'
import { insertRows } from '../../../core/db/insert-rows'
import type { Tx } from '../../../core/db/transaction'
import { newId } from '../../../core/ids'
import type { ChangeOrigin, RecordChange } from '../changed-event'
import { soaMembers } from '../soa-members'
import { type Rrset, type ZoneRow } from '../zone-rows'
import { dnsChangesetRrsets, dnsChangesets, type KeptRrset } from './tables'

/** An rrset before and after a change; null where there was or is none. */
export interface RrsetStep {
  name: string
  type: string
  before: Rrset | null
  after: Rrset | null
}

/** What a change is entered with, beside what it did. */
export interface Entered {
  origin: ChangeOrigin
  /** Why, in the words of whoever made it. */
  note?: string | null
  /** The plan that it was made by. */
  planId?: string | null
}

/** Enters a change of a zone into its history, in the transaction of the change. */
export async function enterChange(
  tx: Tx,
  ctx: Pick<Ctx, 'hub' | 'actor' | 'context'>,
  zone: { before: ZoneRow; after: ZoneRow },
  by: Entered,
  { changes, rrsets }: { changes: readonly RecordChange[]; rrsets: readonly RrsetStep[] },
): Promise<void> {
  const { id: zoneId, workspaceId, version } = zone.after
  const soa = { before: soaMembers(zone.before), after: soaMembers(zone.after) }
  const sameSoa = isDeepStrictEqual(soa.before, soa.after)
  const counts = { created: 0, updated: 0, deleted: 0 }
  for (const one of changes) counts[one.action]++
  await tx.insert(dnsChangesets).values({
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
  })
  await insertRows(
    tx,
    dnsChangesetRrsets,
    rrsets
      .map(one => ({ ...one, key: `${one.name} ${one.type}` }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map(({ name, type, before, after }, place) => ({
        zoneId,
        version,
        place,
        name,
        type,
        before: before && keptOf(before),
        after: after && keptOf(after),
      })),
  )
}

/** An rrset in the form that history keeps. */
export function keptOf({ row, records }: Rrset): KeptRrset {
  const {
    id: _,
    zoneId: _zone,
    name: _name,
    type: _type,
    version: _version,
    createdAt: _made,
    updatedAt: _edited,
    ...terms
  } = row
  return {
    ...terms,
    records: records.map(({ id, rdata, version, createdAt }) => [id, Buffer.from(rdata).toString('base64'), version, createdAt]),
  }
}
