import { Type, type Static } from '@sinclair/typebox'
import { readJson, unstorable } from '../../access/request-body'
import { invalid } from '../../core/problem'
import { Shape } from '../../core/shapes'
import { othersTurn } from '../../core/turns'
import { fieldProblems } from '../../core/validate'
import { exportedZone } from './zone-export'
import { mostRecordsRead } from './imported-zone'
import { soaColumns } from './new-zone'
import { RrsetGiven } from './record-shapes'
import type { WantedRrset } from './rrset-rules'
import { namesIn, wantedOf } from './rrsets'
import { allKept, ruleKept } from './rule-problems'
import type { ZoneRead } from './zone-intake'
import { rrsetKey, type ZoneRow } from './zone-rows'
import { zoneNameOf } from './zone-names'
import { default_ttl, SoaGiven } from './zone-shapes'

export const ZoneDocument = Shape(
  {
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description: 'The zone that it is of; another one is refused. Any when absent.',
      }),
    ),
    serial: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 0xffff_ffff, description: 'Taken where it is ahead of the zone’s.' }),
    ),
    default_ttl: Type.Optional(default_ttl),
    soa: Type.Optional(SoaGiven),
    rrsets: Type.Array(RrsetGiven, { maxItems: mostRecordsRead, description: 'Each name and type once.' }),
  },
  { $id: 'ZoneDocument', description: 'A zone as it is exported in JSON.', examples: [exportedZone] },
)

// So often others have their turn while a long one is read.
const rrsetsAtOnce = 1000

/** The rrsets of an export in JSON. @throws Problem 400, 422 */
export async function readDocument(bytes: Uint8Array, zone: ZoneRow): Promise<ZoneRead> {
  const parsed = readJson.parse(bytes)
  const hostile = unstorable(parsed)
  const problems = hostile.length > 0 ? hostile : fieldProblems(ZoneDocument, parsed)
  if (problems.length > 0) throw invalid(problems)
  const document = parsed as Static<typeof ZoneDocument>
  const { name, serial, default_ttl: ttl, soa } = document
  if (name !== undefined && ruleKept('#/name', () => zoneNameOf(name)) !== zone.name)
    throw invalid([
      { pointer: '#/name', code: 'other_zone', detail: `must be ${zone.name}, or be left out to take records of another zone.` },
    ])
  refuseTooMany(document.rrsets)
  const rrsets = new Map<string, WantedRrset>()
  const named = namesIn(document.rrsets, zone)
  for (let at = 0; at < named.length; at += rrsetsAtOnce) {
    const some = allKept(document.rrsets.slice(at, at + rrsetsAtOnce), (one, place) =>
      wantedOf(one, at + place, named[at + place]!, zone, ttl ?? zone.defaultTtl),
    )
    for (const one of some) rrsets.set(rrsetKey(one), one)
    await othersTurn()
  }
  const members = {
    ...(serial !== undefined && { serial }),
    ...(ttl !== undefined && { defaultTtl: ttl }),
    ...soaColumns(null, soa ?? {}, zone.name),
  }
  return { rrsets, members: Object.keys(members).length > 0 ? members : null, skipped: 0 }
}

/** @throws Problem 422 */
function refuseTooMany(rrsets: readonly RrsetGiven[]): void {
  let count = 0
  for (const [place, { records }] of rrsets.entries()) {
    count += records.length
    if (count <= mostRecordsRead) continue
    const detail = `must be within the first ${mostRecordsRead} records: import the others in a document of their own.`
    throw invalid([{ pointer: `#/rrsets/${place}`, code: 'too_many', detail }])
  }
}
