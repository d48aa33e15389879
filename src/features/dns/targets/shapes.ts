import { type Static, Type } from '@sinclair/typebox'
import { SinglePageOf, Nullable, NullableInstant, Shape, Words } from '../../../core/shapes'
import { note, RrsetForm } from '../plans/op-shapes'
import { syncStates } from '../sync/three-way'

export const State = Words(syncStates, {
  description:
    '`synced`: the same at the provider. `pending`: changed in Bailiwick, not applied at the provider yet. `drifted`: changed at the provider. `conflict`: changed both in Bailiwick and at the provider, or different at the first sync. ' +
    '`unmanaged`: exists only at the provider. `ignored`: exists only at the provider, and is ignored by a rule or managed by the provider. `unsupported`: not supported by the provider. ' +
    '`error`: the provider rejected the change, or its response was lost. `unknown`: not read from the provider yet.',
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
  throttled_until: null,
}

export const ZoneTarget = Shape(
  {
    id: Type.String({ description: 'ID of the sync target.' }),
    provider_id: Type.String({ description: 'ID of the provider.' }),
    state: {
      ...State,
      description:
        'State of the zone at this provider: the worst state of its record sets. Also `error` if the zone is missing there, the provider denies ' +
        `access, or its last response was rejected as incomplete. ${State.description}`,
    },
    out_of_sync_count: Type.Integer({
      minimum: 0,
      description: 'Number of record sets that are out of sync, as of the last read.',
    }),
    stale: Type.Boolean({
      description:
        'True if the zone could not be read from the provider for twice the polling interval (BAILIWICK_DNS_POLL_SECONDS, by default 15 minutes). While the provider is unreachable, `state` is from the last read.',
    }),
    checked_at: NullableInstant({ description: 'When the zone was last read from the provider; null if never.' }),
    last_sync_at: NullableInstant({ description: 'When all changes were last applied; null if never.' }),
    serial: Nullable(Type.Integer({ minimum: 0 }), {
      description: 'Number that changes with the zone at the provider, usually the SOA serial; null if it doesn’t report one.',
    }),
    error: Nullable(
      Shape({
        code: Type.String({
          description:
            'Error code, such as `unreachable`, `incomplete` if the data looks incomplete or implausible, or `change_rejected` if the provider rejected a change to a record set.',
        }),
        detail: Type.String({ description: 'Human-readable message.' }),
      }),
      { description: 'Error of the last sync; null if it succeeded.' },
    ),
    throttled_until: NullableInstant({
      description: 'When changes are applied again, because the provider limits the rate of requests; null if it doesn’t.',
    }),
  },
  { $id: 'ZoneTarget', description: 'A sync target: a provider that a zone is synced to.', examples: [targetExample] },
)

export const TargetInput = Shape(
  { provider_id: Type.String({ maxLength: 40, description: 'ID of a DNS provider of the workspace.' }) },
  {
    $id: 'ZoneTargetInput',
    description: 'A sync target to add to a zone.',
    examples: [{ provider_id: 'prov_01k3z8q4g7e2wv5m9x0c6hbtfn' }],
  },
)
export const TargetList = SinglePageOf(ZoneTarget)

export const RefreshInput = Shape(
  {
    force: Type.Optional(
      Type.Boolean({
        description:
          'Accepts the result even if it is empty or has fewer than half of the previous record sets. Requires `note`.',
      }),
    ),
    note: Type.Optional(note),
  },
  { $id: 'ZoneRefreshInput', description: 'Options of a refresh.', examples: [{}] },
)

export const ZoneSync = Shape(
  {
    state: State,
    targets: Type.Array(ZoneTarget, { maxItems: 10, description: 'Sync targets, not including the built-in name server.' }),
  },
  { description: 'Sync status at the targets. Zones without targets are always `synced`.' },
)

export const RecordSync = Shape(
  {
    state: State,
    targets: Type.Array(
      Shape({
        provider_id: Type.String({ description: 'ID of the provider.' }),
        state: State,
        detail: Nullable(Type.String(), {
          description: 'Message of the provider, or an explanation of the state; null if there is none.',
        }),
        observed: RrsetForm('The record set as last read from the provider; null if there was none.'),
        checked_at: NullableInstant({ description: 'When the zone was last read from the provider; null if never.' }),
      }),
      { maxItems: 10, description: 'One entry per target; empty if only the built-in name server serves the zone.' },
    ),
  },
  { description: 'Sync status of the record set at the targets of the zone.' },
)

export type ZoneSyncView = Static<typeof ZoneSync>
export type TargetView = Static<typeof ZoneTarget>
export type RecordSyncView = Static<typeof RecordSync>
export type TargetInput = Static<typeof TargetInput>
export type RefreshInput = Static<typeof RefreshInput>
