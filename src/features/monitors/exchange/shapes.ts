import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from '../../../core/shapes'
import { MaintenanceWindowInput, maxTargets } from '../../maintenance/shapes'
import { maxChannelIds } from '../../notifications/shapes'
import { MonitorInput } from '../shapes'

export const maxImportBytes = 8 * 1024 * 1024
export const maxMonitors = 20_000
const maxWindows = 200

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

/** A monitor in an import document. Refers to channels by name. */
const MonitorEntry = Type.Object(
  {
    ...members,
    channels: Type.Optional(
      Nullable(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: maxChannelIds, uniqueItems: true }), {
        description: 'Names of the notification channels to notify; null for the default channels.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type MonitorEntry = Static<typeof MonitorEntry>

const { targets: __, ...timing } = MaintenanceWindowInput.properties
const Names = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: maxTargets, uniqueItems: true, description }),
  )

/** A maintenance window in an import document. Refers to monitors by key, like the rest of the document. */
const WindowEntry = Type.Object(
  {
    ...timing,
    targets: Shape(
      {
        ...Type.Pick(MaintenanceWindowInput.properties.targets, ['all', 'heartbeats', 'tags']).properties,
        monitors: Names('Keys of monitors.'),
        groups: Names('Keys of groups. Covers the group and all its members.'),
      },
      { description: 'What the window covers.' },
    ),
  },
  { additionalProperties: false },
)
export type WindowEntry = Static<typeof WindowEntry>

/** The monitoring configuration as a document. A monitor is identified by its key, or by its name if it has none. */
export const MonitoringDocument = Shape(
  {
    version: Type.Optional(Type.Literal(1, { description: 'Version of the document format. Default: 1.' })),
    monitors: Type.Array(MonitorEntry, {
      maxItems: maxMonitors,
      description: 'Complete definitions of monitors. Omitted fields take their defaults.',
    }),
    maintenance_windows: Type.Optional(
      Type.Array(WindowEntry, {
        maxItems: maxWindows,
        description:
          'Complete definitions of maintenance windows, identified by name. If this field is omitted, existing windows are left unchanged.',
      }),
    ),
    secrets: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 300 }), Type.String({ maxLength: 65_536 }), {
        maxProperties: maxMonitors,
        description:
          'Values for `${secret:NAME}` placeholders in the options of monitors, by name. A placeholder without a value keeps the secret that the monitor already has.',
      }),
    ),
  },
  { $id: 'MonitoringDocument', description: 'The complete monitoring configuration.', examples: [documentExample] },
)

export const ExportQuery = Shape({
  format: Type.Optional(Words(['yaml', 'json'], { default: 'yaml', description: 'Format of the document.' })),
  monitor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Export only the monitor with this ID, without maintenance windows.',
    }),
  ),
})

export const ImportQuery = Shape({
  dry_run: Type.Optional(
    Type.Boolean({ default: false, description: 'Validate the document and return the changes without applying them.' }),
  ),
  prune: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Delete monitors that are not in the document, and maintenance windows too if the document has `maintenance_windows`.',
    }),
  ),
})

const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const MonitoringChange = Shape(
  {
    op: Words(['create', 'update', 'delete'], { description: 'Operation.' }),
    kind: Words(['monitor', 'maintenance_window'], { description: 'Kind of resource.' }),
    id: Nullable(Type.String(), { description: 'ID of the resource; null if it would be created.' }),
    key: Nullable(Type.String(), { description: 'Key of the monitor; null if it has none.' }),
    name: Type.String({ description: 'Name of the resource.' }),
    before: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Previous values of the changed fields. Secrets appear as keyed hashes, which only show whether two values are equal.',
    }),
    after: Type.Record(Type.String(), Type.Unknown(), { description: 'New values of the changed fields.' }),
  },
  { $id: 'MonitoringChange', description: 'A change made by an import.' },
)

export const MonitoringImportResult = Shape(
  {
    dry_run: Type.Boolean({ description: 'Whether this was a dry run.' }),
    created: Count('Number of monitors and maintenance windows created.'),
    updated: Count('Number of monitors and maintenance windows updated.'),
    deleted: Count('Number of monitors and maintenance windows deleted.'),
    unchanged: Count('Number of monitors and maintenance windows that already matched the document.'),
    changes: Type.Array(MonitoringChange, { description: 'Changes in the order they are applied.' }),
  },
  {
    $id: 'MonitoringImportResult',
    description: 'What an import changed, or would change.',
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
export type MonitoringImportResult = Static<typeof MonitoringImportResult>
export type MonitoringChange = Static<typeof MonitoringChange>
