import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { severities } from '../../core/notices'
import { editable, Instant, Line, ListOf, NullableInstant, Nullable, Prose, Shape, Words } from '../../core/shapes'
import { ChannelIds } from '../notifications/shapes'
import { IncidentChange } from './changes/shapes'

const maxNoteLength = 5_000
const maxPostmortemLength = 64 * 1024
/** Default and maximum duration of an acknowledgement. */
export const defaultAcknowledgementSeconds = 4 * 3600
const maxAcknowledgementSeconds = 30 * 86_400

export const incidentKinds = ['monitor.down', 'monitor.degraded', 'heartbeat.missed', 'certificate.gap', 'manual'] as const
export const incidentStatuses = ['open', 'acknowledged', 'resolved'] as const
export const resolutions = ['recovered', 'paused', 'deleted', 'reset', 'closed'] as const
export const subjectTypes = ['monitor', 'heartbeat', 'tls_endpoint', 'certificate'] as const
/** Who can act on an incident. Automatic changes have no actor. */
export const actorTypes = ['user', 'token', 'ingest', 'operator'] as const
export const updateKinds = [
  'opened',
  'reopened',
  'worsened',
  'improved',
  'affected',
  'acknowledged',
  'unacknowledged',
  'acknowledgement_expired',
  'resolved',
  'edited',
  'note',
  'postmortem',
  'notified',
  'notification_failed',
] as const

/** The members that clients set. The columns and the fields of requests and responses are made from them. */
export const incidentMembers = members({
  title: { schema: Line({ minLength: 1, maxLength: 250, description: 'Short title.' }), required: true },
  severity: { schema: Words(severities, { description: 'Severity of the incident.' }), default: 'warning' },
  assignee_id: {
    schema: Nullable(Type.String({ maxLength: 100 }), {
      description: 'ID of the workspace member the incident is assigned to; null for none.',
    }),
  },
  notes: {
    schema: Prose({
      maxLength: 20_000,
      description: 'Free-form text about the incident, not part of its timeline.',
    }),
    default: '',
    clearable: true,
  },
  channel_ids: {
    schema: {
      ...ChannelIds,
      description: `${ChannelIds.description} An incident that is opened again automatically gets those of its monitor or heartbeat.`,
    },
  },
})

const text = Prose({ minLength: 1, maxLength: maxNoteLength, description: 'Text of the note.' })
const note = Type.Optional(Prose({ maxLength: maxNoteLength, description: 'Optional note, added to the timeline.' }))

const IncidentActor = Shape({
  type: Words(actorTypes, {
    description: 'Type of the actor. `ingest`: a link in a notification. `operator`: a command on the server.',
  }),
  id: Type.String({
    description:
      'ID of the user or token; for `ingest`, of the notification channel whose link was used; for `operator`, where the change was made, such as `command line`.',
  }),
  name: Nullable(Type.String(), { description: 'Name of the actor; null if it has none.' }),
})

const Subjects = (plural: string) =>
  Type.Array(
    Shape({
      id: Type.String({ description: 'ID of the monitor or heartbeat.' }),
      name: Type.String({ description: 'Name at the time of the incident.' }),
      role: Words(['cause', 'affected'], { description: '`cause`: it failed. `affected`: it went down because of the cause.' }),
    }),
    { description: `${plural} involved, including deleted ones.` },
  )

export const IncidentUpdate = Shape(
  {
    id: Type.String({ description: 'ID of the entry.' }),
    at: Instant({ description: 'When the entry was added.' }),
    kind: Words(updateKinds, {
      description:
        'Kind of entry. `worsened`: from degraded to down; `improved`: from down to degraded. `affected`: another monitor or heartbeat went down because of ' +
        'the cause. `edited`: fields of the incident were updated. `notified`, `notification_failed`: outcome of notifying a channel.',
    }),
    actor: Nullable(IncidentActor, {
      description: 'Who did it; null for automatic changes, for example when a monitor recovers.',
    }),
    text: Type.String({ description: 'Description of what happened, or the text of a note.' }),
    details: Nullable(Type.Record(Type.String(), Type.Unknown()), {
      description: 'Machine-readable details, depending on `kind`; null if there are none.',
    }),
    edited_at: NullableInstant({ description: 'When a note was last edited; null if never.' }),
  },
  {
    $id: 'IncidentUpdate',
    description: 'A timeline entry of an incident.',
    examples: [
      {
        id: 'iup_01k3zb9s7t5v3x1z9b7d5f3h1j',
        at: '2027-01-31T09:20:45.870Z',
        kind: 'opened',
        actor: null,
        text: 'HTTP 503',
        details: { kind: 'monitor.down', severity: 'critical', locations: ['local'] },
        edited_at: null,
      },
    ],
  },
)
export const IncidentUpdateList = ListOf(IncidentUpdate)

