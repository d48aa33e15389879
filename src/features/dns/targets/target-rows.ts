import { and, eq, inArray } from 'drizzle-orm'
import type { Reader, Tx } from '../../../core/db/transaction'
import { addChangeHint } from '../../../core/change-hints'
import { rdataOfText } from '../../../dns/rdata'
import type { ForeignEntry, ProviderRrset } from '../providers/provider'
import { dnsRecordMarks, dnsRecords, dnsRrsets } from '../records/tables'
import { batches } from '../records/rows'
import { rrsetKey } from '../zones/names'
import { dnsTargetRrsets, dnsZoneTargets } from './tables'
import { foreignMark } from '../sync/fingerprint'
import { isSynced, stateMark, syncStates, unsyncedMark, worstOf, type SyncState } from '../sync/three-way'

export type TargetRow = typeof dnsZoneTargets.$inferSelect
export type TargetRrset = typeof dnsTargetRrsets.$inferSelect

/** Enabled targets of a zone, oldest first. */
export const targetsOf = (read: Reader, zoneId: string): Promise<TargetRow[]> =>
  read
    .select()
    .from(dnsZoneTargets)
    .where(and(eq(dnsZoneTargets.zoneId, zoneId), eq(dnsZoneTargets.enabled, true)))
    .orderBy(dnsZoneTargets.id) as unknown as Promise<TargetRow[]>

/** Desired rrsets of a zone, by `rrsetKey`. */
export async function desiredRrsets(read: Reader, zoneId: string): Promise<Map<string, ProviderRrset>> {
  const rows = await read
    .select({
      id: dnsRrsets.id,
      name: dnsRrsets.name,
      type: dnsRrsets.type,
      ttl: dnsRrsets.ttl,
      options: dnsRrsets.options,
    })
    .from(dnsRrsets)
    .where(eq(dnsRrsets.zoneId, zoneId))
  const byId = new Map<string, ProviderRrset>()
  const found = new Map<string, ProviderRrset>()
  for (const { id, options, ...row } of rows) {
    const rrset: ProviderRrset = { ...row, values: [], ...(options && { options }) }
    byId.set(id, rrset)
    found.set(rrsetKey(row), rrset)
  }
  const values = await read
    .select({ rrsetId: dnsRecords.rrsetId, rdata: dnsRecords.rdata })
    .from(dnsRecords)
    .where(eq(dnsRecords.zoneId, zoneId))
    .orderBy(dnsRecords.id)
  for (const { rrsetId, rdata } of values) byId.get(rrsetId)?.values.push(rdata)
  return found
}

/** Stored states of the rrsets at a target, by `rrsetKey`. */
export async function knownStates(read: Reader, targetId: string): Promise<Map<string, TargetRrset>> {
  const rows = await read.select().from(dnsTargetRrsets).where(eq(dnsTargetRrsets.targetId, targetId))
  return new Map(rows.map(row => [rrsetKey(row), row]))
}

/** An rrset as last read; null if it was not there. */
export function observedRrset(
  row: Pick<TargetRrset, 'name' | 'type' | 'observed' | 'observedTtl' | 'observedValues'>,
): ProviderRrset | null {
  if (row.observed === null || row.observed === foreignMark || row.observedValues === null) return null
  const proxied = row.observed.split('/')[2]
  return {
    name: row.name,
    type: row.type,
    ttl: row.observedTtl!,
    values: row.observedValues.map(text => rdataOfText(row.type, text, null)),
    ...(proxied !== '' && { options: { proxied: proxied === '1' } }),
  }
}

/** What is at the name and type of a row, if it is not a plain rrset. */
export const foreignEntries = ({
  name,
  type,
  observed,
  observedValues,
}: Pick<TargetRrset, 'name' | 'type' | 'observed' | 'observedValues'>): ForeignEntry[] =>
  observed === foreignMark ? (observedValues ?? []).map(detail => ({ name, type, detail })) : []

/** Updates the marks that records are filtered by from the states of their rrsets at all targets. */
export async function updateRecordMarks(
  tx: Tx,
  zone: { id: string; workspaceId: string },
  changed: readonly { name: string; type: string }[],
): Promise<void> {
  const targets = (await targetsOf(tx, zone.id)).map(one => one.id)
  for (const some of batches(changed)) {
    const keys = new Set(some.map(rrsetKey))
    const names = [...new Set(some.map(one => one.name))]
    const states = new Map<string, SyncState[]>()
    const rows =
      targets.length === 0
        ? []
        : await tx
            .select({ name: dnsTargetRrsets.name, type: dnsTargetRrsets.type, state: dnsTargetRrsets.state })
            .from(dnsTargetRrsets)
            .where(and(inArray(dnsTargetRrsets.targetId, targets), inArray(dnsTargetRrsets.name, names)))
    for (const row of rows) states.set(rrsetKey(row), [...(states.get(rrsetKey(row)) ?? []), row.state])
    const records = await tx
      .select({ id: dnsRecords.id, name: dnsRecords.name, type: dnsRecords.type })
      .from(dnsRecords)
      .where(and(eq(dnsRecords.zoneId, zone.id), inArray(dnsRecords.name, names)))
    const own = records.filter(one => keys.has(rrsetKey(one)))
    await writeMarks(
      tx,
      zone,
      own.map(one => ({ id: one.id, state: worstOf(states.get(rrsetKey(one)) ?? []) })),
    )
  }
}

/** Publishes that the sync state of a zone or its records changed. */
export const touchZone = (tx: Tx, { id, workspaceId }: { id: string; workspaceId: string }): void =>
  addChangeHint(tx, { workspaceId, action: 'dns.zone.sync_state', type: 'zone', id, parentId: id })

async function writeMarks(
  tx: Tx,
  zone: { id: string; workspaceId: string },
  records: readonly { id: string; state: SyncState }[],
): Promise<void> {
  if (records.length > 0) touchZone(tx, zone)
  for (const some of batches(records)) {
    await tx.delete(dnsRecordMarks).where(
      and(
        inArray(
          dnsRecordMarks.recordId,
          some.map(one => one.id),
        ),
        inArray(dnsRecordMarks.mark, syncMarks),
      ),
    )
    const marks = some.flatMap(({ id, state }) => [
      ...(isSynced(state) ? [] : [{ recordId: id, mark: unsyncedMark }]),
      ...(state === 'synced' ? [] : [{ recordId: id, mark: stateMark(state) }]),
    ])
    if (marks.length > 0)
      await tx.insert(dnsRecordMarks).values(marks.map(one => ({ ...one, workspaceId: zone.workspaceId, zoneId: zone.id })))
  }
}

const syncMarks = [unsyncedMark, ...syncStates.map(stateMark)]
