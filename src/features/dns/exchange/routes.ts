import { mediaTypeOf } from '../../../api/request-body'
import { area, route } from '../../../api/route'
import { exportExamples, exportZone } from './export'
import { importMediaTypes, importZone, maxImportBytes } from './import'
import { importFrom } from './import-from'
import { ExportQuery, ImportQuery, ZoneImportResult, ZoneSource } from './shapes'

const read = 'dns.read'
const write = 'dns.write'

export const dnsExchangeRoutes = area('dns-exchange', 'DNS', [
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/export',
    guard: read,
    operationId: 'exportZone',
    summary: 'Export a zone',
    description:
      'Exports the whole zone, as a zone file (`bind`, RFC 1035 section 5) with its SOA, or as JSON that can be imported ' +
      'again. `version` exports an earlier version; one that is not in the history returns 404. `default_ttl` has no history and is ' +
      'always the current one.',
    query: ExportQuery,
    streams: exportExamples,
    run: (ctx, { params, query, request }) => exportZone(ctx, params.id!, query, request.signal),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/import',
    guard: write,
    action: 'dns.zone.import',
    operationId: 'importZone',
    summary: 'Import a zone',
    description:
      'Imports a zone file, or JSON from the export (the whole document or part of it). The import is atomic. With `replace`, ' +
      'the zone becomes a copy of the file: other records are deleted, and the SOA is taken from the file, including its ' +
      'serial if it is higher. With `merge`, only the record sets in the file are replaced; other records and the SOA ' +
      'are not affected.\n\nNames without a trailing dot are relative to the zone or to `$ORIGIN`. Errors point to the line of the file ' +
      '(`#/lines/<number>`) or to the field of the JSON. In JSON, the default TTL is `default_ttl` of the document, or else of the zone; in a zone file, ' +
      '`$TTL`, or else the TTL of an earlier record, or else `default_ttl` of the zone. The TTL of an existing record set is not kept. DNSSEC records (RRSIG, NSEC, …) are skipped and counted.\n\nOne import changes at most 10,000 records: split larger ' +
      'zones into multiple files and import all but the first with `merge`. A `replace` that would delete more than the safety checks ' +
      'allow (unless the zone has not changed since it was created) fails with a 409 `plan_blocked`; override the reasons with `allow`. With `dry_run`, nothing is changed, and ' +
      '`preview` lists the changes.',
    query: ImportQuery,
    textBody: {
      types: importMediaTypes,
      maxBytes: maxImportBytes,
      description: 'A zone file or a JSON export, in UTF-8. At most 8 MiB and 100,000 records.',
    },
    response: ZoneImportResult,
    problems: ['validation_failed', 'precondition_failed', 'plan_limit_reached', 'plan_blocked'],
    run: (ctx, { params, query, bytes, request }) =>
      importZone(ctx, params.id!, { bytes, mediaType: mediaTypeOf(request) }, query),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/import-from',
    guard: write,
    action: 'dns.zone.import_from',
    operationId: 'importZoneFrom',
    summary: 'Import a zone from another server',
    description:
      'Reads the zone from a name server by zone transfer (AXFR, RFC 5936) or from a DNS provider of the workspace, and ' +
      'imports it like a zone file, atomically. With `replace`, the SOA is taken from the server, including its serial if it ' +
      'is higher; providers don’t report an SOA. DNSSEC records are skipped and counted, as are the DNSKEY, CDS, and CDNSKEY ' +
      'records of a signed zone. Records that violate a rule are reported as `#/rrsets/<name>/<type>`. A transfer is limited to 30 ' +
      'seconds, 100,000 records, and 32 MiB. If the server fails, the response is a 424 with the cause in `failure`. Limited to 10 ' +
      'requests a minute per zone.',
    body: ZoneSource,
    response: ZoneImportResult,
    problems: ['precondition_failed', 'plan_limit_reached', 'plan_blocked', 'provider_failed', 'rate_limited'],
    run: (ctx, { params, body }) => importFrom(ctx, params.id!, body),
  }),
])
