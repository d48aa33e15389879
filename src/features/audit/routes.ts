import { area, route } from '../../access/route'
import { listQuery } from '../../core/list'
import { exportAuditEvents } from './export'
import { auditCatalog } from './catalog'
import { auditListing, getAuditEvent, listAuditEvents } from './list'
import { AuditActionList, AuditEvent, AuditEventList, CatalogQuery, exportExamples, ExportQuery } from './shapes'

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
    path: '/v1/audit-events/export',
    guard: 'account.read',
    operationId: 'exportAuditEvents',
    summary: 'Export the audit log',
    description:
      'The whole log of the workspace as it is now, oldest first. As NDJSON each line is an entry with `workspace_id` and with `prev_hash`, ' +
      '`hash` and `mac`, which `bailiwick audit verify --export` checks, and with `code`, which is not hashed. In CSV a cell that a spreadsheet would take for a formula ' +
      'begins with an apostrophe. An answer that ends early was cut off by a failure.',
    query: ExportQuery,
    streams: exportExamples,
    run: (ctx, { query }) => exportAuditEvents(ctx, query.format ?? 'ndjson'),
  }),
  route({
    method: 'GET',
    path: '/v1/audit-events/catalog',
    guard: 'account.read',
    operationId: 'listAuditActions',
    summary: 'List audit actions',
    description: 'Every action that the log may hold, on one page: its word, its codes, and what an entry of it looks like.',
    query: CatalogQuery,
    answer: AuditActionList,
    narrowed: 'open',
    run: async (_ctx, { query }) => auditCatalog(query.action),
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
