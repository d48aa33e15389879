import { type Static, Type } from '@sinclair/typebox'
import { Line, Nullable, Shape, Words } from '../../../core/shapes'
import { blockCodes } from './guards'

export const rrsetName = {
  name: Type.String({ description: 'Name relative to the zone. The apex is `@`.' }),
  type: Type.String({ description: 'Record type.' }),
}

/** An rrset named in a request. */
export const rrsetInput = Shape({
  name: Type.String({ maxLength: 1024, description: 'Name relative to the zone. The apex is `@`.' }),
  type: Type.String({
    maxLength: 20,
    pattern: '^[A-Za-z0-9]+$',
    'x-rule': 'must be a record type such as A or TXT, or TYPE followed by a number.',
    description: 'Record type.',
  }),
})

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
  ...rrsetName,
  before: RrsetForm('Current record set; null if it is created.'),
  after: RrsetForm('New record set; null if it is deleted.'),
})

export const Reason = Shape(
  {
    code: Words(blockCodes, {
      description: 'Code of the safety check, used in `allow` to override it. More codes may be added.',
    }),
    detail: Type.String({ description: 'Human-readable message, with the counts and the limit.' }),
    rrsets: Type.Array(Shape(rrsetName), { maxItems: 20, description: 'Affected record sets; only the first 20 are listed.' }),
  },
  {
    $id: 'DnsPlanReason',
    description: 'A safety check that blocks a plan until it is allowed.',
    examples: [
      {
        code: 'deletes_over_limit',
        detail: 'Deletes 4 of 10 record sets; the limit is 30%.',
        rrsets: [{ name: 'www', type: 'A' }],
      },
    ],
  },
)

export const Blocked = Nullable(
  Shape({
    plan_id: Type.String({
      description:
        'ID of the plan with the blocked changes. To unblock them, apply it with the codes of all `reasons` in `allow`, or make fewer changes.',
    }),
    reasons: Type.Array(Reason, { description: 'Safety checks that block the plan.' }),
  }),
  {
    description:
      'The plan with the changes that are not applied at the providers because safety checks block them; null if there is none.',
  },
)

export const allowed = Type.Array(Words(blockCodes), {
  maxItems: blockCodes.length,
  uniqueItems: true,
  description: 'Codes of the safety checks to override, as in `blocked` of a plan or in `reasons` of a `plan_blocked` error.',
})

export const note = Line({ maxLength: 500, description: 'Reason, for the audit log.' })

export type BlockedView = NonNullable<Static<typeof Blocked>>
