import { StreamedResponse } from '../../../api/streamed-response'
import type { Ctx } from '../../../core/ctx'
import { canonicalKey } from '../../../dns/name'
import { textOf } from '../../../dns/rdata'
import type { ZoneRecord } from '../../../dns/zone-file'
import { zoneFileSteps } from '../../../dns/zone-file-write'
import { notFound } from '../../../core/problem'
import { streamInSlices, sortInSteps } from '../../../core/time-slices'
import type { PublishedZone } from '../publish/published-zones'
import { defaultMetadata, metadataView } from '../records/rrset-metadata'
import { readZoneSnapshot, type SnapshotRrset, type ZoneSnapshot } from '../publish/zone-snapshot'
import { zoneExample, type ZoneView } from '../zones/shapes'
import { zoneOf } from '../zones/rows'

const formats = {
  bind: 'text/dns',
  json: 'application/json',
} as const

type Format = keyof typeof formats

/** Example of a JSON export. */
export const exportedZone = {
  ...exportedFields(zoneExample),
  rrsets: [
    {
      name: 'ns1',
      type: 'A',
      ttl: 86_400,
      options: null,
      ...metadataView(defaultMetadata),
      records: [{ content: '192.0.2.53' }],
    },
  ],
}

/** Examples of exports, by media type. */
export const exportExamples: Record<string, string> = {
  [formats.bind]:
    '$ORIGIN example.com.\n$TTL 3600\n@   IN SOA ns1.example.com. hostmaster.example.com. (\n\t7          ; serial\n\t3600       ; refresh\n' +
    '\t600        ; retry\n\t1209600    ; expire\n\t300        ; minimum\n\t)\n@   IN NS  ns1.example.com.\nns1 IN A   192.0.2.53\n',
  [formats.json]: JSON.stringify(exportedZone),
}

/**
 * Streams an export of a zone at one version. Stops reading when the caller has left.
 * @param query `version` defaults to the current one
 * @throws Problem 404, also for an unknown version
 */
export async function exportZone(
  ctx: Ctx,
  id: string,
  query: { format?: Format; version?: number },
  signal: AbortSignal,
): Promise<StreamedResponse> {
  await zoneOf(ctx.hub.read, ctx, id)
  const snapshot = await readZoneSnapshot(ctx.hub.read, id, query.version, signal)
  if (!snapshot) throw notFound('zone')
  const { format = 'bind', version } = query
  const { zone, published } = snapshot
  const steps = format === 'bind' ? zoneFileSteps(recordsOf(published), published.name) : jsonSteps(snapshot)
  // Names of RFC 2317 reverse zones contain slashes.
  const name = `${zone.name.replaceAll('/', '-')}${version === undefined ? '' : `-${version}`}`
  return new StreamedResponse(formats[format], `${name}.${format === 'bind' ? 'zone' : 'json'}`, streamInSlices(steps))
}

function* recordsOf(zone: PublishedZone): Generator<ZoneRecord> {
  yield { name: zone.name, type: 'SOA', ttl: zone.soa.ttl, rdata: zone.soa.rdata }
  for (const { name, type, ttl, rdata } of zone.rrsets) for (const one of rdata) yield { name, type, ttl, rdata: one }
}

/** JSON with one rrset per line. */
function* jsonSteps({ zone, soa, published }: ZoneSnapshot): Generator<string | void> {
  const keyed: { key: string; rrset: SnapshotRrset }[] = []
  for (const rrset of published.rrsets) {
    keyed.push({ key: `${canonicalKey(rrset.name)}\0${rrset.type}`, rrset })
    yield
  }
  const sorted = yield* sortInSteps(keyed, (a, b) => (a.key === b.key ? 0 : a.key < b.key ? -1 : 1))
  const fields = exportedFields({ name: zone.name, serial: published.serial, default_ttl: zone.defaultTtl, soa })
  yield `${JSON.stringify(fields, null, 2).slice(0, -2)},\n  "rrsets": [`
  for (const [place, { rrset }] of sorted.entries())
    yield `${place === 0 ? '' : ','}\n    ${JSON.stringify(exportedRrset(rrset))}`
  yield '\n  ]\n}\n'
}

const exportedRrset = ({ relativeName, type, ttl, options, rdata, ...metadata }: SnapshotRrset) => ({
  name: relativeName,
  type,
  ttl,
  options,
  ...metadataView(metadata),
  records: rdata.map(one => ({ content: textOf(type, one) })),
})

/** Fields of the zone itself in an export. */
function exportedFields({ name, serial, default_ttl, soa }: Pick<ZoneView, 'name' | 'serial' | 'default_ttl' | 'soa'>) {
  return { name, serial, default_ttl, soa }
}
