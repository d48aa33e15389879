import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Shape } from '../../../core/shapes'

/** A one-time code or recovery code, as typed by the user. */
export const codeField = (description: string) => Type.String({ minLength: 1, maxLength: 50, description })

const secretShownBefore = Type.Optional(
  Type.Boolean({ description: 'True if the response is replayed for an Idempotency-Key. The secrets are then omitted.' }),
)

export const Reauthentication = Shape(
  {
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, description: 'The current password.' })),
    code: Type.Optional(
      codeField('A one-time code or recovery code, instead of the password. Only if one-time codes are enabled.'),
    ),
  },
  {
    $id: 'Reauthentication',
    description: 'Confirms the identity of the signed-in user. Send either the password or a code.',
    examples: [{ password: 'correct horse battery' }],
  },
)
export type Reauthentication = Static<typeof Reauthentication>

export const OneTimeCodeSecret = Shape(
  {
    secret: Type.Optional(
      Type.String({ description: 'The secret in base32, for apps that can’t scan QR codes. Shown only once.' }),
    ),
    uri: Type.Optional(
      Type.String({ description: 'The URI to show as a QR code: SHA-1, 6 digits, 30 seconds. Shown only once.' }),
    ),
    secret_shown_before: secretShownBefore,
  },
  {
    $id: 'OneTimeCodeSecret',
    description: 'A secret for one-time codes (RFC 6238), pending until its first code is confirmed within an hour.',
    examples: [
      {
        secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
        uri: 'otpauth://totp/Bailiwick%20hub.example.com:ada%40example.com?issuer=Bailiwick%20hub.example.com&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30',
      },
    ],
  },
)
export type OneTimeCodeSecret = Static<typeof OneTimeCodeSecret>

export const OneTimeCodeConfirmation = Shape(
  { code: codeField('The code currently shown by the authenticator app.') },
  { $id: 'OneTimeCodeConfirmation', description: 'The first code of a new secret.', examples: [{ code: '492039' }] },
)

export const RecoveryCodes = Shape(
  {
    recovery_codes: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Recovery codes. Each can be used once instead of a one-time code. Shown only once; store them securely.',
      }),
    ),
    secret_shown_before: secretShownBefore,
  },
  {
    $id: 'RecoveryCodes',
    description: 'New recovery codes. The previous ones no longer work.',
    examples: [{ recovery_codes: ['k7m2p-9q4wd', '3hx8t-v6n1c'] }],
  },
)
export type RecoveryCodes = Static<typeof RecoveryCodes>
