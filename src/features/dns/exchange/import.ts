import type { Ctx } from '../../../core/ctx'
import { readZoneFile, ZoneFileError } from '../../../dns/zone-file'
import { invalid, type FieldProblem } from '../../../core/problem'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import { readDocument, ZoneDocument } from './document'
import { ImportedZone, maxImportRecords } from './imported-zone'
import { problemsOf, ruleProblem } from '../records/parse-field'
import { applyImport } from './apply-import'
import { originOf } from '../zones/names'
import { zoneOf, type ZoneRow } from '../zones/rows'
import { type ImportQuery, type ZoneImportResult } from './shapes'

export const maxImportBytes = 8 * 1024 * 1024

const example =
  '$ORIGIN example.com.\n$TTL 3600\n@ IN SOA ns1 hostmaster 2026112101 1h 10m 2w 5m\n@ IN NS ns1\nns1 IN A 192.0.2.53\nwww IN CNAME @\n'
const jsonType = 'application/json'

/** Media types of imports: zone files (RFC 4027, and text/plain for clients that don’t know it) and JSON. */
export const importMediaTypes = { 'text/dns': example, 'text/plain': example, [jsonType]: ZoneDocument }

/**
 * @throws Problem 404, 412, 400, 422 pointing to lines of a file or fields of JSON, 409 `plan_blocked`, 403 `plan_limit_reached`
 */
export async function importZone(
  ctx: Ctx,
  id: string,
  { bytes, mediaType }: { bytes: Uint8Array; mediaType: string },
  query: ImportQuery,
): Promise<ZoneImportResult> {
  const zone = await zoneOf(ctx.hub.read, ctx, id)
  const parsed = mediaType === jsonType ? await readDocument(bytes, zone) : await readFile(textOfFile(bytes), zone)
  return await applyImport(ctx, id, parsed, query, { action: 'dns.zone.import', notePointer: '#/query/note' })
}

/** @throws Problem 422 if the file is empty or isn’t UTF-8 */
function textOfFile(file: Uint8Array): string {
  if (file.length === 0) throw invalid([{ pointer: '#', code: 'required', detail: 'must be a zone file or a JSON export.' }])
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file)
  } catch {
    throw invalid([{ pointer: '#', code: 'character', detail: 'must be UTF-8 text.' }])
  }
}

const maxProblems = 20

/** Parses a zone file. Of duplicate records, the first is used, as name servers do. @throws Problem 422 */
async function readFile(text: string, zone: ZoneRow): Promise<ImportedZone> {
  const zoneRead = new ImportedZone(zone.name)
  const problems: FieldProblem[] = []
  let count = 0
  const options = {
    origin: originOf(zone.name),
    defaultTtl: zone.defaultTtl,
    // Reports all problems together.
    broken: (error: ZoneFileError) => {
      problems.push(ruleProblem(error, lineOf(error.line)))
      return problems.length < maxProblems
    },
  }
  try {
    for (const record of readZoneFile(text, options)) {
      const pointer = lineOf(record.line)
      problems.push(...problemsOf(pointer, () => zoneRead.add(record, pointer)))
      if (problems.length >= maxProblems) break
      if (++count > maxImportRecords) {
        const detail = `exceeds the limit of ${maxImportRecords} records per import. Import the remaining records in a separate file.`
        throw invalid([...problems, { pointer, code: 'too_many', detail }])
      }
      if (isTurnOver()) await yieldToEventLoop()
    }
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error
    if (problems.length < maxProblems) problems.push(ruleProblem(error, lineOf(error.line)))
  }
  if (problems.length > 0) throw invalid(problems)
  return zoneRead
}

const lineOf = (line: number): string => `#/lines/${line}`
