import type { Static } from '@sinclair/typebox'
import type { Ctx } from '../../core/ctx'
import { DnsFormatError } from '../../core/dns/format-error'
import { readZoneFile, ZoneFileError } from '../../core/dns/zone-file'
import { invalid, type FieldProblem } from '../../core/problem'
import { Shape } from '../../core/shapes'
import { othersTurn } from '../../core/turns'
import { readDocument, ZoneDocument } from './import-document'
import { ImportedZone, mostRecordsRead } from './imported-zone'
import type { ZoneImported } from './record-shapes'
import { ruleProblem } from './rule-problems'
import { intakeMembers, takeIn } from './zone-intake'
import { originOf } from './zone-names'
import type { ZoneRow } from './zone-rows'
import { zoneOf } from './zones'

export const mostImported = 8 * 1024 * 1024

export const ImportQuery = Shape(intakeMembers)

const example =
  '$ORIGIN example.com.\n$TTL 3600\n@ IN SOA ns1 hostmaster 2026112101 1h 10m 2w 5m\n@ IN NS ns1\nns1 IN A 192.0.2.53\nwww IN CNAME @\n'
const jsonType = 'application/json'

/** What can be imported: zone files under the media type of RFC 4027 and under what programs send that do not know it, and JSON. */
export const importTypes = { 'text/dns': example, 'text/plain': example, [jsonType]: ZoneDocument }

/** @throws Problem 404, 412, 400, 422 pointing to lines of a file or members of JSON, 409 `plan_blocked`, 403 `plan_limit_reached` */
export async function importZone(
  ctx: Ctx,
  id: string,
  { bytes, mediaType }: { bytes: Uint8Array; mediaType: string },
  query: Static<typeof ImportQuery>,
): Promise<ZoneImported> {
  const zone = await zoneOf(ctx.hub.read, ctx, id)
  const read = mediaType === jsonType ? await readDocument(bytes, zone) : await readFile(textOfFile(bytes), zone)
  return await takeIn(ctx, id, read, query, { action: 'dns.zone.import', notePointer: '#/query/note' })
}

/** @throws Problem 422 for what is no UTF-8 */
function textOfFile(file: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file)
  } catch {
    throw invalid([{ pointer: '#', code: 'character', detail: 'must be text in UTF-8.' }])
  }
}

const mostProblems = 20
// So often others have their turn while a long file is read.
const recordsAtOnce = 2000

/** The records of a file by name and type; of equal ones the first is taken, as name servers do. @throws Problem 422 */
async function readFile(text: string, zone: ZoneRow): Promise<ImportedZone> {
  const read = new ImportedZone(zone.name)
  const problems: FieldProblem[] = []
  let count = 0
  const options = {
    origin: originOf(zone.name),
    defaultTtl: zone.defaultTtl,
    // All that is wrong is told at once.
    broken: (error: ZoneFileError) => {
      problems.push(ruleProblem(error, lineOf(error.line)))
      return problems.length < mostProblems
    },
  }
  try {
    for (const record of readZoneFile(text, options)) {
      try {
        read.take(record, lineOf(record.line))
      } catch (error) {
        if (!(error instanceof DnsFormatError)) throw error
        problems.push(ruleProblem(error, lineOf(record.line)))
        if (problems.length >= mostProblems) break
      }
      if (++count > mostRecordsRead) {
        const detail = `must be within the first ${mostRecordsRead} records of the file: import the others in a file of their own.`
        throw invalid([...problems, { pointer: lineOf(record.line), code: 'too_many', detail }])
      }
      if (count % recordsAtOnce === 0) await othersTurn()
    }
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error
    if (problems.length < mostProblems) problems.push(ruleProblem(error, lineOf(error.line)))
  }
  if (problems.length > 0) throw invalid(problems)
  return read
}

const lineOf = (line: number): string => `#/lines/${line}`
