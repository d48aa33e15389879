import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { exportAuditEvents } from './export'
import { auditCatalog } from './catalog'
import { auditListing, getAuditEvent, listAuditEvents } from './list'
import { AuditActionList, AuditEvent, AuditEventList, CatalogQuery, exportExamples, ExportQuery } from './shapes'

export const auditRoutes = area('audit', 'Audit', [
  ...crud({
    type: 'audit_event',
    response: AuditEvent,
    list: {
      description:
        'Lists the events in the audit log of the workspace, including denied actions, newest first. Events are kept for the number of days that the plan allows (`audit_days`).',
      listing: auditListing,
      response: AuditEventList,
      run: listAuditEvents,
    },
    get: { restrictedTokens: 'handler', description: 'Returns an event from the audit log.', run: getAuditEvent },
  }),
  route({
    method: 'GET',
    path: '/v1/audit-events/export',
    guard: 'account.read',
    operationId: 'exportAuditEvents',
    summary: 'Export the audit log',
    description:
      'Streams the complete audit log of the workspace, oldest first. In NDJSON, each line is an audit event with ' +
      '`workspace_id`, `prev_hash` (the `hash` of the previous event), `hash`, and `mac`, which `bailiwick audit verify --export` checks. `code`, the code of the action, ' +
      'is included too, but is not covered by the hash. In CSV, cells that a spreadsheet would interpret as a formula are prefixed with an apostrophe. ' +
      'If an error occurs during the export, the connection is closed before the response is complete.',
    query: ExportQuery,
    streams: exportExamples,
    workspaceInQuery: true,
    run: (ctx, { query }) => exportAuditEvents(ctx, query.format ?? 'ndjson'),
  }),
  route({
    method: 'GET',
    path: '/v1/audit-events/catalog',
    guard: 'account.read',
    operationId: 'listAuditActions',
    summary: 'List audit actions',
    description: 'Lists all actions that can appear in the audit log, on one page, with their codes and an example event.',
    query: CatalogQuery,
    response: AuditActionList,
    restrictedTokens: 'all',
    run: async (_ctx, { query }) => auditCatalog(query.action),
  }),
])
