import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { editable, Instant, Line, ListOf, Nullable, Prose, Shape, Tag, Words } from '../../core/shapes'
import { longestRule } from './recurrence'
import { windowKinds } from './tables'

export const mostTargets = 200
const mostExdates = 200
export const shortest = 60
export const longest = 30 * 86_400

const Ids = (prefix: string, description: string) =>
  Type.Array(Type.String({ pattern: `^${prefix}_[0-9a-z]{26}$`, 'x-rule': `must be an id that begins with ${prefix}_.` }), {
    maxItems: mostTargets,
    uniqueItems: true,
    description,
  })

const targetMembers = {
  all: Type.Boolean({ description: 'Everything in the workspace, whatever the rest says.' }),
  monitors: Ids('mon', 'Monitors.'),
  heartbeats: Ids('hb', 'Heartbeats.'),
  groups: Ids('mon', 'Monitors of the type group: they and everything in them.'),
  tags: Type.Array(Tag, {
    maxItems: mostTargets,
    uniqueItems: true,
    description: 'Monitors and heartbeats that have one of these tags.',
  }),
}
const targetsExample = { all: false, monitors: [], heartbeats: [], groups: [], tags: ['database'] }
const Targets = Shape(targetMembers, { description: 'What it is for; what one of these names.', examples: [targetsExample] })
const TargetsInput = Type.Partial(Targets, {
  description: 'What it is for; what one of these names.',
  examples: [{ tags: ['database'] }],
})

const name = Line({ minLength: 1, maxLength: 100, description: 'What is being done.' })
const description = Prose({ maxLength: 5000, description: 'Notes for people.' })
const kind = Words(windowKinds, {
  description: '`once`: at one time. `rrule`: by a recurrence rule of RFC 5545. `cron`: by a cron expression of five words.',
})
const starts_at_local = Nullable(Type.String({ maxLength: 19 }), {
  description:
    'When it first begins, as the clocks of the time zone show it, without an offset: `2026-12-24T22:00:00`. With `cron` it may be null.',
})
const timezone = Type.String({ minLength: 1, maxLength: 64, description: 'IANA name of the time zone.' })
const duration_seconds = Type.Integer({ minimum: shortest, maximum: longest, description: 'How long each occurrence lasts.' })
const rrule = Nullable(Type.String({ minLength: 1, maxLength: longestRule }), {
  description: 'Recurrence rule of days, weeks, months or years; null unless `kind` is `rrule`.',
})
const cron = Nullable(Type.String({ minLength: 1, maxLength: 100 }), {
  description: 'Cron expression of minute, hour, day, month and weekday; null unless `kind` is `cron`.',
})
const exdates = Type.Array(Type.String({ maxLength: 19 }), {
  maxItems: mostExdates,
  uniqueItems: true,
  description: 'Occurrences that do not take place: a date, or the local time at which one begins.',
})

const span = {
  starts_at: Instant({ description: 'When it begins.' }),
  ends_at: Instant({ description: 'When it is over.' }),
  started_by_hand: Type.Boolean({ description: 'Whether somebody started it, beside its schedule.' }),
}
const spanExample = { starts_at: '2026-11-28T22:00:00.000Z', ends_at: '2026-11-29T00:00:00.000Z', started_by_hand: false }
export const MaintenanceOccurrence = Shape(span, {
  $id: 'MaintenanceOccurrence',
  description: 'A time in which a maintenance window is in force.',
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
    id: Type.String({ description: 'Identifier.' }),
    name,
    description,
    kind,
    starts_at_local,
    timezone,
    duration_seconds,
    rrule,
    cron,
    exdates,
    targets: Targets,
    status: Words(['scheduled', 'in_progress', 'ended'], { description: '`ended`: it does not come again.' }),
    current: Nullable(Shape(span), { description: 'The occurrence that is in force now.' }),
    next_occurrences: Type.Array(MaintenanceOccurrence, { description: 'The next ones, at most five.' }),
    ...editable,
  },
  { $id: 'MaintenanceWindow', description: 'A time in which nobody is told of what fails.', examples: [example] },
)
export const MaintenanceWindowList = ListOf(MaintenanceWindow)

