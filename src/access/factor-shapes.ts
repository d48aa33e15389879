import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Shape } from '../core/shapes'

/** A code as people type it. */
export const codeMember = (description: string) => Type.String({ minLength: 1, maxLength: 50, description })

const again = Type.Optional(Type.Boolean({ description: 'True in a replay, which does not tell the secret again.' }))

export const Proof = Shape(
  {
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, description: 'The password as it is.' })),
    code: Type.Optional(codeMember('Or else a one-time code or a recovery code, where one-time codes are on.')),
  },
  {
    $id: 'Proof',
    description: 'What shows that it is the user who asks, and not somebody at their open browser: one of the two.',
    examples: [{ password: 'correct horse battery' }],
  },
)
export type Proof = Static<typeof Proof>

export const NewOneTimeCodes = Shape(
  {
    secret: Type.Optional(Type.String({ description: 'The secret in base32, for programs that read no QR code. Told once.' })),
    uri: Type.Optional(Type.String({ description: 'The address to show as a QR code: SHA-1, 6 digits, 30 seconds. Told once.' })),
    secret_shown_before: again,
  },
  {
    $id: 'NewOneTimeCodes',
    description: 'A secret for one-time codes (RFC 6238), which waits an hour for its first code.',
    examples: [
      {
        secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
        uri: 'otpauth://totp/Bailiwick%20hub.example.com:ada%40example.com?issuer=Bailiwick%20hub.example.com&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30',
      },
    ],
  },
)
export type NewOneTimeCodes = Static<typeof NewOneTimeCodes>

export const FirstCode = Shape(
  { code: codeMember('The code that the program shows now.') },
  { $id: 'FirstCode', description: 'The first code of a new secret.', examples: [{ code: '492039' }] },
)

export const NewRecoveryCodes = Shape(
  {
    recovery_codes: Type.Optional(
      Type.Array(Type.String(), { description: 'Each signs in once in place of a one-time code. Told once; keep them safe.' }),
    ),
    secret_shown_before: again,
  },
  {
    $id: 'NewRecoveryCodes',
    description: 'Recovery codes, those before them work no more.',
    examples: [{ recovery_codes: ['k7m2p-9q4wd', '3hx8t-v6n1c'] }],
  },
)
export type NewRecoveryCodes = Static<typeof NewRecoveryCodes>
