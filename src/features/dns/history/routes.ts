import { area, route } from '../../../access/route'
import { listQuery } from '../../../core/list'
import { Plan } from '../sync/shapes'
import { diffZone, getChangeset, historyListing, listHistory } from './history'
import { revertZone } from './revert'
import { ChangesetList, ChangesetQuery, ChangesetWhole, DiffQuery, RevertInput, ZoneDiff } from './shapes'

export const dnsHistoryRoutes = area('dns-history', 'DNS', [
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/history',
    guard: 'dns.read',
    operationId: 'listZoneHistory',
    summary: 'List the changes of a zone',
    description:
      'What was changed in a zone, by whom and when, the latest first. With `name` and `type` only what touched those records.',
    query: listQuery(historyListing),
    answer: ChangesetList,
    run: (ctx, { params, query }) => listHistory(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/history/:changeset',
    guard: 'dns.read',
    operationId: 'getZoneChangeset',
    summary: 'Read a change of a zone',
    description: 'A change with each name and type that it touched, as they were before and after.',
    query: ChangesetQuery,
    answer: ChangesetWhole,
    run: (ctx, { params, query }) => getChangeset(ctx, params.id!, params.changeset!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/diff',
    guard: 'dns.read',
    operationId: 'diffZone',
    summary: 'Compare two versions of a zone',
    description:
      'What is different between two versions of a zone, whatever happened between. `from` may be the later one: then it tells what ' +
      'going back would do.',
    query: DiffQuery,
    answer: ZoneDiff,
    run: (ctx, { params, query }) => diffZone(ctx, params.id!, query),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/revert',
    guard: 'dns.write',
    action: 'dns.zone.revert',
    operationId: 'revertZone',
    summary: 'Undo changes of a zone',
    description:
      'Plans the undoing of one change (`changeset_id`), or of all since a `version`; with `apply` it is done at once, unless something ' +
      'holds the plan back, and the answer has it as `applied`. Values, TTLs, comments and the SOA are as they were then, and removed ' +
      'records are back with their ids; the serial goes on. A change that others came after, to the same records, is a 409 that names ' +
      'them.',
    body: RevertInput,
    status: 201,
    addsTo: '/v1/dns/plans',
    answer: Plan,
    problems: ['conflict', 'precondition_failed', 'plan_limit_reached'],
    run: (ctx, { params, body }) => revertZone(ctx, params.id!, body),
  }),
])