const example = {
  id: 'inc_01k3zb6a8b0c2d4e6f8g0h2j4k',
  kind: 'monitor.down',
  title: 'Shop is down',
  status: 'resolved',
  severity: 'critical',
  cause: 'HTTP 503',
  monitors: [{ id: 'mon_01k3zb5p7q9r1s3t5v7w9x1y3z', name: 'Shop', role: 'cause' }],
  heartbeats: [],
  tls_endpoints: [],
  certificates: [],
  locations: ['local'],
  started_at: '2027-01-31T09:20:30.112Z',
  confirmed_at: '2027-01-31T09:20:45.870Z',
  acknowledged_at: null,
  acknowledged_by: null,
  acknowledgement_expires_at: null,
  resolved_at: '2027-01-31T09:26:53.589Z',
  resolution: 'recovered',
  duration_seconds: 383,
  assignee_id: null,
  notes: '',
  channel_ids: null,
  evidence: { request: 'GET https://shop.example.com/', status: 503 },
  postmortem: null,
  timeline: IncidentUpdate.examples,
  version: 2,
  created_at: '2027-01-31T09:20:45.880Z',
  updated_at: '2027-01-31T09:26:53.600Z',
}

export const Incident = Shape(
  {
    id: Type.String({ description: 'ID of the incident.' }),
    kind: Words(incidentKinds, {
      description:
        'What opened the incident. `heartbeat.missed`: a ping was late, a run did not finish, or the job reported a failure. `certificate.gap`: a critical or high gap of a certificate. `manual`: a user or token.',
    }),
    ...viewMembers(incidentMembers),
    status: Words(incidentStatuses, { description: 'Status of the incident.' }),
    cause: Type.String({
      description:
        'Why the monitor or heartbeat failed, such as an error message; for a manual incident, the `cause` it was created with, by default its title.',
    }),
    monitors: Subjects('Monitors'),
    heartbeats: Subjects('Heartbeats'),
    tls_endpoints: Subjects('TLS endpoints'),
    certificates: Subjects('Certificates'),
    locations: Type.Array(Type.String(), { description: 'Locations that detected the failure.' }),
    started_at: Instant({ description: 'Time of the first failure.' }),
    confirmed_at: NullableInstant({ description: 'When the failure was confirmed; null if it is not confirmed.' }),
    acknowledged_at: NullableInstant({ description: 'When the incident was acknowledged; null if it is not acknowledged.' }),
    acknowledged_by: Nullable(IncidentActor, { description: 'Who acknowledged the incident; null if it is not acknowledged.' }),
    acknowledgement_expires_at: NullableInstant({ description: 'When the acknowledgement expires; null if it does not expire.' }),
    resolved_at: NullableInstant({ description: 'When the incident was resolved; null if it is not resolved.' }),
    resolution: Nullable(Words(resolutions), {
      description:
        'How the incident was resolved: the monitor, heartbeat, or certificate `recovered`, was `paused`, or was `deleted`, the monitor was `reset`, or a user or token `closed` the incident. Null if it is not resolved.',
    }),
    duration_seconds: Type.Integer({
      minimum: 0,
      description:
        'Duration in seconds from the first failure until the incident was resolved, or until now. Time between being resolved and reopened is excluded.',
    }),
    evidence: Nullable(Type.Record(Type.String(), Type.Unknown()), {
      description:
        'Request and response of the confirmed failure. If no request was sent, the `conditions` that were true, with the actual values. Null if there are none.',
    }),
    postmortem: Nullable(
      Shape({
        body: Type.String({ description: 'Text of the postmortem, in Markdown.' }),
        updated_at: Instant({ description: 'When the postmortem was last updated.' }),
      }),
      { description: 'Postmortem; null if there is none.' },
    ),
    timeline: Type.Array(IncidentUpdate, {
      description: 'The latest 50 timeline entries, oldest first. List all of them at `/v1/incidents/{id}/timeline`.',
    }),
    suspects: Type.Optional(
      Type.Array(IncidentChange, {
        description:
          'Up to 5 related changes that you have permission to read, made in the 24 hours before the incident. Only with `include=suspects`.',
      }),
    ),
    ...editable,
  },
  { $id: 'Incident', description: 'An outage or other problem, from first failure to resolution.', examples: [example] },
)
export const IncidentList = ListOf(Incident)

