import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import { zoneExample } from '../zones/shapes'
import { checkRecord } from './check'
import { listRecords, recordQuery, zoneRecordQuery } from './listing'
import { createRecord, deleteRecord, getRecord, listRecordsOf, recordRelations, updateRecord } from './records'
import { replaceRrsets } from './rrsets'
import {
  DnsRecord,
  DnsRecordCheckInput,
  DnsRecordCheckResult,
  DnsRecordInput,
  DnsRecordList,
  DnsRecordPatch,
  DnsRecordTypeList,
  RrsetsInput,
  RrsetsResult,
} from './shapes'
import { listRecordTypes } from './types'

const read = 'dns.read'
const write = 'dns.write'

export const dnsRecordRoutes = area('dns-records', 'DNS', [
  ...crud({
    type: 'record',
    response: DnsRecord,
    writes: { restrictedTokens: 'handler' },
    list: {
      description: 'Lists the records of all zones in the workspace, or of one zone.',
      query: recordQuery,
      expands: recordRelations,
      response: DnsRecordList,
      run: listRecords,
    },
    get: {
      restrictedTokens: 'handler',
      description: 'Returns a record with its value as text and as fields.',
      expands: recordRelations,
      run: getRecord,
    },
    update: {
      description:
        'Updates the given fields (JSON merge patch, RFC 7396). The type can’t be changed, and the ID never changes. `ttl`, ' +
        '`options`, `comment`, `tags`, `locked`, and `expires_at` apply to all records of the record set. Without `locked`, records of a locked record set can’t be updated (422). A record ' +
        'that exists only at a provider can’t be updated (404): adopt it first. The values of a record set of a dynamic IP source can’t be updated (409).',
      body: DnsRecordPatch,
      problems: ['record_driven'],
      run: updateRecord,
    },
    delete: {
      description:
        'Deletes a record. The last NS record at the apex and records of a locked record set can’t be deleted (422). A record that exists only ' +
        'at a provider can’t be deleted here (404).',
      problems: ['validation_failed', 'record_driven'],
      run: deleteRecord,
    },
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/records',
    guard: read,
    operationId: 'listZoneRecords',
    summary: 'List records of a zone',
    description: 'Lists the records of a zone. The SOA is not a record: it is the `soa` field of the zone.',
    query: zoneRecordQuery,
    response: DnsRecordList,
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
      'Adds a record to the zone. The built-in name server serves it as soon as the response is sent. All records of a ' +
      'record set (with the same name and type) share one TTL: without `ttl`, a new record inherits it, or the zone default if it ' +
      'is the first. If the record set exists, a different `ttl` is rejected; change it with PATCH. A record that violates a DNS rule is rejected with a 422 that names the field, the rule, and the RFC.',
    body: DnsRecordInput,
    status: 201,
    collection: '/v1/dns/records',
    response: DnsRecord,
    problems: ['plan_limit_reached', 'record_driven'],
    run: (ctx, { params, body }) => createRecord(ctx, params.id!, body),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/records/check',
    guard: write,
    action: 'dns.record.check',
    operationId: 'checkDnsRecord',
    summary: 'Check a DNS record',
    description:
      'Validates a new record, or an update of the record `record_id`, against the DNS rules and the plan limits, and returns ' +
      'the resulting record. Nothing is saved.',
    body: DnsRecordCheckInput,
    response: DnsRecordCheckResult,
    problems: ['plan_limit_reached', 'record_driven'],
    run: (ctx, { params, body }) => checkRecord(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/record-types',
    guard: read,
    restrictedTokens: 'all',
    operationId: 'listDnsRecordTypes',
    summary: 'List record types',
    description: 'Lists the record types with named fields, on one page. Other types can be used by number, as `TYPE65280`.',
    response: DnsRecordTypeList,
    run: async () => listRecordTypes(),
  }),
  route({
    method: 'PUT',
    path: '/v1/dns/zones/:id/rrsets',
    guard: write,
    action: 'dns.rrsets.replace',
    operationId: 'replaceRrsets',
    summary: 'Replace record sets',
    description:
      'Replaces record sets atomically. A record set (RRset) is all records with the same name and type. Other record sets are not ' +
      'affected. Use it to switch a name between CNAME and addresses in one request. Records whose value does not change keep ' +
      'their IDs. A request can change at most 10,000 records (422). `If-Match` is compared with the version of the zone.',
    body: RrsetsInput,
    response: RrsetsResult,
    problems: ['plan_limit_reached', 'record_driven'],
    run: (ctx, { params, body }) => replaceRrsets(ctx, params.id!, body),
  }),
  {
    path: '/v1/dns/records/bulk',
    operationId: 'bulkDnsRecords',
    summary: 'Create, update, and delete DNS records in bulk',
    description: 'Runs many record operations in one request. For `create`, `id` is the ID of the zone.',
    action: 'dns.record.bulk',
    of: 'DnsRecord',
    operations: { create: 'createDnsRecord', update: 'updateDnsRecord', delete: 'deleteDnsRecord' },
    exampleIds: { create: zoneExample.id },
  },
])
