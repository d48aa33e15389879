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
export { caaOf, challengePlace, nameOfPlace, type CaaProperty, type ChallengePlace } from './places'

/** A value of a TXT record that answers a challenge. */
export interface ChallengeValue extends ChallengePlace {
  value: string
}

/** Seconds. Validators may cache old values for as long. */
const ttl = 60
/** How long a record stays if it is never removed. */
export const challengeLifetimeMs = 3_600_000

/**
 * Adds values to the TXT records of their names; other values stay. Records with nothing but challenges expire after an hour.
 * @throws Problem 422 for locked records, 403 `plan_limit_reached`
 */
export const publishChallenges = (tx: Tx, by: Changer, values: readonly ChallengeValue[]): Promise<Consequences> =>
  changeChallenges(tx, by, values, 'dns.challenge.publish', (existing, own, now) => {
    const present = new Set(existing?.records.map(one => textOf(one.rdata)))
    const isOurs = existing?.records.every(one => one.source === 'acme') ?? true
    return {
      ttl: existing?.row.ttl ?? ttl,
      ...(isOurs && { expiresAt: Math.max(existing?.row.expiresAt ?? 0, now + challengeLifetimeMs) }),
      kept: existing?.records ?? [],
      added: own.filter(one => !present.has(one)),
    }
  })

/** Removes values from the TXT records of their names; other values stay. Values and zones that are gone are skipped. */
export const withdrawChallenges = (tx: Tx, by: Changer, values: readonly ChallengeValue[]): Promise<Consequences> =>
  changeChallenges(
    tx,
    by,
    values,
    'dns.challenge.remove',
    (existing, own) =>
      existing && {
        ttl: existing.row.ttl,
        kept: existing.records.filter(one => !(one.source === 'acme' && own.includes(textOf(one.rdata)))),
        added: [],
      },
  )

/** Whether the records with these values are in sync at all targets of their zones. */
export async function areChallengesSynced(read: Reader, values: readonly ChallengeValue[]): Promise<boolean> {
  const zones = await read
    .select({ id: dnsZones.id, targetCount: dnsZones.targetCount })
    .from(dnsZones)
    .where(inArray(dnsZones.id, [...new Set(values.map(one => one.zoneId))]))
  const syncOf = await recordSyncViews(read, zones, values)
  return values.every(({ zoneId, name }) => syncOf({ zoneId, name, type: 'TXT' }).synced)
}

type Edit = { ttl: number; expiresAt?: number; kept: Rrset['records']; added: string[] }

async function changeChallenges(
  tx: Tx,
  by: Changer,
  values: readonly ChallengeValue[],
  action: 'dns.challenge.publish' | 'dns.challenge.remove',
  edit: (existing: Rrset | undefined, own: string[], now: number) => Edit | undefined,
): Promise<Consequences> {
  const done = { audits: [] as AuditDraft[], events: [] as never[], jobs: [] as never[], wakeTopics: [] as string[] }
  for (const zone of await lockZones(tx, by.workspaceId, values)) {
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

function wantedOf(zone: ZoneRow, name: string, { ttl, expiresAt, kept, added }: Edit): WantedRrset {
  const origin = originOf(zone.name)
  return {
    name,
    type: 'TXT',
    ttl,
    comment: null,
    ...(expiresAt !== undefined && { expiresAt }),
    values: [
      ...kept.map(one => ({ ...valueOfRdata('TXT', one.rdata), keep: one, pointer: '#' })),
      ...added.map(one => ({ ...valueOf('TXT', { content: JSON.stringify(one) }, origin), pointer: '#' })),
    ],
    pointer: '#',
  }
}

/** Locks the zones in id order, to avoid deadlocks. */
const lockZones = (tx: Tx, workspaceId: string, values: readonly ChallengeValue[]): Promise<ZoneRow[]> =>
  forUpdate(
    tx
      .select()
      .from(dnsZones)
      .where(and(eq(dnsZones.workspaceId, workspaceId), inArray(dnsZones.id, [...new Set(values.map(one => one.zoneId))])))
      .orderBy(asc(dnsZones.id)),
  ) as unknown as Promise<ZoneRow[]>

const textOf = (rdata: Uint8Array): string => Buffer.from(txtValue(rdata)).toString('latin1')
