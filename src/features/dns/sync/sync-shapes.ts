import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { NullableInstant, Nullable, Shape, Words } from '../../../core/shapes'
import { blockCodes } from './guards'
import { syncStates } from './three-way'

export const State = Words(syncStates, {
  description:
    '`pending`: changed here, not applied at the provider yet. `drifted`: changed at the provider. `conflict`: changed on both sides. ' +
    '`unmanaged`: exists only at the provider. `ignored`: matches an ignore rule. `unsupported`: not supported by the provider. ' +
    '`error`: could not be applied. `unknown`: never read.',
})

export const rrsetName = {
  name: Type.String({ description: 'Name within the zone; the apex is `@`.' }),
  type: Type.String({ description: 'Record type.' }),
}

export const Reason = Shape(
  {
    code: Words(blockCodes, { description: 'Code of the reason, used in `allow` to override it. More codes may be added.' }),
    detail: Type.String({ description: 'Human-readable message with the numbers.' }),
    rrsets: Type.Array(Shape(rrsetName), { maxItems: 20, description: 'Affected record sets; only the first 20 are listed.' }),
  },
  {
    $id: 'DnsPlanReason',
    description: 'A reason that blocks a plan until it is allowed.',
    examples: [
      {
        code: 'deletes_over_limit',
        detail: 'Deletes 4 of 10 record sets; the limit is 30%.',
        rrsets: [{ name: 'www', type: 'A' }],
      },
    ],
  },
)

/** An rrset in a plan or at a provider. */
export const RrsetForm = (description: string) =>
  Nullable(
    Shape({
      ttl: Type.Integer({ minimum: 0, description: 'Time to live in seconds.' }),
      values: Type.Array(Type.String(), { description: 'Values in zone file syntax.' }),
      options: Type.Optional(
        Shape(
          { proxied: Type.Optional(Type.Boolean({ description: 'Whether traffic is proxied by the provider.' })) },
          { description: 'Provider-specific settings; omitted if there are none.' },
        ),
      ),
    }),
    { description },
  )

export const Op = Shape({
  action: Words(['create', 'update', 'delete'], { description: 'Change to the record set.' }),
  name: rrsetName.name,
  type: rrsetName.type,
  before: RrsetForm('Current record set; null if it is created.'),
  after: RrsetForm('New record set; null if it is deleted.'),
})

const targetExample = {
  id: 'ztgt_01k3z8q4g7e2wv5m9x0c6hbtfn',
  provider_id: 'prov_01k3z8q4g7e2wv5m9x0c6hbtfn',
  state: 'synced',
  out_of_sync_count: 0,
  stale: false,
  checked_at: '2026-11-21T10:00:00.000Z',
  last_sync_at: '2026-11-21T10:00:00.000Z',
  serial: 2026112101,
  error: null,
}

export const ZoneTarget = Shape(
  {
    id: Type.String({ description: 'ID of the target.' }),
    provider_id: Type.String({ description: 'The provider.' }),
    state: {
      ...State,
      description:
        'State of the zone at this target: the worst state of its record sets. Also `error` if the zone is missing there, the provider denies ' +
        `access, or its last response was rejected as incomplete. ${State.description}`,
    },
    out_of_sync_count: Type.Integer({
      minimum: 0,
      description: 'Number of record sets that are out of sync, as of the last read.',
    }),
    stale: Type.Boolean({
      description:
        'True if the target could not be read for twice the polling interval. While it is unreachable, `state` is from the last read.',
    }),
    checked_at: NullableInstant({ description: 'When the target was last read; null if never.' }),
    last_sync_at: NullableInstant({ description: 'When all changes were last applied; null if never.' }),
    serial: Nullable(Type.Integer({ minimum: 0 }), { description: 'SOA serial at the provider, if it reports one.' }),
    error: Nullable(
      Shape({
        code: Type.String({
          description: 'Error code, such as `unreachable`. `incomplete` is also used for results that look implausible.',
        }),
        detail: Type.String({ description: 'Human-readable message.' }),
      }),
      { description: 'Error of the last sync; null if it succeeded.' },
    ),
  },
  { $id: 'ZoneTarget', description: 'A provider that a zone is synced to.', examples: [targetExample] },
)

export const ZoneSync = Shape(
  {
    state: State,
    targets: Type.Array(ZoneTarget, { maxItems: 10, description: 'Sync targets, not including the built-in name server.' }),
  },
  { description: 'Sync status at the targets. Zones without targets are always `synced`.' },
)

export const Blocked = Nullable(
  Shape({
    plan_id: Type.String({
      description: 'Plan with the blocked changes. Apply it with every reason in `allow` to unblock them.',
    }),
    reasons: Type.Array(Reason, { description: 'Reasons that block the plan.' }),
  }),
  { description: 'Set while changes are blocked from being applied to the providers; null otherwise.' },
)

export const RecordSync = Shape(
  {
    state: State,
    targets: Type.Array(
      Shape({
        provider_id: Type.String({ description: 'The provider.' }),
        state: State,
        detail: Nullable(Type.String(), { description: 'Message of the provider, or an explanation of the state.' }),
        observed: RrsetForm('The record set as last read from the provider; null if there was none.'),
        checked_at: NullableInstant({ description: 'When the target was last read; null if never.' }),
      }),
      { maxItems: 10, description: 'One entry per target; empty if only the built-in name server serves the zone.' },
    ),
  },
  { description: 'Sync status of the record set at the targets of the zone.' },
)

export type ZoneSyncView = Static<typeof ZoneSync>
export type TargetView = Static<typeof ZoneTarget>
export type BlockedView = NonNullable<Static<typeof Blocked>>
export type RecordSyncView = Static<typeof RecordSync>
