import { mediaTypeOf } from '../../access/request-body'
import { area, route } from '../../access/route'
import { listQuery } from '../../core/list'
import { importFrom } from './import-from'
import { lintOf } from './lint-report'
import { listRecords, recordQuery, zoneRecordQuery } from './record-listing'
import { checkRecord } from './record-check'
import { listRecordTypes } from './record-types'
import { createRecord, deleteRecord, getRecord, listRecordsOf, recordRelations, updateRecord } from './records'
import {
  DnsRecord,
  DnsRecordCheck,
  DnsRecordChecked,
  DnsRecordInput,
  DnsRecordList,
  DnsRecordPatch,
  DnsRecordTypeList,
  RrsetsChanged,
  RrsetsInput,
  ZoneImported,
} from './record-shapes'
import { replaceRrsets } from './rrsets'
import { Zone, ZoneInput, ZoneLint, ZoneList, ZonePatch } from './zone-shapes'
import { exportExamples, ExportQuery, exportZone } from './zone-export'
import { ImportQuery, importTypes, importZone, mostImported } from './zone-import'
import { ZoneSource } from './zone-sources'
import { createZone, deleteZone, getZone, listZones, updateZone, zoneListing } from './zones'

const read = 'dns.read'
const write = 'dns.write'

export const dnsRoutes = area('dns', 'DNS', [
  route({
    method: 'GET',
    path: '/v1/dns/zones',
    guard: read,
    operationId: 'listZones',
    summary: 'List zones',
    description: 'DNS zones of the workspace.',
    query: listQuery(zoneListing),
    answer: ZoneList,
    run: (ctx, { query }) => listZones(ctx, query),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones',
    guard: write,
    action: 'dns.zone.create',
    operationId: 'createZone',
    summary: 'Create a zone',
    description:
      'Makes a zone that the hub serves, with its SOA and its NS records. Where the NS records name something within the zone that ' +
      'was not asked for, the address of the hub is added as glue. A name is one zone in the whole installation.',
    body: ZoneInput,
    status: 201,
    answer: Zone,
    problems: ['plan_limit_reached', 'already_exists'],
    run: (ctx, { body }) => createZone(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id',
    guard: read,
    operationId: 'getZone',
    summary: 'Read a zone',
    description: 'A zone with its serial and the members of its SOA.',
    answer: Zone,
    run: (ctx, { params }) => getZone(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/dns/zones/:id',
    guard: write,
    action: 'dns.zone.update',
    operationId: 'updateZone',
    summary: 'Edit a zone',
    description: 'Changes members (JSON merge patch, RFC 7396). A zone that is `paused` is kept, and not served.',
    body: ZonePatch,
    answer: Zone,
    run: (ctx, { params, body }) => updateZone(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/dns/zones/:id',
    guard: write,
    action: 'dns.zone.delete',
    operationId: 'deleteZone',
    summary: 'Delete a zone',
    description: 'Removes a zone with its records; it is served no more.',
    status: 204,
    run: (ctx, { params }) => deleteZone(ctx, params.id!),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/records',
    guard: read,
    operationId: 'listDnsRecords',
    summary: 'List DNS records',
    description: 'Records of all zones of the workspace, or of one of them. A page costs the same however deep it is.',
    query: recordQuery,
    expands: recordRelations,
    answer: DnsRecordList,
    run: (ctx, { query }) => listRecords(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/records',
    guard: read,
    operationId: 'listZoneRecords',
    summary: 'List the records of a zone',
    description: 'Records of a zone but for its SOA, which is a member of the zone.',
    query: zoneRecordQuery,
    answer: DnsRecordList,
    run: (ctx, { params, query }) => listRecordsOf(ctx, params.id!, query),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/records',
    guard: write,
    action: 'dns.record.create',
    operationId: 'createDnsRecord',
    summary: 'Create a DNS record',
    description:
      'Adds a value to a name and type. It is served once this is answered. Records of one name and type have one TTL: without `ttl` ' +
      'it is theirs, and for the first of them that of the zone. What breaks a rule of DNS is a 422 that names member, rule and RFC.',
    body: DnsRecordInput,
    status: 201,
    addsTo: '/v1/dns/records',
    answer: DnsRecord,
    problems: ['plan_limit_reached'],
    run: (ctx, { params, body }) => createRecord(ctx, params.id!, body),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/records/check',
    guard: write,
    action: 'dns.record.check',
    operationId: 'checkDnsRecord',
    summary: 'Try out a DNS record',
    description:
      'Holds a record to the rules of DNS and to the limits of the plan as if it were made, or a record edited with `record_id`, and tells ' +
      'what it would be. Nothing is done.',
    body: DnsRecordCheck,
    answer: DnsRecordChecked,
    problems: ['plan_limit_reached'],
    run: (ctx, { params, body }) => checkRecord(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/record-types',
    guard: read,
    narrowed: 'open',
    operationId: 'listDnsRecordTypes',
    summary: 'List record types',
    description: 'The types that have fields of their own, on one page. Records may have any other type too, by its number.',
    answer: DnsRecordTypeList,
    run: async () => listRecordTypes(),
  }),
  route({
    method: 'PUT',
    path: '/v1/dns/zones/:id/rrsets',
    guard: write,
    action: 'dns.rrsets.replace',
    operationId: 'replaceRrsets',
    summary: 'Replace records by name and type',
    description:
      'Makes the records of each name and type in the request as they are given there, all of them or none; what is not named stays. ' +
      'A CNAME becomes an address and back in one request so. Records whose value stays keep their ids. If-Match is held against the ' +
      'version of the zone.',
    body: RrsetsInput,
    answer: RrsetsChanged,
    problems: ['plan_limit_reached'],
    run: (ctx, { params, body }) => replaceRrsets(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/export',
    guard: read,
    operationId: 'exportZone',
    summary: 'Export a zone',
    description:
      'The whole zone as of one version: as a zone file (`bind`, RFC 1035 section 5) with its SOA, or as JSON whose `rrsets` can be put ' +
      'back as they are. `version` gives it as it was then, for as long as the history is kept; only `default_ttl` has none, and is ' +
      'that of now.',
    query: ExportQuery,
    streams: exportExamples,
    run: (ctx, { params, query }) => exportZone(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/lint',
    guard: read,
    operationId: 'lintZone',
    summary: 'Lint a zone',
    description: 'What in the zone is allowed and most often a mistake. Nothing outside of it is asked.',
    answer: ZoneLint,
    run: (ctx, { params }) => lintOf(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/import',
    guard: write,
    action: 'dns.zone.import',
    operationId: 'importZone',
    summary: 'Import a zone',
    description:
      'Reads a zone file into the zone, all of it or nothing. With `replace` the zone becomes what the file says: other records go, ' +
      'and the SOA is that of the file, its serial too if it is ahead. With `merge` the records of each name and type in the file ' +
      'become as they are there; the others and the SOA stay. Names without a dot at the end are below the zone, or below `$ORIGIN`. ' +
      'What is wrong is told with its line, as `#/lines/<number>`. Instead of a file it may be the JSON that the export gives, or a part ' +
      'of it; then what is wrong is told with its member. A TTL that is left out is `default_ttl`, or that of the zone. Records that signing makes are left out and counted. One import ' +
      'changes at most 10,000 records: a longer zone comes in several files, those after the first with `merge`. What `replace` would ' +
      'take from a zone beyond the guards is a 409 `plan_blocked`, whose reasons `allow` overrides. With `dry_run` nothing is done, and ' +
      '`preview` tells what would be.',
    query: ImportQuery,
    takes: {
      types: importTypes,
      mostBytes: mostImported,
      description: 'The zone file or the export in JSON, in UTF-8, up to 8 MiB and 100,000 records.',
    },
    answer: ZoneImported,
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
      'Reads the zone of this name from a name server that transfers it (AXFR, RFC 5936), or from a provider of the workspace, and takes ' +
      'it in like a zone file: all of it or nothing, by `mode`. With `replace` the SOA is that of the server, its serial too if it is ' +
      'ahead; a provider tells none. Records that signing makes are left out and counted, and so are the keys of a zone that the ' +
      'server signs. What breaks a rule is told as `#/rrsets/<name>/<type>`. It takes 30 s, 100,000 records and 32 MiB at most; a ' +
      'server that fails is a 424 with `failure`. Ten a minute and zone.',
    body: ZoneSource,
    answer: ZoneImported,
    problems: ['precondition_failed', 'plan_limit_reached', 'plan_blocked', 'provider_failed', 'rate_limited'],
    run: (ctx, { params, body }) => importFrom(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/records/:id',
    guard: read,
    narrowed: 'verb',
    operationId: 'getDnsRecord',
    summary: 'Read a DNS record',
    description: 'A record with its value as text and as fields.',
    expands: recordRelations,
    answer: DnsRecord,
    run: (ctx, { params }) => getRecord(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/dns/records/:id',
    guard: write,
    narrowed: 'verb',
    action: 'dns.record.update',
    operationId: 'updateDnsRecord',
    summary: 'Edit a DNS record',
    description:
      'Changes members (JSON merge patch, RFC 7396). The type stays; the id stays too, whatever changes. `ttl` and `comment` change ' +
      'for all records of the name and type.',
    body: DnsRecordPatch,
    answer: DnsRecord,
    run: (ctx, { params, body }) => updateRecord(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/dns/records/:id',
    guard: write,
    narrowed: 'verb',
    action: 'dns.record.delete',
    operationId: 'deleteDnsRecord',
    summary: 'Delete a DNS record',
    description: 'Removes a record. The last NS of the apex stays.',
    status: 204,
    problems: ['validation_failed'],
    run: (ctx, { params }) => deleteRecord(ctx, params.id!),
  }),
  {
    path: '/v1/dns/records/bulk',
    operationId: 'bulkDnsRecords',
    summary: 'Create, edit and delete DNS records',
    description: 'Many records at once; `id` of a `create` is that of the zone.',
    action: 'dns.record.bulk',
    of: 'DnsRecord',
    operations: { create: 'createDnsRecord', update: 'updateDnsRecord', delete: 'deleteDnsRecord' },
  },
])
