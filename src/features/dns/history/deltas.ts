import { and, asc, desc, eq, gte, lte, or, gt } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import type { Delta, DeltaRecord } from '../server/messages'
import { soaMembers, soaRdataOf, type SoaMembers } from '../soa-members'
import { dnsZones } from '../tables'
import { absoluteOf } from '../zone-names'
import { dnsChangesetRrsets, dnsChangesets, type KeptRrset } from './tables'

const changesetsAtOnce = 500
const rrsetsAtOnce = 1000

/**
 * The changes of a zone from a serial to now, oldest first, without the SOA among what is removed and added; none when the zone is
 * at that serial. What was added and removed again is in both. Null when they do not reach back to the serial or have more records
 * than `most`, those of the SOA included: then the whole zone is to be sent.
 */
export async function readDeltas(read: Reader, zoneId: string, fromSerial: number, most: number): Promise<Delta[] | null> {
  const [zone] = await read.select().from(dnsZones).where(eq(dnsZones.id, zoneId))
  if (!zone) return null
  if (zone.serial === fromSerial) return []
  const deltas = new Map<number, Delta>()
  const rrsets = new Map<number, number>()
  let at: { version: number; serial: number; soa: SoaMembers } = { ...zone, soa: soaMembers(zone) }
  let count = 0
  while (at.serial !== fromSerial) {
    const rows = await read
      .select()
      .from(dnsChangesets)
      .where(and(eq(dnsChangesets.zoneId, zoneId), lte(dnsChangesets.version, at.version)))
      .orderBy(desc(dnsChangesets.version))
      .limit(changesetsAtOnce)
    if (rows.length === 0) return null
    for (const row of rows) {
      // The first one made the zone: nobody can have what was before it.
      if (row.version !== at.version || row.serialAfter !== at.serial || row.version === 1) return null
      const before = { version: row.version - 1, serial: row.serialBefore, soa: row.soaBefore ?? at.soa }
      if (before.serial !== at.serial) {
        count += row.created + 2 * row.updated + row.deleted + 2
        if (count > most) return null
        rrsets.set(row.version, row.rrsetCount)
        deltas.set(row.version, {
          fromSerial: before.serial,
          toSerial: at.serial,
          soaBefore: soaRecord(before),
          soaAfter: soaRecord(at),
          removed: [],
          added: [],
        })
      }
      at = before
      if (at.serial === fromSerial) break
    }
  }
  await readRrsets(read, zone, deltas, rrsets, { from: at.version + 1, to: zone.version })
  // Old ones may be cleared away while they are read.
  return [...rrsets.values()].every(left => left === 0) ? [...deltas.values()].reverse() : null
}

const soaRecord = ({ soa, serial }: { soa: SoaMembers; serial: number }): Delta['soaAfter'] => ({
  ttl: soa.ttl,
  rdata: soaRdataOf(soa, serial),
})

/** @param left rrsets of each version, counted down by those that are read */
async function readRrsets(
  read: Reader,
  zone: { id: string; name: string },
  deltas: ReadonlyMap<number, Delta>,
  left: Map<number, number>,
  versions: { from: number; to: number },
): Promise<void> {
  const { version, place } = dnsChangesetRrsets
  for (let after = { version: versions.from, place: -1 }; ;) {
    const rows = await read
      .select()
      .from(dnsChangesetRrsets)
      .where(
        and(
          eq(dnsChangesetRrsets.zoneId, zone.id),
          gte(version, after.version),
          lte(version, versions.to),
          or(gt(version, after.version), gt(place, after.place)),
        ),
      )
      .orderBy(asc(version), asc(place))
      .limit(rrsetsAtOnce)
    for (const row of rows) {
      const delta = deltas.get(row.version)
      if (!delta) continue
      left.set(row.version, left.get(row.version)! - 1)
      const name = absoluteOf(row.name, zone.name)
      delta.removed.push(...recordsOnlyIn(row.before, row.after, { name, type: row.type }))
      delta.added.push(...recordsOnlyIn(row.after, row.before, { name, type: row.type }))
    }
    if (rows.length < rrsetsAtOnce) return
    after = rows.at(-1)!
  }
}

/** Records of an rrset that another form of it does not have with this TTL and these octets. */
function recordsOnlyIn(form: KeptRrset | null, other: KeptRrset | null, of: { name: string; type: string }): DeltaRecord[] {
  if (!form) return []
  const kept = new Set(other?.ttl === form.ttl ? other.records.map(([, rdata]) => rdata) : [])
  return form.records
    .filter(([, rdata]) => !kept.has(rdata))
    .map(([, rdata]) => ({ ...of, ttl: form.ttl, rdata: Buffer.from(rdata, 'base64') }))
}