export const IncidentInput = Shape(
  {
    ...inputMembers(incidentMembers),
    cause: Type.Optional(
      Line({
        minLength: 1,
        maxLength: 500,
        description: 'Why the incident happened, such as an error message. Default: the title.',
      }),
    ),
    affected: Type.Optional(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: 50,
        uniqueItems: true,
        description: 'IDs of the affected monitors and heartbeats.',
      }),
    ),
    started_at: Type.Optional(Instant({ description: 'When the incident started. Default: now. Must not be in the future.' })),
  },
  {
    $id: 'IncidentInput',
    description: 'A manual incident to create.',
    examples: [{ title: 'Payments fail for some customers', severity: 'critical', notes: 'Since the 9:00 release.' }],
  },
)

export const IncidentPatch = Shape(patchMembers(incidentMembers), {
  $id: 'IncidentPatch',
  description: 'Fields of the incident to update. Null resets a field to its default.',
  examples: [{ severity: 'warning', notes: 'Only the old shop is affected.' }],
})

export const IncidentAcknowledgement = Shape(
  {
    note,
    expires_in_seconds: Type.Optional(
      Nullable(Type.Integer({ minimum: 60, maximum: maxAcknowledgementSeconds }), {
        default: defaultAcknowledgementSeconds,
        description: 'Seconds until the acknowledgement expires and the incident is open again; null for no expiry.',
      }),
    ),
  },
  {
    $id: 'IncidentAcknowledgement',
    description: 'Acknowledgement of an incident.',
    examples: [{ note: 'Looking into it.', expires_in_seconds: 3600 }],
  },
)

export const IncidentActionNote = Shape(
  { note },
  {
    $id: 'IncidentActionNote',
    description: 'Optional note on a status change.',
    examples: [{ note: 'The provider reports the outage as fixed.' }],
  },
)

export const IncidentNotePatch = Shape(
  { text },
  {
    $id: 'IncidentNotePatch',
    description: 'Fields of the note to update.',
    examples: [{ text: 'Restarted the second web server.' }],
  },
)

export const IncidentNoteInput = Shape(
  {
    text,
    notify: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether to send the note to the channels of the incident.' }),
    ),
  },
  {
    $id: 'IncidentNoteInput',
    description: 'A note to add to the timeline.',
    examples: [{ text: 'Restarted the second web server.', notify: true }],
  },
)

export const Postmortem = Shape(
  { body: Prose({ minLength: 1, maxLength: maxPostmortemLength, description: 'Text of the postmortem, in Markdown.' }) },
  {
    $id: 'Postmortem',
    description: 'Postmortem of an incident.',
    examples: [{ body: '## What happened\n\nThe database disk was full.\n' }],
  },
)

export type IncidentView = Static<typeof Incident>
export type IncidentUpdateView = Static<typeof IncidentUpdate>
export type IncidentInput = Static<typeof IncidentInput>
export type IncidentPatch = Static<typeof IncidentPatch>
export type IncidentAcknowledgement = Static<typeof IncidentAcknowledgement>
export type IncidentActionNote = Static<typeof IncidentActionNote>
