import { Type, type Static } from '@sinclair/typebox'
import { readJson, unstorable } from '../../../api/request-body'
import { invalid } from '../../../core/problem'
import { Shape } from '../../../core/shapes'
import { yieldToEventLoop } from '../../../core/time-slices'
import { fieldProblems } from '../../../core/validate'
import { exportedZone } from './export'
import { maxImportRecords } from './imported-zone'
import { soaColumns } from '../zones/new-zone'
import { RrsetInput, ttl } from '../records/shapes'
import type { WantedRrset } from '../changes/rrset-rules'
import { namesIn, wantedOf } from '../records/rrsets'
import { parseEach, parseField } from '../records/parse-field'
import type { ParsedZone } from './apply-import'
import { rrsetKey, zoneNameOf } from '../zones/names'
import { type ZoneRow } from '../zones/rows'
import { default_ttl, SoaInput } from '../zones/shapes'

const ImportedRrset = Shape({
  ...RrsetInput.properties,
  ttl: Type.Optional({
    ...ttl,
    description: `${ttl.description} Default: \`default_ttl\` of the document, or else of the zone.`,
  }),
})

export const ZoneDocument = Shape(
  {
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description: 'Name of the zone. Must match the zone it is imported into. Omit it to import the records into any zone.',
      }),
    ),
    serial: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 0xffff_ffff, description: 'Serial. Used if it is ahead of the serial of the zone.' }),
    ),
    default_ttl: Type.Optional({
      ...default_ttl,
      description:
        'TTL in seconds for record sets without one, and, with `replace`, the new `default_ttl` of the zone. Default: the `default_ttl` of the zone.',
    }),
    soa: Type.Optional(SoaInput),
    rrsets: Type.Array(ImportedRrset, {
      maxItems: maxImportRecords,
      description: 'Record sets. Each combination of name and type may appear only once.',
    }),
  },
  { $id: 'ZoneDocument', description: 'A zone, as exported in JSON.', examples: [exportedZone] },
)

// An exported record has at most this many values, including its share of the record set.
const valuesPerRecord = 10
// Yields to other work after this many rrsets while reading a long document.
const rrsetsPerTurn = 1000

/** Parses a JSON export. @throws Problem 400, 422 */
export async function readDocument(bytes: Uint8Array, zone: ZoneRow): Promise<ParsedZone> {
  const parsed = readJson.parse(bytes, valuesPerRecord * maxImportRecords)
  const unstorableProblems = unstorable(parsed)
  const problems = unstorableProblems.length > 0 ? unstorableProblems : fieldProblems(ZoneDocument, parsed)
  if (problems.length > 0) throw invalid(problems)
  const document = parsed as Static<typeof ZoneDocument>
  const { name, serial, default_ttl: defaultTtl, soa } = document
  if (name !== undefined && parseField('#/name', () => zoneNameOf(name)) !== zone.name)
    throw invalid([
      { pointer: '#/name', code: 'zone_mismatch', detail: `must be ${zone.name}. To import records of another zone, omit it.` },
    ])
  refuseTooMany(document.rrsets)
  const rrsets = new Map<string, WantedRrset>()
  const named = namesIn(document.rrsets, zone)
  for (let at = 0; at < named.length; at += rrsetsPerTurn) {
    const some = parseEach(document.rrsets.slice(at, at + rrsetsPerTurn), (one, place) =>
      wantedOf(one, at + place, named[at + place]!, zone, defaultTtl ?? zone.defaultTtl),
    )
    for (const one of some) rrsets.set(rrsetKey(one), one)
    await yieldToEventLoop()
  }
  const fields = {
    ...(serial !== undefined && { serial }),
    ...(defaultTtl !== undefined && { defaultTtl }),
    ...soaColumns(null, soa ?? {}, zone.name),
  }
  return { rrsets, fields: Object.keys(fields).length > 0 ? fields : null, skipped: 0 }
}

/** @throws Problem 422 */
function refuseTooMany(rrsets: readonly RrsetInput[]): void {
  let count = 0
  for (const [place, { records }] of rrsets.entries()) {
    count += records.length
    if (count <= maxImportRecords) continue
    const detail = `exceeds the limit of ${maxImportRecords} records per import. Import the remaining records separately.`
    throw invalid([{ pointer: `#/rrsets/${place}`, code: 'too_many', detail }])
  }
}
