import { area, route } from '../../access/route'
import { listQuery } from '../../core/list'
import { auditListing, getAuditEvent, listAuditEvents } from './list'
import { AuditEvent, AuditEventList } from './shapes'

export const auditRoutes = area('audit', 'Audit', [
  route({
    method: 'GET',
    path: '/v1/audit-events',
    guard: 'account.read',
    operationId: 'listAuditEvents',
    summary: 'List audit events',
    description: 'Every action in the workspace, newest first, refused ones included.',
    query: listQuery(auditListing),
    answer: AuditEventList,
    run: (ctx, { query }) => listAuditEvents(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/audit-events/:id',
    guard: 'account.read',
    operationId: 'getAuditEvent',
    summary: 'Read an audit event',
    description: 'One entry of the log.',
    answer: AuditEvent,
    narrowed: 'verb',
    run: (ctx, { params }) => getAuditEvent(ctx, params.id!),
  }),
])
