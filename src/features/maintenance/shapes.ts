import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { pageParameters } from '../../core/list'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { editable, Instant, Line, ListOf, Nullable, Prose, Shape, Tag, Words } from '../../core/shapes'
import { maxRuleLength } from './recurrence'

export const windowKinds = ['once', 'rrule', 'cron'] as const

export const maxTargets = 200
const maxExdates = 200
export const minDurationSeconds = 60
export const maxDurationSeconds = 30 * 86_400

const Ids = (prefix: string, description: string) =>
  Type.Array(Type.String({ pattern: `^${prefix}_[0-9a-z]{26}$`, 'x-rule': `must be an ID that starts with ${prefix}_.` }), {
    maxItems: maxTargets,
    uniqueItems: true,
    description,
  })

const targetFields = {
  all: Type.Boolean({ description: 'Whether to cover all monitors and heartbeats, regardless of the other fields.' }),
  monitors: Ids('mon', 'IDs of the monitors to cover.'),
  heartbeats: Ids('hb', 'IDs of the heartbeats to cover.'),
  groups: Ids('mon', 'IDs of the groups to cover, with everything in them. A group is a monitor of the type `group`.'),
  tags: Type.Array(Tag, {
    maxItems: maxTargets,
    uniqueItems: true,
    description: 'Tags to cover: monitors and heartbeats with any of them.',
  }),
}
const targetsExample = { all: false, monitors: [], heartbeats: [], groups: [], tags: ['database'] }
const Targets = Shape(targetFields, {
  description: 'What the window covers: everything that matches any of these fields.',
  examples: [targetsExample],
})
const TargetsInput = Type.Partial(Targets, {
  description: 'What the window covers: everything that matches any of these fields.',
  examples: [{ tags: ['database'] }],
})

/** The members that clients set. The columns and the fields of requests and responses are made from them. */
export const windowMembers = members({
  name: {
    schema: Line({ minLength: 1, maxLength: 100, description: 'Name of the maintenance window, such as the work to be done.' }),
    required: true,
  },
  description: { schema: Prose({ maxLength: 5000, description: 'Notes about the maintenance.' }), default: '', clearable: true },
  kind: {
    schema: Words(windowKinds, {
      description:
        '`once`: a single occurrence. `rrule`: a recurrence rule (RFC 5545). `cron`: a cron expression with five fields.',
    }),
    required: true,
  },
  starts_at_local: {
    schema: Nullable(Type.String({ maxLength: 19 }), {
      description:
        'Start of the first occurrence in local time, without an offset, such as `2026-12-24T22:00:00`. Optional with `cron`, ' +
        'where it is the earliest start of an occurrence; null for none.',
    }),
  },
  timezone: {
    schema: Type.String({ minLength: 1, maxLength: 64, description: 'IANA time zone of the schedule.' }),
    required: true,
  },
  duration_seconds: {
    schema: Type.Integer({
      minimum: minDurationSeconds,
      maximum: maxDurationSeconds,
      description: 'Duration of each occurrence, in seconds.',
    }),
    required: true,
  },
  rrule: {
    schema: Nullable(Type.String({ minLength: 1, maxLength: maxRuleLength }), {
      description:
        'Daily, weekly, monthly, or yearly recurrence rule (RFC 5545), such as `FREQ=WEEKLY;BYDAY=SA`. Null unless `kind` is `rrule`.',
    }),
  },
  cron: {
    schema: Nullable(Type.String({ minLength: 1, maxLength: 100 }), {
      description: 'Cron expression with five fields: minute, hour, day, month, and weekday. Null unless `kind` is `cron`.',
    }),
  },
  exdates: {
    schema: Type.Array(Type.String({ maxLength: 19 }), {
      maxItems: maxExdates,
      uniqueItems: true,
      description: 'Occurrences to skip, each as a date (`2026-12-26`) or local start time (`2026-12-26T23:00:00`).',
    }),
    default: [],
    clearable: true,
  },
  targets: { schema: Targets, required: true },
})

const span = {
  starts_at: Instant({ description: 'Start of the occurrence.' }),
  ends_at: Instant({ description: 'End of the occurrence.' }),
  started_manually: Type.Boolean({
    description: 'Whether the occurrence was started manually, outside the schedule of the window.',
  }),
}
const spanExample = { starts_at: '2026-11-28T22:00:00.000Z', ends_at: '2026-11-29T00:00:00.000Z', started_manually: false }
const MaintenanceOccurrence = Shape(span, {
  $id: 'MaintenanceOccurrence',
  description: 'A period in which a maintenance window is active.',
  examples: [spanExample],
})
export const MaintenanceOccurrenceList = ListOf(MaintenanceOccurrence)

const example = {
  id: 'mw_01jd8f3q7eeb9bv0w0r8c7hq2m',
  name: 'Database upgrades',
  description: '',
  kind: 'rrule',
  starts_at_local: '2026-11-07T23:00:00',
  timezone: 'Europe/Berlin',
  duration_seconds: 7200,
  rrule: 'FREQ=WEEKLY;BYDAY=SA',
  cron: null,
  exdates: ['2026-12-26'],
  targets: targetsExample,
  status: 'scheduled',
  current: null,
  next_occurrences: [spanExample],
  version: 1,
  created_at: '2026-11-01T10:00:00.000Z',
  updated_at: '2026-11-01T10:00:00.000Z',
}
export const MaintenanceWindow = Shape(
  {
    id: Type.String({ description: 'ID of the maintenance window.' }),
    ...viewMembers(windowMembers),
    status: Words(['scheduled', 'in_progress', 'ended'], {
      description: '`scheduled`: has upcoming occurrences. `in_progress`: active now. `ended`: has no upcoming occurrences.',
    }),
    current: Nullable(Shape(span), { description: 'The active occurrence; null if there is none.' }),
    next_occurrences: Type.Array(MaintenanceOccurrence, { description: 'The next occurrences, up to five.' }),
    ...editable,
  },
  {
    $id: 'MaintenanceWindow',
    description: 'A recurring or one-time period in which alerts about the monitors and heartbeats it covers are suppressed.',
    examples: [example],
  },
)
export const MaintenanceWindowList = ListOf(MaintenanceWindow)

