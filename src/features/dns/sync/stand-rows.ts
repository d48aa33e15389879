import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import { rowsAtOnce, rrsetKey } from '../zone-rows'
import type { Known, Stands } from './evaluate'
import { dnsTargetRrsets } from './tables'
import { keepFound } from './found-records'
import { showStates, type TargetRow } from './target-rows'

/** Writes down how rrsets stand at a target, those alone that stand otherwise than before. */
export async function writeStands(
  tx: Tx,
  zone: { id: string; workspaceId: string },
  target: Pick<TargetRow, 'id'>,
  { stands, gone }: { stands: readonly Stands[]; gone: readonly string[] },
  known: ReadonlyMap<string, Known>,
  now: number,
): Promise<void> {
  const changed = stands.filter(one => !isAs(one, known.get(rrsetKey(one))))
  for (let at = 0; at < changed.length; at += rowsAtOnce) {
    await tx
      .insert(dnsTargetRrsets)
      .values(changed.slice(at, at + rowsAtOnce).map(one => ({ ...one, targetId: target.id, zoneId: zone.id, since: now })))
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
  }
  for (let at = 0; at < gone.length; at += rowsAtOnce)
    await tx
      .delete(dnsTargetRrsets)
      .where(
        and(
          eq(dnsTargetRrsets.targetId, target.id),
          inArray(sql`${dnsTargetRrsets.name} || ' ' || ${dnsTargetRrsets.type}`, gone.slice(at, at + rowsAtOnce)),
        ),
      )
  await keepFound(tx, zone, target, changed, gone, known, now)
  await showStates(
    tx,
    zone,
    changed.filter(one => one.state !== known.get(rrsetKey(one))?.state),
  )
}

const isAs = (one: Stands, known: Known | undefined): boolean =>
  known !== undefined &&
  one.state === known.state &&
  one.kind === known.kind &&
  one.detail === known.detail &&
  one.observed === known.observed &&
  one.agreed === known.agreed &&
  one.sent === known.sent
