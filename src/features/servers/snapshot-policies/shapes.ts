import { Type, type Static } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../../core/members'
import { editable, Instant, Line, ListOf, Nullable, NullableInstant, Shape, Words } from '../../../core/shapes'
import { Amount, Currency } from '../money'

const Schedule = Shape(
  {
    cron: Type.String({
      maxLength: 200,
      description: 'Cron expression with five fields: minute, hour, day of the month, month, day of the week.',
    }),
    timezone: Type.String({ minLength: 1, maxLength: 64, description: 'Time zone of the expression, such as `Europe/Berlin`.' }),
  },
  { $id: 'SnapshotSchedule', description: 'When snapshots are created.' },
)

const count = (description: string) => Type.Integer({ minimum: 0, maximum: 1000, description })
const Keep = Shape(
  {
    last: count('Number of the newest snapshots to keep.'),
    hourly: count('Number of hours whose newest snapshot is kept.'),
    daily: count('Number of days (UTC) whose newest snapshot is kept.'),
    weekly: count('Number of weeks (from Monday, UTC) whose newest snapshot is kept.'),
    monthly: count('Number of months (UTC) whose newest snapshot is kept.'),
  },
  {
    $id: 'SnapshotRetention',
    description: 'Which snapshots of each server are kept. A snapshot is kept if one of the rules keeps it.',
  },
)
export type Keep = Static<typeof Keep>

/** The fields that clients set and that can be updated. */
export const policyMembers = members({
  name: { schema: Line({ minLength: 1, maxLength: 100, description: 'Name of the policy.' }), required: true },
  server_ids: {
    schema: Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: 100,
      uniqueItems: true,
      description: 'IDs of servers, in addition to those that `label_selector` selects.',
    }),
    default: [],
  },
  label_selector: {
    schema: Nullable(Type.String({ maxLength: 2000 }), {
      description: 'Selects servers by their labels, such as `role=web,!temporary`; null for none.',
    }),
    default: null,
  },
  schedule: { schema: Schedule, required: true },
  keep: { schema: Keep, required: true },
  quiesce: {
    schema: Words(['none', 'shutdown'], {
      description: '`shutdown`: running servers are shut down for the snapshot, and started again afterwards.',
    }),
    default: 'none',
  },
  paused: { schema: Type.Boolean({ description: 'Whether no snapshots are created.' }), default: false },
  max_monthly_price: {
    schema: Nullable(Amount('Highest price per month.'), {
      description: 'Highest price per month to accept for each snapshot, where snapshots cost money; null for none.',
    }),
    default: null,
  },
  currency: {
    schema: Nullable(Currency('Currency.'), { description: 'Currency of `max_monthly_price`. Required with it.' }),
    default: null,
  },
})

const LastRun = Shape(
  {
    at: Instant({ description: 'When it ran.' }),
    made: Type.Integer({ description: 'Number of snapshots that were created.' }),
    failed: Type.Array(
      Shape(
        {
          server_id: Nullable(Type.String(), {
            description: 'ID of the server; null if it was deleted, or if the whole run ended early.',
          }),
          detail: Type.String({ description: 'Why there is no snapshot.' }),
        },
        { $id: 'SnapshotPolicyFailure', description: 'A server without a new snapshot, or a run that ended early.' },
      ),
      { description: 'Servers without a new snapshot, and why the run ended early, if it did.' },
    ),
    pruned: Type.Integer({ description: 'Number of snapshots that were deleted.' }),
    finished: Type.Boolean({ description: 'Whether all snapshots have been created or failed.' }),
  },
  { $id: 'SnapshotPolicyRun', description: 'A run of a snapshot policy.' },
)
export type LastRun = Static<typeof LastRun>

const example = {
  id: 'spol_01k3z9a1b2c3d4e5f6g7h8j9km',
  name: 'nightly',
  server_ids: [],
  label_selector: 'role=database',
  schedule: { cron: '0 3 * * *', timezone: 'Europe/Berlin' },
  keep: { last: 3, hourly: 0, daily: 7, weekly: 4, monthly: 0 },
  quiesce: 'none',
  paused: false,
  max_monthly_price: '1.00',
  currency: 'EUR',
  next_at: '2026-11-28T02:00:00.000Z',
  last_run: { at: '2026-11-27T02:00:00.000Z', made: 2, failed: [], pruned: 1, finished: true },
  version: 1,
  created_at: '2026-11-27T10:00:00.000Z',
  updated_at: '2026-11-27T10:00:00.000Z',
}

export const SnapshotPolicy = Shape(
  {
    id: Type.String({ description: 'ID of the policy.' }),
    ...viewMembers(policyMembers),
    next_at: NullableInstant({ description: 'When it runs next; null while it is paused.' }),
    last_run: Nullable(LastRun, { description: 'The last run; null if there was none.' }),
    ...editable,
  },
  {
    $id: 'SnapshotPolicy',
    description: 'Creates snapshots of servers on a schedule, and deletes old ones.',
    examples: [example],
  },
)
export const SnapshotPolicyList = ListOf(SnapshotPolicy)

export const SnapshotPolicyInput = Shape(inputMembers(policyMembers), {
  $id: 'SnapshotPolicyInput',
  description: 'A snapshot policy to create.',
  examples: [{ name: example.name, label_selector: example.label_selector, schedule: example.schedule, keep: example.keep }],
})

export const SnapshotPolicyPatch = Shape(patchMembers(policyMembers), {
  $id: 'SnapshotPolicyPatch',
  description: 'Fields of a snapshot policy to update.',
  examples: [{ paused: true }],
})

export type SnapshotPolicyView = Static<typeof SnapshotPolicy>
export type SnapshotPolicyInput = Static<typeof SnapshotPolicyInput>
export type SnapshotPolicyPatch = Static<typeof SnapshotPolicyPatch>
