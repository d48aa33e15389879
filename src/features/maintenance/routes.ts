import { Type } from '@sinclair/typebox'
import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { pageParameters } from '../../core/list'
import { Shape } from '../../core/shapes'
import { listScheduledMaintenance, previewMaintenanceOccurrences } from './schedule'
import {
  AgendaQuery,
  MaintenanceAgenda,
  MaintenanceOccurrenceList,
  MaintenanceStartInput,
  MaintenanceWindow,
  MaintenanceWindowInput,
  MaintenanceWindowList,
  MaintenanceWindowPatch,
  NextOccurrences,
  NextOccurrencesQuery,
  UncheckedWindowInput,
  UncheckedWindowPatch,
} from './shapes'
import { listOccurrences } from './occurrence-list'
import {
  createWindow,
  deleteWindow,
  getWindow,
  listWindows,
  startWindow,
  stopWindow,
  updateWindow,
  windowListing,
} from './windows'

const read = 'monitoring.read'

export const maintenanceRoutes = area('maintenance', 'Maintenance', [
  ...crud({
    type: 'maintenance_window',
    response: MaintenanceWindow,
    list: {
      description: 'Lists the maintenance windows of the workspace, including ended ones.',
      listing: windowListing,
      response: MaintenanceWindowList,
      run: listWindows,
    },
    create: {
      description: 'Creates a maintenance window. A workspace can have up to 200 (409).',
      body: MaintenanceWindowInput,
      envelope: UncheckedWindowInput,
      problems: ['conflict'],
      run: createWindow,
    },
    get: { description: 'Returns a maintenance window with its status and next occurrences.', run: getWindow },
    update: {
      description:
        'Updates the given fields (JSON merge patch, RFC 7396). Takes effect immediately, even for an active occurrence. A new `kind` drops the ' +
        'schedule fields of the old one.',
      body: MaintenanceWindowPatch,
      envelope: UncheckedWindowPatch,
      run: updateWindow,
    },
    delete: {
      description: 'Deletes a maintenance window. An active occurrence ends, and alerts are sent again.',
      run: deleteWindow,
    },
    verbs: {
      start: {
        description: 'Starts a window immediately, in addition to its schedule. If it was already started manually, it restarts.',
        operationId: 'startMaintenance',
        summary: 'Start maintenance',
        body: MaintenanceStartInput,
        problems: ['precondition_failed'],
        run: startWindow,
      },
      stop: {
        description:
          'Ends the active occurrences, whether they were started manually or by the schedule. Later occurrences are not affected. Does nothing if none is ' +
          'active.',
        operationId: 'stopMaintenance',
        summary: 'Stop maintenance',
        problems: ['precondition_failed'],
        run: stopWindow,
      },
    },
    bulk: 'Runs many operations on maintenance windows in one request.',
  }),
  route({
    method: 'GET',
    path: '/v1/maintenance-windows/agenda',
    guard: read,
    operationId: 'listScheduledMaintenance',
    summary: 'List scheduled maintenance',
    description: 'Lists the occurrences of all maintenance windows in a period of up to 62 days, in chronological order.',
    query: AgendaQuery,
    response: MaintenanceAgenda,
    run: (ctx, { query }) => listScheduledMaintenance(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/maintenance-windows/next-occurrences',
    guard: read,
    restrictedTokens: 'all',
    operationId: 'previewMaintenanceOccurrences',
    summary: 'Preview the occurrences of a schedule',
    description: 'Validates a schedule and returns its next occurrences, without creating a maintenance window.',
    query: NextOccurrencesQuery,
    response: NextOccurrences,
    run: async (ctx, { query }) => previewMaintenanceOccurrences(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/maintenance-windows/:id/occurrences',
    guard: read,
    operationId: 'listMaintenanceOccurrences',
    summary: 'List occurrences of a maintenance window',
    description:
      'Lists the occurrences of a maintenance window in chronological order, for the next 35 days or for a period of up to 400 days.',
    query: Shape({
      from: Type.Optional(Type.String({ format: 'date-time', description: 'Start of the period. Default: now.' })),
      to: Type.Optional(Type.String({ format: 'date-time', description: 'End of the period. Default: 35 days after `from`.' })),
      ...pageParameters(),
    }),
    response: MaintenanceOccurrenceList,
    run: (ctx, { params, query }) => listOccurrences(ctx, params.id!, query),
  }),
])
