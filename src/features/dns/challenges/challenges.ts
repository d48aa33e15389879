import type { AuditDraft, Consequences } from '../../../core/change-result'
import { txtValue } from '../../../dns/rdata'
import type { Reader, Tx } from '../../../core/db/transaction'
import { forUpdate } from '../../../core/db/dialect'
import { and, asc, eq, inArray } from 'drizzle-orm'
import { changeZone, type Changer } from '../changes/change-zone'
import { rrsetsAt, type Rrset } from '../records/rows'
import { valueOf, valueOfRdata } from '../records/values'
import type { WantedRrset } from '../changes/rrset-rules'
import { recordSyncViews } from '../targets/sync-views'
import { originOf, rrsetKey } from '../zones/names'
import type { ZoneRow } from '../zones/rows'
import { dnsZones } from '../zones/tables'
import { zoneTarget } from '../zones/zones'
import type { ChallengePlace } from './places'

export type { Changer } from '../changes/change-zone'
export { caaOf, challengePlace, nameOfPlace, type ChallengePlace } from './places'

/** A value of a TXT record that answers a challenge. */
export interface ChallengeValue extends ChallengePlace {
  value: string
}

/** Seconds. Validators may cache old values for as long. */
const ttl = 60
/** How long a record stays if it is never removed. */
export const challengeLifetimeMs = 3_600_000

/**
 * Adds values to the TXT records of their names; other values stay. Records that were created for challenges and have no other values
 * expire after an hour.
 * @throws Problem 422 for locked records and names that can’t have TXT records, 403 `plan_limit_reached`
 */
export const publishChallenges = (tx: Tx, by: Changer, values: readonly ChallengeValue[]): Promise<Consequences> =>
  changeChallenges(tx, by, values, 'dns.challenge.publish', (existing, own, now) => {
    const present = new Set(existing?.records.map(one => textOf(one.rdata)))
    const isNew = !existing || (existing.row.source === 'acme' && existing.records.every(isOwn))
    return {
      ttl: existing?.row.ttl ?? ttl,
      ...(isNew ? { expiresAt: Math.max(existing?.row.expiresAt ?? 0, now + challengeLifetimeMs) } : expiryOf(existing, now)),
      kept: existing?.records ?? [],
      added: own.filter(one => !present.has(one)),
    }
  })

/**
 * Removes values from the TXT records of their names, even if they are locked; other values stay. Values and zones that are gone are
 * skipped.
 * @throws Problem if what remains isn’t valid
 */
export const withdrawChallenges = (tx: Tx, by: Changer, values: readonly ChallengeValue[]): Promise<Consequences> =>
  changeChallenges(tx, by, values, 'dns.challenge.remove', (existing, own, now) => {
    const kept = existing?.records.filter(one => !(isOwn(one) && own.includes(textOf(one.rdata)))) ?? []
    if (!existing || kept.length === existing.records.length) return undefined
    return { ttl: existing.row.ttl, ...expiryOf({ ...existing, records: kept }, now), kept, added: [], unlocks: true }
  })

const isOwn = ({ source }: Rrset['records'][number]): boolean => source === 'acme'

/** The expiry was set for challenges: it must not delete values that others added. Expiries that others set stay. */
const expiryOf = ({ row, records }: Rrset, now: number): { expiresAt?: null } =>
  row.source === 'acme' &&
  row.expiresAt !== null &&
  row.expiresAt <= now + challengeLifetimeMs &&
  records.some(one => !isOwn(one))
    ? { expiresAt: null }
    : {}

/** Whether the records with these values are in sync at all targets of their zones. */
export async function areChallengesSynced(read: Reader, values: readonly ChallengeValue[]): Promise<boolean> {
  const zones = await read
    .select({ id: dnsZones.id, targetCount: dnsZones.targetCount })
    .from(dnsZones)
    .where(inArray(dnsZones.id, [...new Set(values.map(one => one.zoneId))]))
  const syncOf = await recordSyncViews(read, zones, values)
  return values.every(({ zoneId, name }) => syncOf({ zoneId, name, type: 'TXT' }).synced)
}

type Edit = { ttl: number; expiresAt?: number | null; kept: Rrset['records']; added: string[]; unlocks?: boolean }

async function changeChallenges(
  tx: Tx,
  by: Changer,
  values: readonly ChallengeValue[],
  action: 'dns.challenge.publish' | 'dns.challenge.remove',
  edit: (existing: Rrset | undefined, own: string[], now: number) => Edit | undefined,
): Promise<Consequences> {
  const done = { audits: [] as AuditDraft[], events: [] as never[], jobs: [] as never[], wakeTopics: [] as string[] }
  for (const zone of await lockChallengeZones(tx, by.workspaceId, values)) {
    const own = Map.groupBy(
      values.filter(one => one.zoneId === zone.id),
      one => one.name,
    )
    const named = [...own.keys()].map(name => ({ name, type: 'TXT' }))
    const existing = await rrsetsAt(tx, zone.id, named)
    const wanted = [...own].flatMap(([name, of]): WantedRrset[] => {
      const found = existing.get(rrsetKey({ name, type: 'TXT' }))
      const edited = edit(found, [...new Set(of.map(one => one.value))], by.hub.clock.now())
      return edited ? [wantedOf(zone, name, edited)] : []
    })
    if (wanted.length === 0) continue
    const result = await changeZone(tx, by, zone, wanted, { source: 'acme', origin: 'api' })
    if (result.unchanged) continue
    done.audits.push({
      workspaceId: zone.workspaceId,
      action,
      actor: by.actor,
      context: by.context,
      targets: [zoneTarget(zone)],
      before: { serial: zone.serial },
      after: { serial: result.zone.serial },
    })
    done.events.push(...(result.effects.events as never[]))
    done.jobs.push(...(result.effects.jobs as never[]))
    done.wakeTopics.push(...result.effects.wakeTopics)
  }
  return done
}

function wantedOf(zone: ZoneRow, name: string, { ttl, expiresAt, kept, added, unlocks }: Edit): WantedRrset {
  const origin = originOf(zone.name)
  return {
    name,
    type: 'TXT',
    ttl,
    comment: null,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(unlocks && { unlocks }),
    values: [
      ...kept.map(one => ({ ...valueOfRdata('TXT', one.rdata), keep: one, pointer: '#' })),
      ...added.map(one => ({ ...valueOf('TXT', { content: JSON.stringify(one) }, origin), pointer: '#' })),
    ],
    pointer: '#',
  }
}

/** Locks the zones of values until the transaction ends, in id order, to avoid deadlocks. */
export const lockChallengeZones = (tx: Tx, workspaceId: string, values: readonly ChallengePlace[]): Promise<ZoneRow[]> =>
  forUpdate(
    tx
      .select()
      .from(dnsZones)
      .where(and(eq(dnsZones.workspaceId, workspaceId), inArray(dnsZones.id, [...new Set(values.map(one => one.zoneId))])))
      .orderBy(asc(dnsZones.id)),
  ) as unknown as Promise<ZoneRow[]>

const textOf = (rdata: Uint8Array): string => Buffer.from(txtValue(rdata)).toString('latin1')
