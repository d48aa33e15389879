import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { severities } from '../../core/notices'
import { editable, Instant, Line, ListOf, MaybeInstant, Nullable, Prose, Shape, Words } from '../../core/shapes'
import { ChannelIds } from '../notifications/known-channels'
import { IncidentChange } from './change-shapes'
import { incidentKinds, incidentStatuses, resolutions, updateKinds } from './tables'

export const mostNote = 5_000
export const mostPostmortem = 64 * 1024
/** How long an acknowledgement holds unless it says otherwise, and at most. */
export const defaultHoldSeconds = 4 * 3600
const mostHoldSeconds = 30 * 86_400

const title = Line({ minLength: 1, maxLength: 250, description: 'What it is, in a few words.' })
const severity = Words(severities, { description: 'How grave it is.' })
const notes = Prose({ maxLength: 20_000, description: 'What people want to keep in mind about it.' })
const text = Prose({ minLength: 1, maxLength: mostNote, description: 'What there is to tell.' })
const note = Type.Optional(Prose({ maxLength: mostNote, description: 'What there is to say with it.' }))
const assignee_id = Nullable(Type.String({ maxLength: 100 }), { description: 'The member of the workspace who sees to it.' })

const Doer = Shape({
  type: Words(['user', 'token', 'ingest', 'system', 'operator'], { description: 'What kind of caller it was.' }),
  id: Type.String({ description: 'Id of the user, the token or the channel.' }),
  name: Nullable(Type.String(), { description: 'Name of it.' }),
})

const Concerned = (what: string) =>
  Type.Array(
    Shape({
      id: Type.String({ description: 'Its id.' }),
      name: Type.String({ description: 'Its name, as it was then.' }),
      role: Words(['cause', 'affected'], { description: '`cause`: it failed. `affected`: it went down along with that.' }),
    }),
    { description: `${what} it is about; kept when they are deleted.` },
  )

export const IncidentUpdate = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    at: Instant({ description: 'When it happened.' }),
    kind: Words(updateKinds, { description: 'What happened. `note`: somebody wrote something.' }),
    actor: Nullable(Doer, { description: 'Who did it; null for the hub by itself.' }),
    text: Type.String({ description: 'The same for people; of a note, its text.' }),
    details: Nullable(Type.Record(Type.String(), Type.Unknown()), {
      description: 'The same for programs, depending on the kind.',
    }),
    edited_at: MaybeInstant({ description: 'When a note was last edited.' }),
  },
  {
    $id: 'IncidentUpdate',
    description: 'An entry of the timeline of an incident.',
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
  evidence: { request: 'GET https://shop.example.com/', status: 503 },
  postmortem: null,
  timeline: IncidentUpdate.examples,
  version: 2,
  created_at: '2027-01-31T09:20:45.880Z',
  updated_at: '2027-01-31T09:26:53.600Z',
}

export const Incident = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    kind: Words(incidentKinds, { description: 'What it is; `manual` where people opened it.' }),
    title,
    status: Words(incidentStatuses, { description: 'Where it stands.' }),
    severity,
    cause: Type.String({ description: 'What failed, in a sentence for people.' }),
    monitors: Concerned('Monitors'),
    heartbeats: Concerned('Heartbeats'),
    locations: Type.Array(Type.String(), { description: 'Where from it was seen.' }),
    started_at: Instant({ description: 'Time of the first failure.' }),
    confirmed_at: MaybeInstant({ description: 'When the failure was confirmed.' }),
    acknowledged_at: MaybeInstant({ description: 'When it was acknowledged.' }),
    acknowledged_by: Nullable(Doer, { description: 'Who took it on.' }),
    acknowledgement_expires_at: MaybeInstant({ description: 'When it is open again unless it is resolved; null: never.' }),
    resolved_at: MaybeInstant({ description: 'When it was resolved.' }),
    resolution: Nullable(Words(resolutions), {
      description: 'How it ended: its subject recovered, was paused or deleted, or somebody closed it.',
    }),
    duration_seconds: Type.Integer({
      minimum: 0,
      description: 'How long it lasted, or has so far, from the first failure on; time in which it was resolved is left out.',
    }),
    assignee_id,
    notes,
    evidence: Nullable(Type.Record(Type.String(), Type.Unknown()), {
      description: 'What was asked and what came back, at the failure that was confirmed.',
    }),
    postmortem: Nullable(
      Shape({
        body: Type.String({ description: 'Markdown.' }),
        updated_at: Instant({ description: 'When it was last written.' }),
      }),
      { description: 'What was learned from it; null until somebody writes it.' },
    ),
    timeline: Type.Array(IncidentUpdate, {
      description: 'The last 50 entries of its timeline, oldest first; all of them are at `/v1/incidents/{id}/timeline`.',
    }),
    suspects: Type.Optional(
      Type.Array(IncidentChange, {
        description:
          'Up to five changes of the day before that have to do with it, as far as the caller may read them; present with ' +
          '`include=suspects` alone.',
      }),
    ),
    ...editable,
  },
  { $id: 'Incident', description: 'Something that went wrong, and what became of it.', examples: [example] },
)
export const IncidentList = ListOf(Incident)

