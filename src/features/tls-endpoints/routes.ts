import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { listQuery } from '../../core/list'
import {
  createTlsEndpoint,
  deleteTlsEndpoint,
  getTlsEndpoint,
  listTlsEndpoints,
  scanTlsEndpoint,
  tlsEndpointListing,
  updateTlsEndpoint,
} from './endpoints'
import { gradeNow } from './scans/grade-now'
import { TlsGrade, TlsGradeInput } from './grades/shapes'
import { importTlsEndpoints } from './import'
import { getTlsScan, listTlsScans, tlsScanListing } from './scans/scans'
import { ScanQuery, TlsScan, TlsScanList } from './scans/shapes'
import {
  importExample,
  maxImportBytes,
  TlsEndpoint,
  TlsEndpointImport,
  TlsEndpointInput,
  TlsEndpointList,
  TlsEndpointPatch,
} from './shapes'

const read = 'certificates.read'
const write = 'certificates.write'

export const tlsEndpointRoutes = area('tls-endpoints', 'Certificates', [
  ...crud({
    type: 'tls_endpoint',
    response: TlsEndpoint,
    list: {
      description:
        'Lists the TLS endpoints of the workspace. Sorted by `grade`, problems come first: `T`, `M`, `F` to `A+`, and endpoints without a grade.',
      listing: tlsEndpointListing,
      response: TlsEndpointList,
      run: listTlsEndpoints,
    },
    create: {
      description:
        'Creates a TLS endpoint, and scans it immediately. Then it is scanned every `interval_seconds`. If one of the same server is about to be deleted (`deletes_at`), that one becomes `manual` instead, with the given fields and its earlier scans. Its addresses are those that the host has at the time of a scan, as far as the network policy allows them.',
      body: TlsEndpointInput,
      problems: ['plan_limit_reached', 'already_exists'],
      run: createTlsEndpoint,
    },
    get: { description: 'Returns a TLS endpoint with its current grade.', run: getTlsEndpoint },
    update: {
      description:
        'Updates the given fields. An endpoint of another origin becomes `manual`, so that it is not deleted with its cause, and counts against the limit of the plan.',
      body: TlsEndpointPatch,
      problems: ['plan_limit_reached', 'already_exists'],
      run: updateTlsEndpoint,
    },
    delete: { description: 'Deletes a TLS endpoint with its scans.', run: deleteTlsEndpoint },
    verbs: {
      scan: {
        description:
          'Starts a scan of an endpoint, also if it is not active. It may have to wait for other scans, and then takes up to 30 seconds. When it has finished, `last_scan_id` is its ID. An endpoint that is about to be deleted (`deletes_at`) can’t be scanned. Limited to 5 scans a minute per endpoint.',
        status: 202,
        noLocation: true,
        problems: ['conflict', 'rate_limited'],
        run: scanTlsEndpoint,
      },
    },
    bulk: 'Creates, updates, and deletes many TLS endpoints in one request.',
  }),
  route({
    method: 'POST',
    path: '/v1/tls-endpoints/import',
    guard: write,
    action: 'certificates.tls_endpoint.import',
    operationId: 'importTlsEndpoints',
    summary: 'Import TLS endpoints',
    description:
      'Creates a TLS endpoint for each line, written as `host:port` or `host:port/protocol`. Without a port, the usual one of the protocol is used. Empty lines and lines that start with `#` are ignored, and endpoints that exist already are left as they are. If a line is invalid, nothing is created; errors refer to lines as `#/lines/<number>`.',
    textBody: {
      types: { 'text/plain': importExample },
      maxBytes: maxImportBytes,
      description: 'The list, in UTF-8. At most 1,000 endpoints and 256 KiB.',
    },
    response: TlsEndpointImport,
    problems: ['validation_failed', 'plan_limit_reached'],
    run: (ctx, { bytes }) => importTlsEndpoints(ctx, bytes),
  }),
  route({
    method: 'GET',
    path: '/v1/tls-endpoints/:id/scans',
    guard: read,
    operationId: 'listTlsScans',
    summary: 'List the scans of a TLS endpoint',
    description: 'Lists the scans of a TLS endpoint. The last 100 scans of each endpoint are kept, for up to 400 days.',
    query: listQuery(tlsScanListing),
    response: TlsScanList,
    run: (ctx, { params, query }) => listTlsScans(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/tls-endpoints/:id/scans/:scan',
    guard: read,
    operationId: 'getTlsScan',
    summary: 'Get a scan of a TLS endpoint',
    description:
      'Returns everything that a scan found, and what changed since the previous scan that succeeded, or since the scan `compare_to`.',
    query: ScanQuery,
    response: TlsScan,
    run: (ctx, { params, query }) => getTlsScan(ctx, params.id!, params.scan!, query.compare_to),
  }),
  route({
    method: 'POST',
    path: '/v1/tls-grades',
    guard: write,
    action: 'certificates.tls_grade',
    operationId: 'gradeTlsServer',
    summary: 'Grade a TLS server',
    description:
      'Scans a server, and returns its grade with the reasons, like the scan of a TLS endpoint. Nothing is stored. A scan takes up to 30 seconds, after up to 20 seconds of waiting for others, and connects only to addresses that the network policy allows. If the server can’t be scanned, `grade` is null and `error` explains why. Limited to 10 requests a minute per workspace.',
    body: TlsGradeInput,
    response: TlsGrade,
    problems: ['rate_limited'],
    run: (ctx, { body }) => gradeNow(ctx, body),
  }),
])
