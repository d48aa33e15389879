import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from '../../../core/shapes'
import { MaintenanceWindowInput, mostTargets } from '../../maintenance/shapes'
import { mostNamedChannels } from '../../notifications/known-channels'
import { MonitorInput } from '../shapes'

export const mostImported = 8 * 1024 * 1024
const mostMonitors = 20_000
const mostWindows = 200

export const documentExample = {
  version: 1,
  monitors: [
    { key: 'edge', name: 'Edge', type: 'group', options: { members: ['shop'], rule: 'all' } },
    { key: 'shop', name: 'Shop', type: 'http', target: 'https://shop.example.com/', tags: ['prod'] },
  ],
  maintenance_windows: [
    {
      name: 'Database upgrades',
      kind: 'rrule',
      timezone: 'Europe/Berlin',
      duration_seconds: 7200,
      starts_at_local: '2026-11-07T23:00:00',
      rrule: 'FREQ=WEEKLY;BYDAY=SA',
      targets: { monitors: ['shop'] },
    },
  ],
}

const { channel_ids: _, ...members } = MonitorInput.properties

/** A monitor of a document, which names channels by their names. */
const MonitorEntry = Type.Object(
  {
    ...members,
    channels: Type.Optional(
      Nullable(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: mostNamedChannels, uniqueItems: true }), {
        description: 'Names of the notification channels that are told; null for those that take everything.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type MonitorEntry = Static<typeof MonitorEntry>

const { targets: __, ...timing } = MaintenanceWindowInput.properties
const Names = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: mostTargets, uniqueItems: true, description }),
  )

/** A maintenance window of a document, which names monitors as the rest of it does. */
const WindowEntry = Type.Object(
  {
    ...timing,
    targets: Shape(
      {
        ...Type.Pick(MaintenanceWindowInput.properties.targets, ['all', 'heartbeats', 'tags']).properties,
        monitors: Names('Monitors, by key.'),
        groups: Names('Groups, by key: they and everything in them.'),
      },
      { description: 'What it is for; what one of these names.' },
    ),
  },
  { additionalProperties: false },
)
export type WindowEntry = Static<typeof WindowEntry>

/** What is watched, as a document. A monitor in it is named by its key, or by its name where it has none. */
export const MonitoringDocument = Shape(
  {
    version: Type.Optional(Type.Literal(1, { description: 'Of the form of the document.' })),
    monitors: Type.Array(MonitorEntry, {
      maxItems: mostMonitors,
      description: 'Monitors as they are made, each whole: what is left out is as in a new one.',
    }),
    maintenance_windows: Type.Optional(
      Type.Array(WindowEntry, {
        maxItems: mostWindows,
        description: 'Maintenance windows, each whole and known by its name. Without this member they stay as they are.',
      }),
    ),
    secrets: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 300 }), Type.String({ maxLength: 65_536 }), {
        maxProperties: mostMonitors,
        description: 'Values that `${secret:NAME}` stands for.',
      }),
    ),
  },
  { $id: 'MonitoringDocument', description: 'What is watched, whole.', examples: [documentExample] },
)

export const ExportQuery = Shape({
  format: Type.Optional(Words(['yaml', 'json'], { default: 'yaml', description: 'How the document is written.' })),
  monitor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Only this monitor, by its id, as an import of it alone would take it; maintenance windows are left out.',
    }),
  ),
})

export const ImportQuery = Shape({
  dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Tells what would be done, and does nothing.' })),
  prune: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Deletes monitors that the document does not have, and maintenance windows where it has that member.',
    }),
  ),
})

const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const MonitoringChange = Shape(
  {
    op: Words(['create', 'update', 'delete'], { description: 'What was done.' }),
    kind: Words(['monitor', 'maintenance_window'], { description: 'What it was done to.' }),
    id: Nullable(Type.String(), { description: 'Its id; null for one that would be made.' }),
    key: Nullable(Type.String(), { description: 'Its key.' }),
    name: Type.String({ description: 'Its name.' }),
    before: Type.Record(Type.String(), Type.Unknown(), { description: 'Members that differ, as they were; secrets as tags.' }),
    after: Type.Record(Type.String(), Type.Unknown(), { description: 'The same as they are to be.' }),
  },
  { $id: 'MonitoringChange', description: 'One thing that an import makes different.' },
)

export const MonitoringImported = Shape(
  {
    dry_run: Type.Boolean({ description: 'Whether nothing was done.' }),
    created: Count('Monitors and maintenance windows made.'),
    updated: Count('Those edited.'),
    deleted: Count('Those deleted.'),
    unchanged: Count('Those that are as the document says.'),
    changes: Type.Array(MonitoringChange, { description: 'In the order in which they are done.' }),
  },
  {
    $id: 'MonitoringImported',
    description: 'What an import did, or would do.',
    examples: [
      {
        dry_run: true,
        created: 0,
        updated: 1,
        deleted: 0,
        unchanged: 1,
        changes: [
          {
            op: 'update',
            kind: 'monitor',
            id: 'mon_01jd8f3q7eeb9bv0w0r8c7hq2m',
            key: 'shop',
            name: 'Shop',
            before: { interval_seconds: 60 },
            after: { interval_seconds: 30 },
          },
        ],
      },
    ],
  },
)

export type MonitoringDocument = Static<typeof MonitoringDocument>
export type MonitoringImported = Static<typeof MonitoringImported>
export type MonitoringChange = Static<typeof MonitoringChange>
