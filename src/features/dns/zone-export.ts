import { Type } from '@sinclair/typebox'
import { asc, eq } from 'drizzle-orm'
import { Streamed } from '../../access/streamed'
import type { Ctx } from '../../core/ctx'
import { canonicalKey } from '../../core/dns/name'
import { textOf } from '../../core/dns/rdata'
import type { ZoneRecord } from '../../core/dns/zone-file'
import { writeZoneFile } from '../../core/dns/zone-file-write'
import { notFound } from '../../core/problem'
import { Shape, Words } from '../../core/shapes'
import { readWholeZone, type PublishedZone } from './publish'
import { noMembers, shownMembers } from './rrset-members'
import { dnsRrsets } from './tables'
import { zoneShown } from './views'
import { rrsetKey, type ZoneRow } from './zone-rows'
import { withinZone } from './zone-names'
import { zoneExample, type ZoneView } from './zone-shapes'
import { zoneOf } from './zones'

const formats = {
  bind: 'text/dns',
  json: 'application/json',
} as const

export const ExportQuery = Shape({
  format: Type.Optional(Words(['bind', 'json'], { default: 'bind', description: 'A zone file, or JSON.' })),
})

/** An export in JSON. */
export const exportedZone = {
  ...zoneTold(zoneExample),
  rrsets: [
    { name: 'ns1', type: 'A', ttl: 86_400, options: null, ...shownMembers(noMembers), records: [{ content: '192.0.2.53' }] },
  ],
}

/** What the export looks like, by media type. */
export const exportExamples: Record<string, string> = {
  [formats.bind]:
    '$ORIGIN example.com.\n$TTL 3600\n@   IN SOA ns1.example.com. hostmaster.example.com. (\n\t7          ; serial\n\t3600       ; refresh\n' +
    '\t600        ; retry\n\t1209600    ; expire\n\t300        ; minimum\n\t)\n@   IN NS  ns1.example.com.\nns1 IN A   192.0.2.53\n',
  [formats.json]: JSON.stringify(exportedZone),
}

/** @throws Problem 404 */
export async function exportZone(ctx: Ctx, id: string, format: keyof typeof formats): Promise<Streamed> {
  await zoneOf(ctx.hub.read, ctx, id)
  const whole = await readWholeZone(ctx.hub.read, id)
  if (!whole) throw notFound('zone')
  const { zone, published } = whole
  const text = format === 'bind' ? writeZoneFile(recordsOf(published), published.name) : await jsonText(ctx, zone, published)
  // A slash is in the names of zones that divide a network.
  const fileName = `${zone.name.replaceAll('/', '-')}.${format === 'bind' ? 'zone' : 'json'}`
  return new Streamed(formats[format], fileName, inPieces(text))
}

function* recordsOf(zone: PublishedZone): Generator<ZoneRecord> {
  yield { name: zone.name, type: 'SOA', ttl: zone.soa.ttl, rdata: zone.soa.rdata }
  for (const { name, type, ttl, rdata } of zone.rrsets) for (const one of rdata) yield { name, type, ttl, rdata: one }
}

async function jsonText(ctx: Ctx, zone: ZoneRow, published: PublishedZone): Promise<string> {
  const rows = await ctx.hub.read.select().from(dnsRrsets).where(eq(dnsRrsets.zoneId, zone.id)).orderBy(asc(dnsRrsets.name))
  const kept = new Map(rows.map(row => [rrsetKey(row), row]))
  const rrsets = published.rrsets
    .map(one => ({ ...one, key: `${canonicalKey(one.name)}\0${one.type}` }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ name: fqdn, type, ttl, rdata }) => {
      const own = withinZone(fqdn, zone.name)!
      const records = rdata.map(one => ({ content: textOf(type, one) }))
      const row = kept.get(rrsetKey({ name: own, type }))
      return { name: own, type, ttl, options: row?.options ?? null, ...shownMembers(row ?? noMembers), records }
    })
  return `${JSON.stringify({ ...zoneTold(zoneShown(zone, [], { synced: true, sync: { state: 'synced', targets: [] }, blocked: null })), rrsets }, null, 2)}\n`
}

/** What an export tells of the zone itself. */
function zoneTold({ name, serial, default_ttl, soa }: Pick<ZoneView, 'name' | 'serial' | 'default_ttl' | 'soa'>) {
  return { name, serial, default_ttl, soa }
}

const pieceLength = 64 * 1024

async function* inPieces(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += pieceLength) yield text.slice(at, at + pieceLength)
}
