import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { MaybeInstant, Nullable, Shape, Words } from '../../../core/shapes'
import { blockCodes } from './guards'
import { syncStates } from './three-way'

export const State = Words(syncStates, {
  description:
    '`pending`: changed here and not brought there yet. `drifted`: changed there by others. `conflict`: both. `unmanaged`: there alone. ' +
    '`ignored`: left alone by a rule. `unsupported`: the provider does not take it. `error`: it could not be brought there. `unknown`: ' +
    'never read.',
})

export const rrsetName = {
  name: Type.String({ description: 'Name within the zone; the apex is `@`.' }),
  type: Type.String({ description: 'Record type.' }),
}

export const Reason = Shape(
  {
    code: Words(blockCodes, { description: 'The reason; it is overridden by this word. Further ones may be added.' }),
    detail: Type.String({ description: 'For people, with the figures.' }),
    members: Type.Array(Shape(rrsetName), { maxItems: 20, description: 'What it is about, the first ones.' }),
  },
  {
    $id: 'DnsPlanReason',
    description: 'Why a plan is not carried out unasked.',
    examples: [
      {
        code: 'deletes_over_limit',
        detail: 'It would remove 4 of 10 rrsets; up to 30 % go unasked.',
        members: [{ name: 'www', type: 'A' }],
      },
    ],
  },
)

/** An rrset in a plan or a reading. */
export const Form = (description: string) =>
  Nullable(
    Shape({
      ttl: Type.Integer({ minimum: 0, description: 'Time to live in seconds.' }),
      values: Type.Array(Type.String(), { description: 'Its values as in a zone file.' }),
      options: Type.Optional(
        Shape({ proxied: Type.Optional(Type.Boolean({ description: 'Whether the provider stands before it.' })) }),
      ),
    }),
    { description },
  )

export const Op = Shape({
  action: Words(['create', 'update', 'delete'], { description: 'What is done to the rrset.' }),
  name: rrsetName.name,
  type: rrsetName.type,
  before: Form('As it is; null where there is none.'),
  after: Form('As it is to be; null where it goes.'),
})

const targetExample = {
  id: 'ztgt_01k3z8q4g7e2wv5m9x0c6hbtfn',
  provider_id: 'prov_01k3z8q4g7e2wv5m9x0c6hbtfn',
  state: 'synced',
  different_count: 0,
  stale: false,
  checked_at: '2026-11-21T10:00:00.000Z',
  last_sync_at: '2026-11-21T10:00:00.000Z',
  serial: 2026112101,
  error: null,
}

export const ZoneTarget = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    provider_id: Type.String({ description: 'The provider.' }),
    state: {
      ...State,
      description:
        'How the zone stands there: the worst of its rrsets, and `error` as well while the zone is gone there, the provider refuses to show it ' +
        `or what it shows is not believed. ${State.description}`,
    },
    different_count: Type.Integer({
      minimum: 0,
      description: 'Names and types that are not there as they are to be, as of the last reading.',
    }),
    stale: Type.Boolean({
      description:
        'True when it could not be read for twice the time between readings. Of one that does not answer `state` is that of the last reading.',
    }),
    checked_at: MaybeInstant({ description: 'When it was last read; null before the first time.' }),
    last_sync_at: MaybeInstant({ description: 'When all that was to be brought there last was; null before the first time.' }),
    serial: Nullable(Type.Integer({ minimum: 0 }), { description: 'Of its SOA, where the provider tells.' }),
    error: Nullable(
      Shape({
        code: Type.String({
          description: 'Why it could not be asked, such as `unreachable`; `incomplete` also for a reading that is not believed.',
        }),
        detail: Type.String({ description: 'The same for people.' }),
      }),
      { description: 'What went wrong the last time; null when nothing did.' },
    ),
  },
  { $id: 'ZoneTarget', description: 'A provider that a zone is kept at.', examples: [targetExample] },
)

export const ZoneSync = Shape(
  {
    state: State,
    targets: Type.Array(ZoneTarget, { maxItems: 10, description: 'The providers it is kept at, beside the hub itself.' }),
  },
  { description: 'How it stands at its providers; without any it is `synced`, since the hub serves what is kept.' },
)

export const Blocked = Nullable(
  Shape({
    plan_id: Type.String({ description: 'What would be done. Applying it with each reason in `allow` lets it through.' }),
    reasons: Type.Array(Reason, { description: 'Why it is not.' }),
  }),
  { description: 'Set while changes are held back from the providers; null when none are.' },
)

export const RecordSync = Shape(
  {
    state: State,
    targets: Type.Array(
      Shape({
        provider_id: Type.String({ description: 'The provider.' }),
        state: State,
        detail: Nullable(Type.String(), { description: 'What the provider said, or why it is so.' }),
        observed: Form('All values of the name and type as they were last read there; null when there were none.'),
        checked_at: MaybeInstant({ description: 'When it was last read; null before the first time.' }),
      }),
      { maxItems: 10, description: 'By provider; none where the hub alone serves it.' },
    ),
  },
  { description: 'How its name and type stand at the providers of the zone.' },
)

export const exampleStates = { zone: { state: 'synced', targets: [] }, record: { state: 'synced', targets: [] } }

export type ZoneSyncView = Static<typeof ZoneSync>
export type TargetView = Static<typeof ZoneTarget>
export type BlockedView = NonNullable<Static<typeof Blocked>>
export type RecordSyncView = Static<typeof RecordSync>