export const MaintenanceWindowInput = Shape(
  {
    ...inputMembers(windowMembers),
    targets: TargetsInput,
  },
  {
    $id: 'MaintenanceWindowInput',
    description: 'A maintenance window to create.',
    examples: [
      {
        name: 'Database upgrades',
        kind: 'rrule',
        starts_at_local: '2026-11-07T23:00:00',
        timezone: 'Europe/Berlin',
        duration_seconds: 7200,
        rrule: 'FREQ=WEEKLY;BYDAY=SA',
        targets: { tags: ['database'] },
      },
    ],
  },
)

export const MaintenanceWindowPatch = Shape(
  {
    ...patchMembers(windowMembers),
    targets: Type.Optional(TargetsInput),
  },
  {
    $id: 'MaintenanceWindowPatch',
    description:
      'Fields of a maintenance window to update. Null resets a field to its default. Omitted fields of `targets` are kept.',
    examples: [{ duration_seconds: 3600, exdates: ['2026-12-26'] }],
  },
)

// The duration is validated with the rest of the timing, so that all problems are reported together.
const anyDuration = Type.Integer()
export const UncheckedWindowInput = Shape({ ...MaintenanceWindowInput.properties, duration_seconds: anyDuration })
export const UncheckedWindowPatch = Shape({
  ...MaintenanceWindowPatch.properties,
  duration_seconds: Type.Optional(anyDuration),
})

export const MaintenanceStartInput = Shape(
  {
    duration_seconds: Type.Optional(
      Type.Integer({
        minimum: minDurationSeconds,
        maximum: maxDurationSeconds,
        description: 'How long the maintenance lasts, in seconds. Default: the `duration_seconds` of the window.',
      }),
    ),
  },
  {
    $id: 'MaintenanceStartInput',
    description: 'Options for starting maintenance manually.',
    examples: [{ duration_seconds: 1800 }],
  },
)
export type MaintenanceStartInput = Static<typeof MaintenanceStartInput>

export type MaintenanceWindowView = Static<typeof MaintenanceWindow>
export type MaintenanceWindowInput = Static<typeof MaintenanceWindowInput>
export type MaintenanceWindowPatch = Static<typeof MaintenanceWindowPatch>
export type MaintenanceOccurrenceView = Static<typeof MaintenanceOccurrence>

const dateTime = (description: string) => Type.String({ format: 'date-time', description })

export const AgendaQuery = Shape({
  from: dateTime('Start of the period. Includes occurrences that are active then.'),
  to: dateTime('End of the period, at most 62 days after `from`.'),
  ...pageParameters(500, 100),
})
export type AgendaQuery = Static<typeof AgendaQuery>

const MaintenanceAgendaItem = Shape(
  {
    window_id: Type.String({ description: 'ID of the maintenance window.' }),
    name: Type.String({ description: 'Name of the maintenance window.' }),
    ...span,
  },
  {
    $id: 'MaintenanceAgendaItem',
    description: 'An occurrence of a maintenance window.',
    examples: [{ window_id: example.id, name: example.name, ...spanExample }],
  },
)
export const MaintenanceAgenda = ListOf(MaintenanceAgendaItem)
export type MaintenanceAgendaView = Static<typeof MaintenanceAgendaItem>

export const NextOccurrencesQuery = Shape({
  kind: windowMembers.kind.schema,
  timezone: windowMembers.timezone.schema,
  duration_seconds: Type.Integer({ description: 'Duration of each occurrence, in seconds: 60 to 2592000.' }),
  starts_at_local: Type.Optional(
    Type.String({
      maxLength: 19,
      description:
        'Start of the first occurrence in local time, without an offset, such as `2026-12-24T22:00:00`. Required unless `kind` is `cron`, where it is the earliest start of an occurrence.',
    }),
  ),
  rrule: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: maxRuleLength,
      description: 'Recurrence rule (RFC 5545). Required if `kind` is `rrule`.',
    }),
  ),
  cron: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Cron expression with five fields. Required if `kind` is `cron`.' }),
  ),
  exdates: Type.Optional(
    Type.Array(Type.String({ maxLength: 19 }), {
      maxItems: maxExdates,
      description: 'Occurrences to skip, each as a date or local start time.',
    }),
  ),
})
export type NextOccurrencesQuery = Static<typeof NextOccurrencesQuery>

export const NextOccurrences = Shape(
  { next_occurrences: Type.Array(MaintenanceOccurrence, { description: 'The next occurrences, up to five.' }) },
  {
    $id: 'NextOccurrences',
    description: 'The next occurrences of a schedule.',
    examples: [{ next_occurrences: [spanExample] }],
  },
)
export type NextOccurrencesView = Static<typeof NextOccurrences>