export const IncidentInput = Shape(
  {
    title,
    severity: Type.Optional(severity),
    cause: Type.Optional(Line({ minLength: 1, maxLength: 500, description: 'What failed; the title when absent.' })),
    affected: Type.Optional(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: 50,
        uniqueItems: true,
        description: 'Ids of the monitors and heartbeats it is about.',
      }),
    ),
    started_at: Type.Optional(Instant({ description: 'When it began; now when absent. Not in the future.' })),
    assignee_id: Type.Optional(assignee_id),
    notes: Type.Optional(notes),
    channel_ids: Type.Optional(ChannelIds),
  },
  {
    $id: 'IncidentInput',
    description: 'An incident to open by hand.',
    examples: [{ title: 'Payments fail for some customers', severity: 'critical', notes: 'Since the release of 9:00.' }],
  },
)

export const IncidentPatch = Shape(
  {
    title: Type.Optional(title),
    severity: Type.Optional(severity),
    assignee_id: Type.Optional(assignee_id),
    notes: Type.Optional(Nullable(notes)),
  },
  {
    $id: 'IncidentPatch',
    description: 'What of an incident is to change.',
    examples: [{ severity: 'warning', notes: 'Only the old shop.' }],
  },
)

export const IncidentAcknowledgement = Shape(
  {
    note,
    expires_in_seconds: Type.Optional(
      Nullable(Type.Integer({ minimum: 60, maximum: mostHoldSeconds }), {
        default: defaultHoldSeconds,
        description: 'When it is open again, unless it is resolved by then; null: never by itself.',
      }),
    ),
  },
  {
    $id: 'IncidentAcknowledgement',
    description: 'That somebody takes an incident on.',
    examples: [{ note: 'Looking into it.', expires_in_seconds: 3600 }],
  },
)

export const IncidentRemark = Shape(
  { note },
  { $id: 'IncidentRemark', description: 'What there is to say with it.', examples: [{ note: 'The provider says it is over.' }] },
)

export const IncidentNote = Shape(
  { text },
  { $id: 'IncidentNote', description: 'A note for the timeline.', examples: [{ text: 'Restarted the second web server.' }] },
)

export const NewIncidentNote = Shape(
  {
    text,
    notify: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether the channels that are told of the incident are told the note too.' }),
    ),
  },
  {
    $id: 'NewIncidentNote',
    description: 'A note to add to the timeline.',
    examples: [{ text: 'Restarted the second web server.', notify: true }],
  },
)

export const Postmortem = Shape(
  { body: Prose({ minLength: 1, maxLength: mostPostmortem, description: 'Markdown.' }) },
  {
    $id: 'Postmortem',
    description: 'What was learned from an incident.',
    examples: [{ body: '## What happened\n\nThe disk of the database was full.\n' }],
  },
)

export type IncidentView = Static<typeof Incident>
export type IncidentUpdateView = Static<typeof IncidentUpdate>
export type IncidentInput = Static<typeof IncidentInput>
export type IncidentPatch = Static<typeof IncidentPatch>
export type IncidentAcknowledgement = Static<typeof IncidentAcknowledgement>
