import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import { batches } from '../records/rows'
import { rrsetKey } from '../zones/names'
import type { KnownState, RrsetSyncState } from '../sync/three-way'
import { dnsTargetRrsets } from './tables'
import { storeFoundRecords } from './found-records'
import { updateRecordMarks, type TargetRow } from './target-rows'

/** Stores the states of rrsets at a target that have changed. */
export async function storeRrsetStates(
  tx: Tx,
  zone: { id: string; workspaceId: string },
  target: Pick<TargetRow, 'id'>,
  { states, absent }: { states: readonly RrsetSyncState[]; absent: readonly string[] },
  known: ReadonlyMap<string, KnownState>,
  now: number,
): Promise<void> {
  const changed = states.filter(one => !isUnchanged(one, known.get(rrsetKey(one))))
  for (const some of batches(changed))
    await tx
      .insert(dnsTargetRrsets)
      .values(some.map(one => ({ ...one, targetId: target.id, zoneId: zone.id, since: now })))
      .onConflictDoUpdate({
        target: [dnsTargetRrsets.targetId, dnsTargetRrsets.name, dnsTargetRrsets.type],
        set: {
          agreed: sql`excluded.agreed`,
          observed: sql`excluded.observed`,
          observedTtl: sql`excluded.observed_ttl`,
          observedValues: sql`excluded.observed_values`,
          since: sql`case when ${dnsTargetRrsets.state} = excluded.state then ${dnsTargetRrsets.since} else excluded.since end`,
          sent: sql`excluded.sent`,
          state: sql`excluded.state`,
          kind: sql`excluded.kind`,
          detail: sql`excluded.detail`,
        },
      })
  for (const some of batches(absent))
    await tx
      .delete(dnsTargetRrsets)
      .where(
        and(
          eq(dnsTargetRrsets.targetId, target.id),
          inArray(sql`${dnsTargetRrsets.name} || ' ' || ${dnsTargetRrsets.type}`, some),
        ),
      )
  await storeFoundRecords(tx, zone, target, changed, absent, known, now)
  await updateRecordMarks(
    tx,
    zone,
    changed.filter(one => one.state !== known.get(rrsetKey(one))?.state),
  )
}

const isUnchanged = (one: RrsetSyncState, known: KnownState | undefined): boolean =>
  known !== undefined &&
  one.state === known.state &&
  one.kind === known.kind &&
  one.detail === known.detail &&
  one.observed === known.observed &&
  one.agreed === known.agreed &&
  one.sent === known.sent
