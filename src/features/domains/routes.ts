import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { listQuery } from '../../core/list'
import { createDomain, deleteDomain, getDomain, listDomains, updateDomain } from './domains'
import { DomainMoveList, DomainReadingList } from './history-shapes'
import { listMoves, listReadings, moveListing, refreshDomain } from './history'
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
])
