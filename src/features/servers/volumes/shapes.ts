import { Type, type Static } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../../core/members'
import { editable, ListOf, Nullable, Shape, Words } from '../../../core/shapes'
import { Labels } from '../labels'
import { PriceView, spendMembers } from '../price-shapes'
import { storageOrigins } from '../storage-shapes'

export const volumeStates = [
  'creating',
  'available',
  'attaching',
  'in_use',
  'detaching',
  'resizing',
  'restoring',
  'deleting',
  'error',
  'missing',
] as const
export type VolumeState = (typeof volumeStates)[number]
const formats = ['ext4', 'xfs'] as const

/** The fields that clients set and that can be updated. */
export const volumeMembers = members({
  name: {
    schema: Type.String({ minLength: 1, maxLength: 100, description: 'Name of the volume, also at the cloud.' }),
    required: true,
  },
  labels: { schema: Labels, default: {} },
})

const size = Type.Integer({ minimum: 2 ** 20, maximum: 2 ** 50, description: 'Size in bytes.' })
const mountPath = Type.Optional(
  Nullable(Type.String({ maxLength: 200, pattern: '^/[A-Za-z0-9._/-]*[A-Za-z0-9._-]$', 'x-rule': 'must be an absolute path.' }), {
    description: 'Where the cloud mounts it in the server, on Incus and LXD. Default: `/mnt/` and its name.',
  }),
)

const example = {
  id: 'vol_01k3z9a1b2c3d4e5f6g7h8j9km',
  name: 'data-1',
  labels: { role: 'database' },
  account_id: 'cloud_01k3z9a1b2c3d4e5f6g7h8j9km',
  provider_ref: '4713',
  origin: 'made',
  server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km',
  location: 'fsn1',
  size_bytes: 21_474_836_480,
  used_bytes: null,
  format: 'ext4',
  device: '/dev/disk/by-id/scsi-0HC_Volume_4713',
  mount_path: null,
  state: 'in_use',
  protection: { delete: false },
  price: { monthly: '1.05', currency: 'EUR', gross: true, known: true, as_of: '2026-11-27T10:00:00.000Z' },
  action_id: null,
  version: 1,
  created_at: '2026-11-27T10:00:00.000Z',
  updated_at: '2026-11-27T10:00:00.000Z',
}

export const Volume = Shape(
  {
    id: Type.String({ description: 'ID of the volume.' }),
    ...viewMembers(volumeMembers),
    account_id: Type.String({ description: 'ID of the cloud account.' }),
    provider_ref: Nullable(Type.String(), { description: 'ID at the cloud; null if it does not exist there yet.' }),
    origin: Words(storageOrigins, { description: '`made`: created here. `found`: read from a cloud account.' }),
    server_id: Nullable(Type.String(), { description: 'ID of the server that it is attached to; null if it is not attached.' }),
    location: Nullable(Type.String(), { description: 'Location; null if the cloud has none.' }),
    size_bytes: Nullable(Type.Integer(), { description: 'Size in bytes; null if it has no limit.' }),
    used_bytes: Nullable(Type.Integer(), { description: 'Space that is used in bytes; null if the cloud doesn’t report it.' }),
    format: Nullable(Type.String(), { description: 'File system that it was formatted with; null if unknown.' }),
    device: Nullable(Type.String(), { description: 'Path of the device in the server; null if there is none.' }),
    mount_path: Nullable(Type.String(), { description: 'Where the cloud mounts it in the server; null if it doesn’t.' }),
    state: Words(volumeStates, {
      description:
        'State. `in_use`: attached to a server. `missing`: it no longer exists at the cloud. `error`: it could not be created.',
    }),
    protection: Shape(
      { delete: Type.Boolean({ description: 'Whether it is protected from deletion.' }) },
      { $id: 'VolumeProtection', description: 'Which changes a volume is protected from.' },
    ),
    price: PriceView,
    action_id: Nullable(Type.String(), { description: 'ID of the action that works on it; null if there is none.' }),
    ...editable,
  },
  { $id: 'Volume', description: 'A disk that can be attached to servers.', examples: [example] },
)
export const VolumeList = ListOf(Volume)

export const VolumeInput = Shape(
  {
    ...inputMembers(volumeMembers),
    account_id: Type.String({ maxLength: 64, description: 'ID of the cloud account.' }),
    size_bytes: size,
    location: Type.Optional(
      Nullable(Type.String({ maxLength: 100 }), {
        description: 'Slug of the location. Not needed with `server_id`: the volume gets the location of the server.',
      }),
    ),
    server_id: Type.Optional(
      Nullable(Type.String({ maxLength: 64 }), { description: 'ID of a server to attach it to; null for none.' }),
    ),
    mount_path: mountPath,
    format: Type.Optional(
      Nullable(Words(formats), { description: 'File system to format it with, where the cloud can do that; null for none.' }),
    ),
    ...spendMembers,
  },
  {
    $id: 'VolumeInput',
    description: 'A volume to create.',
    examples: [
      {
        name: example.name,
        account_id: example.account_id,
        size_bytes: example.size_bytes,
        server_id: example.server_id,
        format: 'ext4',
        max_monthly_price: '2.00',
        currency: 'EUR',
      },
    ],
  },
)

export const VolumePatch = Shape(patchMembers(volumeMembers), {
  $id: 'VolumePatch',
  description: 'Fields of a volume to update.',
  examples: [{ labels: { role: 'database' } }],
})

export const volumeActions = ['attach', 'detach', 'resize', 'set_protection', 'restore_snapshot'] as const
export type VolumeActionName = (typeof volumeActions)[number]

export const VolumeActionInput = Shape(
  {
    action: Type.String({
      minLength: 1,
      maxLength: 40,
      description: `Name of the action: ${volumeActions.map(one => `\`${one}\``).join(', ')}.`,
    }),
    params: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Parameters of the action.', default: {} })),
  },
  {
    $id: 'VolumeActionInput',
    description: 'An action to perform on a volume.',
    examples: [{ action: 'attach', params: { server_id: example.server_id } }],
  },
)

/** Parameters by action. */
export const volumeActionParams = {
  attach: Shape({ server_id: Type.String({ maxLength: 64, description: 'ID of the server.' }), mount_path: mountPath }),
  detach: Shape({
    force: Type.Optional(Type.Boolean({ default: false, description: 'Whether to detach it even if it is or may be mounted.' })),
  }),
  resize: Shape({ size_bytes: size, ...spendMembers }),
  restore_snapshot: Shape({ snapshot_id: Type.String({ maxLength: 64, description: 'ID of the snapshot.' }) }),
  set_protection: Shape({ delete: Type.Boolean({ description: 'Whether to protect it from deletion.' }) }),
} as const

export type VolumeView = Static<typeof Volume>
export type VolumeInput = Static<typeof VolumeInput>
export type VolumePatch = Static<typeof VolumePatch>
export type VolumeActionInput = Static<typeof VolumeActionInput>