export const MaintenanceWindowInput = Shape(
  {
    name,
    kind,
    timezone,
    duration_seconds,
    targets: TargetsInput,
    description: Type.Optional(description),
    starts_at_local: Type.Optional(starts_at_local),
    rrule: Type.Optional(rrule),
    cron: Type.Optional(cron),
    exdates: Type.Optional(exdates),
  },
  {
    $id: 'MaintenanceWindowInput',
    description: 'A maintenance window to make.',
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
    name: Type.Optional(name),
    description: Type.Optional(Nullable(description)),
    kind: Type.Optional(kind),
    starts_at_local: Type.Optional(starts_at_local),
    timezone: Type.Optional(timezone),
    duration_seconds: Type.Optional(duration_seconds),
    rrule: Type.Optional(rrule),
    cron: Type.Optional(cron),
    exdates: Type.Optional(Nullable(exdates)),
    targets: Type.Optional(TargetsInput),
  },
  {
    $id: 'MaintenanceWindowPatch',
    description: 'What of a maintenance window is to change. Of the targets, members that are left out stay as they are.',
    examples: [{ duration_seconds: 3600, exdates: ['2026-12-26'] }],
  },
)

// How long it lasts is looked at with the rest of its timing, so that all that is wrong with that is told at once.
const anyDuration = Type.Integer()
export const UnreadWindowInput = Shape({ ...MaintenanceWindowInput.properties, duration_seconds: anyDuration })
export const UnreadWindowPatch = Shape({
  ...MaintenanceWindowPatch.properties,
  duration_seconds: Type.Optional(anyDuration),
})

export const MaintenanceStart = Shape(
  {
    duration_seconds: Type.Optional(
      Type.Integer({
        minimum: shortest,
        maximum: longest,
        description: 'How long it is in force; as long as its occurrences when absent.',
      }),
    ),
  },
  { $id: 'MaintenanceStart', description: 'How to start maintenance by hand.', examples: [{ duration_seconds: 1800 }] },
)

export type MaintenanceWindowView = Static<typeof MaintenanceWindow>
export type MaintenanceWindowInput = Static<typeof MaintenanceWindowInput>
export type MaintenanceWindowPatch = Static<typeof MaintenanceWindowPatch>
export type MaintenanceOccurrenceView = Static<typeof MaintenanceOccurrence>

const dateTime = (description: string) => Type.String({ format: 'date-time', description })

export const AgendaQuery = Shape({
  from: dateTime('What is in force from then on.'),
  to: dateTime('What begins before; at most 62 days after `from`.'),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Items a page.' })),
  cursor: Type.Optional(Type.String({ maxLength: 1000, description: 'Where to go on: `next_cursor` of the page before.' })),
})
export type AgendaQuery = Static<typeof AgendaQuery>

export const MaintenanceAgendaItem = Shape(
  {
    window_id: Type.String({ description: 'The maintenance window.' }),
    name: Type.String({ description: 'Its name.' }),
    ...span,
  },
  {
    $id: 'MaintenanceAgendaItem',
    description: 'A time in which one of the maintenance windows is in force.',
    examples: [{ window_id: example.id, name: example.name, ...spanExample }],
  },
)
export const MaintenanceAgenda = ListOf(MaintenanceAgendaItem)
export type MaintenanceAgendaView = Static<typeof MaintenanceAgendaItem>

export const NextOccurrencesQuery = Shape({
  kind,
  timezone,
  duration_seconds: Type.Integer({ description: 'How long each occurrence lasts.' }),
  starts_at_local: Type.Optional(Type.String({ maxLength: 19, description: 'When it first begins, as in a window.' })),
  rrule: Type.Optional(Type.String({ minLength: 1, maxLength: longestRule, description: 'Recurrence rule.' })),
  cron: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Cron expression.' })),
  exdates: Type.Optional(
    Type.Array(Type.String({ maxLength: 19 }), { maxItems: mostExdates, description: 'Occurrences that do not take place.' }),
  ),
})
export type NextOccurrencesQuery = Static<typeof NextOccurrencesQuery>

export const NextOccurrences = Shape(
  { next_occurrences: Type.Array(MaintenanceOccurrence, { description: 'The next ones, at most five.' }) },
  {
    $id: 'NextOccurrences',
    description: 'When a maintenance window would be in force.',
    examples: [{ next_occurrences: [spanExample] }],
  },
)
export type NextOccurrencesView = Static<typeof NextOccurrences>
