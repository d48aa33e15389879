import { type Static, Type } from '@sinclair/typebox'
import { Instant, Nullable, NullableInstant, Shape, Words } from '../../../core/shapes'
import { rrsetInput, RrsetForm, rrsetName } from '../plans/op-shapes'
import { changed } from '../records/shapes'
import { driftKinds } from '../sync/three-way'
import { State } from '../targets/shapes'

const DriftEntry = Shape({
  target_id: Type.String({ description: 'ID of the sync target: the provider, as a target of this zone.' }),
  provider_id: Type.String({ description: 'ID of the provider.' }),
  ...rrsetName,
  state: State,
  kind: Nullable(Words(driftKinds), {
    description: 'How the record set was changed at the provider. Null if it was not changed there, or if it is in `conflict`.',
  }),
  detail: Nullable(Type.String(), {
    description: 'Message of the provider, or an explanation of the state; null if there is none.',
  }),
  desired: RrsetForm('The record set in Bailiwick; null if there is none.'),
  observed: RrsetForm('The record set as last read from the provider; null if there was none.'),
  since_at: Instant({ description: 'When the record set entered this state.' }),
  checked_at: NullableInstant({ description: 'When the zone was last read from the provider; null if never.' }),
})

const ForeignEntry = Shape({
  target_id: DriftEntry.properties.target_id,
  provider_id: DriftEntry.properties.provider_id,
  ...rrsetName,
  detail: Type.String({ description: 'What it is.' }),
  checked_at: DriftEntry.properties.checked_at,
})

export const ZoneDrift = Shape(
  {
    zone_id: Type.String({ description: 'ID of the zone.' }),
    rrsets: Type.Array(DriftEntry, {
      maxItems: 1000,
      description: 'Record sets that are out of sync, sorted by target, name, and type.',
    }),
    foreign: Type.Array(ForeignEntry, {
      maxItems: 1000,
      description:
        'What exists at the providers and is not an ordinary record set, such as aliases to load balancers. It is never changed, and a record with the same name and type is `unsupported`. Up to 1,000, sorted by target, name, and type.',
    }),
    truncated: Type.Boolean({ description: 'True if there are more than 1,000 record sets.' }),
  },
  {
    $id: 'ZoneDrift',
    description: 'Record sets of a zone that are out of sync at its providers.',
    examples: [
      {
        zone_id: 'zone_01k3z8q4g7e2wv5m9x0c6hbtfn',
        rrsets: [
          {
            target_id: 'ztgt_01k3z8q4g7e2wv5m9x0c6hbtfn',
            provider_id: 'prov_01k3z8q4g7e2wv5m9x0c6hbtfn',
            name: 'www',
            type: 'A',
            state: 'drifted',
            kind: 'changed',
            detail: null,
            desired: { ttl: 300, values: ['192.0.2.10'] },
            observed: { ttl: 300, values: ['198.51.100.7'] },
            since_at: '2026-11-21T10:00:00.000Z',
            checked_at: '2026-11-21T10:00:00.000Z',
          },
        ],
        foreign: [
          {
            target_id: 'ztgt_01k3z8q4g7e2wv5m9x0c6hbtfn',
            provider_id: 'prov_01k3z8q4g7e2wv5m9x0c6hbtfn',
            name: '@',
            type: 'A',
            detail: 'Alias to d111111abcdef8.cloudfront.net',
            checked_at: '2026-11-21T10:00:00.000Z',
          },
        ],
        truncated: false,
      },
    ],
  },
)

export const AdoptInput = Shape(
  {
    rrsets: Type.Optional(
      Type.Array(rrsetInput, {
        minItems: 1,
        maxItems: 1000,
        description: 'Record sets to adopt. Required unless `all` is true.',
      }),
    ),
    all: Type.Optional(
      Type.Boolean({
        description: 'Adopt all external changes, including additions and deletions. Can’t be combined with `rrsets`.',
      }),
    ),
    target_id: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'ID of the sync target to adopt from. Required for zones with more than one target.',
      }),
    ),
  },
  { $id: 'ZoneAdoptInput', description: 'External changes to adopt.', examples: [{ all: true }] },
)

export const ZoneAdoptResult = Shape(
  { ...changed },
  {
    $id: 'ZoneAdoptResult',
    description: 'Changes made to the zone.',
    examples: [{ zone_id: 'zone_01k3z8q4g7e2wv5m9x0c6hbtfn', serial: 8, created: 2, updated: 0, deleted: 1 }],
  },
)

export type Drift = Static<typeof ZoneDrift>
export type AdoptInput = Static<typeof AdoptInput>
export type Adopted = Static<typeof ZoneAdoptResult>
