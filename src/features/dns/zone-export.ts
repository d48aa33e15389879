import { Type } from '@sinclair/typebox'
import { Streamed } from '../../access/streamed'
import type { Ctx } from '../../core/ctx'
import { canonicalKey } from '../../core/dns/name'
import { textOf } from '../../core/dns/rdata'
import type { ZoneRecord } from '../../core/dns/zone-file'
import { zoneFileSteps } from '../../core/dns/zone-file-write'
import { notFound } from '../../core/problem'
import { Shape, Words } from '../../core/shapes'
import { piecesInTurns, sorting } from '../../core/turns'
import type { PublishedZone } from './publish'
import { noMembers, shownMembers } from './rrset-members'
import { readWholeZone, type WholeRrset, type WholeZone } from './whole-zone'
import { zoneExample, type ZoneView } from './zone-shapes'
import { zoneOf } from './zones'

const formats = {
  bind: 'text/dns',
  json: 'application/json',
} as const

type Format = keyof typeof formats

export const ExportQuery = Shape({
  format: Type.Optional(Words(['bind', 'json'], { default: 'bind', description: 'A zone file, or JSON.' })),
  version: Type.Optional(
    Type.Integer({ minimum: 1, description: 'The version of the zone, as its history has them; as it is now when absent.' }),
  ),
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

/**
 * A zone as of one version, written while it is sent.
 * @param asked `version` is the latest when absent
 * @throws Problem 404, also for a version that is not known
 */
export async function exportZone(ctx: Ctx, id: string, asked: { format?: Format; version?: number }): Promise<Streamed> {
  await zoneOf(ctx.hub.read, ctx, id)
  const whole = await readWholeZone(ctx.hub.read, id, asked.version)
  if (!whole) throw notFound('zone')
  const { format = 'bind', version } = asked
  const { zone, published } = whole
  const steps = format === 'bind' ? zoneFileSteps(recordsOf(published), published.name) : jsonSteps(whole)
  // A slash is in the names of zones that divide a network.
  const name = `${zone.name.replaceAll('/', '-')}${version === undefined ? '' : `-${version}`}`
  return new Streamed(formats[format], `${name}.${format === 'bind' ? 'zone' : 'json'}`, piecesInTurns(steps))
}

function* recordsOf(zone: PublishedZone): Generator<ZoneRecord> {
  yield { name: zone.name, type: 'SOA', ttl: zone.soa.ttl, rdata: zone.soa.rdata }
  for (const { name, type, ttl, rdata } of zone.rrsets) for (const one of rdata) yield { name, type, ttl, rdata: one }
}

/** JSON with each rrset on a line of its own. */
function* jsonSteps({ zone, soa, published }: WholeZone): Generator<string | void> {
  const keyed: { key: string; rrset: WholeRrset }[] = []
  for (const rrset of published.rrsets) {
    keyed.push({ key: `${canonicalKey(rrset.name)}\0${rrset.type}`, rrset })
    yield
  }
  const sorted = yield* sorting(keyed, (a, b) => (a.key === b.key ? 0 : a.key < b.key ? -1 : 1))
  const told = zoneTold({ name: zone.name, serial: published.serial, default_ttl: zone.defaultTtl, soa })
  yield `${JSON.stringify(told, null, 2).slice(0, -2)},\n  "rrsets": [`
  for (const [place, { rrset }] of sorted.entries()) yield `${place === 0 ? '' : ','}\n    ${JSON.stringify(rrsetTold(rrset))}`
  yield '\n  ]\n}\n'
}

const rrsetTold = ({ own, type, ttl, options, rdata, ...members }: WholeRrset) => ({
  name: own,
  type,
  ttl,
  options,
  ...shownMembers(members),
  records: rdata.map(one => ({ content: textOf(type, one) })),
})

/** What an export tells of the zone itself. */
function zoneTold({ name, serial, default_ttl, soa }: Pick<ZoneView, 'name' | 'serial' | 'default_ttl' | 'soa'>) {
  return { name, serial, default_ttl, soa }
}
