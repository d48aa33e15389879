import { Type } from '@sinclair/typebox'
import { Nullable, NullableInstant } from '../shapes'

// Fields of the schemas of all resources with a signing secret.

export const ownSecret = Type.String({
  maxLength: 200,
  description: 'Your own signing secret: `whsec_` followed by 24 to 64 random bytes in padded base64. Generated if omitted.',
})

/** Fields of the resource. */
export const secretHints = {
  secret_hint: Type.String({ description: 'The signing secret in masked form; during a rotation, the old one.' }),
  next_secret_hint: Nullable(Type.String(), {
    description: 'The new secret in masked form while a rotation is in progress; null otherwise.',
  }),
  overlap_ends_at: NullableInstant({
    description: 'When the old secret expires and the new one replaces it; null if no rotation is in progress.',
  }),
}

/** More fields in the responses that return a new secret. */
export const shownSecret = {
  secret: Type.Optional(Type.String({ description: 'The signing secret. Shown only once; store it securely.' })),
  secret_shown_before: Type.Optional(
    Type.Boolean({ description: 'True if the response is replayed for an Idempotency-Key. The secret is then omitted.' }),
  ),
}

/** Fields of the request body of a rotation. */
export const secretRotation = {
  secret: Type.Optional(ownSecret),
  overlap_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 604_800,
      default: 86_400,
      description: 'How long both the old and the new secret sign messages. 0 drops the old secret immediately.',
    }),
  ),
}
