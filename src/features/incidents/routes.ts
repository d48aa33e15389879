import { Type } from '@sinclair/typebox'
import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { listQuery } from '../../core/list'
import { Shape, Words } from '../../core/shapes'
import { IncidentChanges } from './changes/shapes'
import { changesBefore, getIncident } from './changes/changes'
import { createIncident, incidentListing, listIncidents, updateIncident } from './incidents'
import { addNote, updateNote, getUpdate, listUpdates, updateListing } from './notes'
import { setPostmortem } from './postmortem'
import {
  Incident,
  IncidentAcknowledgement,
  IncidentInput,
  IncidentList,
  IncidentNotePatch,
  IncidentPatch,
  IncidentActionNote,
  IncidentUpdate,
  IncidentUpdateList,
  IncidentNoteInput,
  Postmortem,
} from './shapes'
import { acknowledgeIncident, closeIncident, reopenIncident, unacknowledgeIncident } from './status-changes'

const read = 'monitoring.read'
const write = 'monitoring.write'

export const incidentRoutes = area('incidents', 'Incidents', [
  ...crud({
    type: 'incident',
    response: Incident,
    list: {
      listing: incidentListing,
      description:
        'Lists the incidents of the workspace, most recently opened first. Resolved incidents are kept for the number of days that the plan allows ' +
        '(`incident_days`).',
      response: IncidentList,
      run: listIncidents,
    },
    create: {
      description:
        'Creates an incident for a problem that no monitor detects, and notifies its channels. It is not resolved automatically. A workspace can have up ' +
        'to 500 unresolved incidents of this kind (409).',
      body: IncidentInput,
      problems: ['conflict'],
      run: createIncident,
    },
    get: {
      restrictedTokens: 'handler',
      description: 'Returns an incident with its evidence and the latest timeline entries.',
      query: Shape({
        include: Type.Optional(
          Words(['suspects'], { description: '`suspects`: include related changes made shortly before the incident.' }),
        ),
      }),
      run: (ctx, id, query) => getIncident(ctx, id, query.include as 'suspects' | undefined),
    },
    update: {
      restrictedTokens: 'handler',
      description: 'Updates the given fields (JSON merge patch, RFC 7396). Resolved incidents can be updated too.',
      body: IncidentPatch,
      run: updateIncident,
    },
    verbs: {
      acknowledge: {
        description:
          'Acknowledges an incident, which stops reminders. The acknowledgement expires after 4 hours by default; then the incident is ' +
          'open again and channels are notified. Acknowledging again replaces the previous acknowledgement and restarts its expiry. ' +
          'A resolved incident can’t be acknowledged (409).',
        restrictedTokens: 'handler',
        body: IncidentAcknowledgement,
        problems: ['conflict', 'precondition_failed'],
        run: acknowledgeIncident,
      },
      unacknowledge: {
        description:
          'Removes the acknowledgement: the incident is open again, channels are notified, and reminders resume. Does nothing if the incident is not ' +
          'acknowledged; a resolved incident returns 409.',
        restrictedTokens: 'handler',
        body: IncidentActionNote,
        problems: ['conflict', 'precondition_failed'],
        run: unacknowledgeIncident,
      },
      resolve: {
        description:
          'Resolves an incident manually. If its monitor or heartbeat is still failing, no new incident is opened until it recovers and ' +
          'fails again, or goes from degraded to down. Channels are notified. Does nothing if the incident is already resolved.',
        restrictedTokens: 'handler',
        body: IncidentActionNote,
        problems: ['precondition_failed'],
        run: closeIncident,
      },
      reopen: {
        description:
          'Reopens a resolved incident, and notifies its channels. It is resolved by the next recovery of its monitor or heartbeat, or manually. Not ' +
          'possible if the monitor or heartbeat has a later incident (409). Does nothing if the incident is not resolved.',
        restrictedTokens: 'handler',
        body: IncidentActionNote,
        problems: ['conflict', 'precondition_failed'],
        run: reopenIncident,
      },
    },
  }),
  route({
    method: 'GET',
    path: '/v1/incidents/:id/changes',
    guard: read,
    restrictedTokens: 'handler',
    operationId: 'listIncidentChanges',
    summary: 'List changes before an incident',
    description:
      'Lists the changes made in the workspace before the incident started, from the audit log and the events. Related changes are ' +
      'listed first, starting with changes to the DNS records that the hostname of the monitor resolves through; equally related changes are ' +
      'listed newest first. Audit events require `account.read`, and events require read permission on their area; changes you ' +
      'don’t have permission to read are omitted.',
    query: Shape({
      window_seconds: Type.Optional(
        Type.Integer({
          minimum: 60,
          maximum: 7 * 86_400,
          default: 86_400,
          description: 'How far to look back from the start of the incident, in seconds.',
        }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Maximum number of changes to return.' }),
      ),
    }),
    response: IncidentChanges,
    run: (ctx, { params, query }) => changesBefore(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/incidents/:id/timeline',
    guard: read,
    restrictedTokens: 'handler',
    operationId: 'listIncidentUpdates',
    summary: 'List timeline entries of an incident',
    description: 'Lists the timeline of an incident, oldest entry first.',
    query: listQuery(updateListing),
    response: IncidentUpdateList,
    run: (ctx, { params, query }) => listUpdates(ctx, params.id!, query),
  }),
  route({
    method: 'POST',
    path: '/v1/incidents/:id/updates',
    guard: write,
    restrictedTokens: 'handler',
    action: 'incident.note.create',
    operationId: 'createIncidentNote',
    summary: 'Create a note on an incident',
    description:
      'Adds a note to the timeline of an open or resolved incident, and optionally notifies its channels. An incident can have up to 1,000 notes (409).',
    body: IncidentNoteInput,
    status: 201,
    response: IncidentUpdate,
    problems: ['conflict'],
    run: (ctx, { params, body }) => addNote(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/incidents/:id/updates/:update',
    guard: read,
    restrictedTokens: 'handler',
    operationId: 'getIncidentUpdate',
    summary: 'Get a timeline entry of an incident',
    description: 'Returns one timeline entry.',
    response: IncidentUpdate,
    run: (ctx, { params }) => getUpdate(ctx, params.id!, params.update!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/incidents/:id/updates/:update',
    guard: write,
    restrictedTokens: 'handler',
    action: 'incident.note.update',
    operationId: 'updateIncidentNote',
    summary: 'Update a note on an incident',
    description: 'Updates the text of a note. Other timeline entries are read-only (409).',
    body: IncidentNotePatch,
    response: IncidentUpdate,
    problems: ['conflict'],
    isUnversioned: true,
    run: (ctx, { params, body }) => updateNote(ctx, params.id!, params.update!, body.text),
  }),
  route({
    method: 'PUT',
    path: '/v1/incidents/:id/postmortem',
    guard: write,
    restrictedTokens: 'handler',
    action: 'incident.postmortem.update',
    operationId: 'replaceIncidentPostmortem',
    summary: 'Create or replace the postmortem of an incident',
    description: 'Sets the postmortem of an incident, replacing an existing one.',
    body: Postmortem,
    response: Incident,
    run: (ctx, { params, body }) => setPostmortem(ctx, params.id!, body.body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/incidents/:id/postmortem',
    guard: write,
    restrictedTokens: 'handler',
    action: 'incident.postmortem.delete',
    operationId: 'deleteIncidentPostmortem',
    summary: 'Delete the postmortem of an incident',
    description: 'Deletes the postmortem of an incident.',
    status: 204,
    run: async (ctx, { params }) => void (await setPostmortem(ctx, params.id!, null)),
  }),
  {
    path: '/v1/incidents/bulk',
    operationId: 'bulkIncidents',
    summary: 'Update, acknowledge, or resolve incidents in bulk',
    description: 'Updates, acknowledges, or resolves many incidents in one request.',
    action: 'incident.bulk',
    of: 'Incident',
    operations: { update: 'updateIncident', acknowledge: 'acknowledgeIncident', resolve: 'resolveIncident' },
  },
])
