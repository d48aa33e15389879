import { area, route } from '../../../api/route'
import { listQuery } from '../../../core/list'
import { Plan } from '../plans/shapes'
import { diffZone, getChangeset, historyListing, listHistory } from './history'
import { revertZone } from './revert'
import { ChangesetList, ChangesetQuery, ChangesetDetail, DiffQuery, RevertInput, ZoneDiff } from './shapes'

export const dnsHistoryRoutes = area('dns-history', 'DNS', [
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/history',
    guard: 'dns.read',
    operationId: 'listZoneChangesets',
    summary: 'List changesets of a zone',
    description:
      'Lists the changes made to a zone, newest first. Use `name` and `type` to list only the changes to those records. Changes are stored for the number of ' +
      'days that the plan of the workspace allows (`dns_history_days`); the last 1,000 of a zone are always kept.',
    query: listQuery(historyListing),
    response: ChangesetList,
    run: (ctx, { params, query }) => listHistory(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/history/:changeset',
    guard: 'dns.read',
    operationId: 'getZoneChangeset',
    summary: 'Get a changeset of a zone',
    description: 'Returns a changeset with each changed record set before and after the change.',
    query: ChangesetQuery,
    response: ChangesetDetail,
    run: (ctx, { params, query }) => getChangeset(ctx, params.id!, params.changeset!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/diff',
    guard: 'dns.read',
    operationId: 'diffZone',
    summary: 'Compare two versions of a zone',
    description:
      'Returns the differences between two versions of a zone. `from` may be later than `to`, to see what going back would ' +
      'change. A version that is not in the history returns 404.',
    query: DiffQuery,
    response: ZoneDiff,
    run: (ctx, { params, query }) => diffZone(ctx, params.id!, query),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/revert',
    guard: 'dns.write',
    action: 'dns.zone.revert',
    operationId: 'revertZone',
    summary: 'Revert changes of a zone',
    description:
      'Creates a plan that reverts one changeset (`changeset_id`) or all changes since a `version`. With `apply`, the plan is ' +
      'applied immediately and has the status `applied`, unless a safety check blocks it; then it stays `open`. Restores values, TTLs, options, comments, tags, ' +
      'and the SOA; deleted records are restored with their IDs. The serial keeps increasing. If you revert one changeset and the same records were changed ' +
      'again later, the response is a 409 that names them. Reverts at most 10,000 records (422).',
    body: RevertInput,
    status: 201,
    collection: '/v1/dns/plans',
    response: Plan,
    problems: ['conflict', 'precondition_failed', 'plan_limit_reached', 'record_driven'],
    run: (ctx, { params, body }) => revertZone(ctx, params.id!, body),
  }),
])
