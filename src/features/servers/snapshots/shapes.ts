import { Type, type Static } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../../core/members'
import { editable, Line, ListOf, Nullable, NullableInstant, Shape, Words } from '../../../core/shapes'
import { Labels } from '../labels'
import { PriceView } from '../price-shapes'
import { actionParams } from '../shapes'
import { storageOrigins } from '../storage-shapes'

export const snapshotStates = ['creating', 'available', 'restoring', 'deleting', 'error', 'missing'] as const

/** The fields that clients set and that can be updated. */
export const snapshotMembers = members({
  name: { schema: Line({ minLength: 1, maxLength: 100, description: 'Name of the snapshot.' }), required: true },
  labels: { schema: Labels, default: {} },
  protected: {
    schema: Type.Boolean({ description: 'Whether it is protected from being deleted, even when it expires.' }),
    default: false,
  },
})

const CreatedBy = Shape(
  {
    type: Words(['user', 'policy', 'action', 'system'], { description: 'What created it.' }),
    id: Type.String({ description: 'ID of the user or token, policy, or action.' }),
  },
  { $id: 'SnapshotCreator', description: 'What created a snapshot.' },
)

const example = {
  id: 'snap_01k3z9a1b2c3d4e5f6g7h8j9km',
  name: 'before the upgrade',
  labels: {},
  protected: false,
  server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km',
  volume_id: null,
  account_id: 'cloud_01k3z9a1b2c3d4e5f6g7h8j9km',
  provider_ref: '4712',
  origin: 'made',
  created_by: { type: 'user', id: 'usr_01k3zb7m9n1p3q5r7s9t1v3w5x' },
  state: 'available',
  size_bytes: 2_469_606_195,
  includes_memory: false,
  survives_server: true,
  taken_at: '2026-11-27T10:00:00.000Z',
  expires_at: null,
  price: { monthly: '0.03', currency: 'EUR', gross: true, known: true, as_of: '2026-11-27T10:00:00.000Z' },
  action_id: null,
  version: 1,
  created_at: '2026-11-27T10:00:00.000Z',
  updated_at: '2026-11-27T10:00:00.000Z',
}

export const Snapshot = Shape(
  {
    id: Type.String({ description: 'ID of the snapshot.' }),
    ...viewMembers(snapshotMembers),
    server_id: Nullable(Type.String(), {
      description: 'ID of the server; null for a snapshot of a volume, or if the server is not in the workspace.',
    }),
    volume_id: Nullable(Type.String(), { description: 'ID of the volume; null for a snapshot of a server.' }),
    account_id: Type.String({ description: 'ID of the cloud account.' }),
    provider_ref: Nullable(Type.String(), { description: 'ID at the cloud; null if it does not exist there yet.' }),
    origin: Words(storageOrigins, { description: '`made`: created here. `found`: read from a cloud account.' }),
    created_by: Nullable(CreatedBy, { description: 'What created it; null if it was not created here.' }),
    state: Words(snapshotStates, {
      description: 'State. `missing`: it no longer exists at the cloud. `error`: it could not be created.',
    }),
    size_bytes: Nullable(Type.Integer(), { description: 'Space that it takes in bytes; null if unknown.' }),
    includes_memory: Type.Boolean({ description: 'Whether it includes the memory.' }),
    survives_server: Type.Boolean({ description: 'Whether it remains when the server is deleted.' }),
    taken_at: NullableInstant({ description: 'When the cloud created it; null if unknown.' }),
    expires_at: NullableInstant({ description: 'When it is deleted; null if it doesn’t expire.' }),
    price: PriceView,
    action_id: Nullable(Type.String(), { description: 'ID of the action that works on it; null if there is none.' }),
    ...editable,
  },
  { $id: 'Snapshot', description: 'A snapshot of the disks of a server, or of a volume.', examples: [example] },
)
export const SnapshotList = ListOf(Snapshot)

export const SnapshotInput = Shape(
  {
    server_id: Type.Optional(Type.String({ maxLength: 64, description: 'ID of the server. Required without `volume_id`.' })),
    volume_id: Type.Optional(
      Type.String({ maxLength: 64, description: 'ID of the volume, instead of a server, where the cloud can do that.' }),
    ),
    ...inputMembers(snapshotMembers),
    ...Type.Omit(actionParams.snapshot, ['name']).properties,
  },
  {
    $id: 'SnapshotInput',
    description: 'A snapshot to create.',
    examples: [{ server_id: example.server_id, name: example.name, max_monthly_price: '1.00', currency: 'EUR' }],
  },
)

export const SnapshotPatch = Shape(
  { ...patchMembers(snapshotMembers), expires_at: actionParams.snapshot.properties.expires_at },
  { $id: 'SnapshotPatch', description: 'Fields of a snapshot to update.', examples: [{ protected: true }] },
)

export type SnapshotView = Static<typeof Snapshot>
export type SnapshotInput = Static<typeof SnapshotInput>
export type SnapshotPatch = Static<typeof SnapshotPatch>
export type SnapshotCreator = Static<typeof CreatedBy>
