import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { workspaceParameter } from '../../api/workspace-parameter'
import { listQuery } from '../../core/list'
import { Shape } from '../../core/shapes'
import { createDomain, deleteDomain, getDomain, listDomains, updateDomain } from './domains'
import { exportDomains } from './export'
import { DomainMoveList, DomainReadingList } from './history-shapes'
import { listMoves, listReadings, moveListing, refreshDomain } from './history'
import { importDomains } from './import'
import { DomainImport, DomainImportDocument, DomainImportQuery, importExamples, maxImportBytes } from './import-shapes'
import { domainListing } from './listing'
import { Domain, DomainInput, DomainList, DomainPatch } from './shapes'

export const domainRoutes = area('domains', 'Domains', [
  ...crud({
    type: 'domain',
    response: Domain,
    list: {
      description: 'Lists the domains of the workspace. Sorted by `expires_at`, domains whose end is not known come last.',
      listing: domainListing,
      response: DomainList,
      run: listDomains,
    },
    create: {
      description:
        'Starts tracking a domain. Nothing is bought. Its registry is asked within seconds, and then once a day, more often when the end is near.',
      body: DomainInput,
      problems: ['plan_limit_reached', 'already_exists'],
      run: createDomain,
    },
    get: { description: 'Returns a domain.', run: getDomain },
    update: {
      description: 'Updates the given fields. The registration itself is not affected.',
      body: DomainPatch,
      run: updateDomain,
    },
    delete: { description: 'Stops tracking a domain. Its registration is not affected.', run: deleteDomain },
    verbs: {
      refresh: {
        description:
          'Asks the registry again, at the pace of its server, usually within seconds. `sync.checked_at` changes when it has answered. Limited to 3 lookups a minute per domain.',
        status: 202,
        noLocation: true,
        problems: ['conflict', 'rate_limited'],
        run: refreshDomain,
      },
    },
    bulk: 'Creates, updates, and deletes many domains in one request. The registrations are not affected.',
  }),
  route({
    method: 'GET',
    path: '/v1/domains/:id/history',
    guard: 'domains.read',
    operationId: 'listDomainMoves',
    summary: 'List changes of the status of a domain',
    description: 'Lists the changes of the status of a domain, newest first. The last 500 are kept.',
    query: listQuery(moveListing),
    response: DomainMoveList,
    run: (ctx, { params, query }) => listMoves(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/domains/:id/readings',
    guard: 'domains.read',
    operationId: 'listDomainReadings',
    summary: 'List the last answers about a domain',
    description: 'Lists the last answer of each source about a domain: the registrar account and the servers of the registry.',
    response: DomainReadingList,
    run: (ctx, { params }) => listReadings(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/domains/import',
    guard: 'domains.write',
    action: 'domains.domain.import',
    operationId: 'importDomains',
    summary: 'Import domains',
    description:
      'Starts tracking the domains of a list. Hosts and URLs are cut to the registrable name: `www.example.com` becomes `example.com`. In CSV, the first line has the columns, separated by commas, semicolons, or tabs: `name`, and optionally `expires_at`, `registrar`, `auto_renew`, `tags` (separated by spaces), and `notes`. ' +
      'Domains that are tracked already are left as they are, so the same list can be imported again. Invalid lines don’t stop the import: each line has an outcome.',
    query: DomainImportQuery,
    textBody: {
      types: { ...importExamples, 'application/json': DomainImportDocument },
      maxBytes: maxImportBytes,
      description: 'The list in UTF-8, with at most 10,000 domains and 2 MiB.',
    },
    response: DomainImport,
    problems: ['validation_failed', 'plan_limit_reached'],
    run: (ctx, { bytes, request, query }) => importDomains(ctx, { bytes, request }, query),
  }),
  route({
    method: 'GET',
    path: '/v1/domains/export',
    guard: 'domains.read',
    operationId: 'exportDomains',
    summary: 'Export domains',
    description:
      'Streams all domains of the workspace as CSV, oldest first. The file can be imported again. Cells that a spreadsheet would interpret as a formula are prefixed with an apostrophe. If an error occurs during the export, the connection is closed before the response is complete.',
    query: Shape(workspaceParameter),
    workspaceInQuery: true,
    streams: {
      'text/csv':
        '"name","expires_at","registrar","auto_renew","tags","notes","status","expiry_confidence","delegation","id"\r\n',
    },
    run: async ctx => exportDomains(ctx),
  }),
])
