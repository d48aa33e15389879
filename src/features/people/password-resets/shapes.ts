import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Shape } from '../../../core/shapes'
import { NewPassword } from '../shapes'

export const PasswordResetInput = Shape(
  { email: Type.String({ format: 'email', description: 'Email address of the user.' }) },
  { $id: 'PasswordResetInput', description: 'A request for a password reset link.', examples: [{ email: 'ada@example.com' }] },
)
export type PasswordResetInput = Static<typeof PasswordResetInput>

export const PasswordResetReceipt = Shape(
  {
    email: Type.String({ description: 'Email address, in lowercase.' }),
    expires_in_seconds: Type.Integer({ description: 'How long the emailed link is valid, in seconds.' }),
  },
  {
    $id: 'PasswordResetReceipt',
    description: 'A request that was accepted. It does not reveal whether the email address has an account.',
    examples: [{ email: 'ada@example.com', expires_in_seconds: 3600 }],
  },
)
export type PasswordResetReceipt = Static<typeof PasswordResetReceipt>

export const PasswordResetRedemption = Shape(
  {
    code: Type.String({ maxLength: 100, description: 'Code of the password reset link: the part after `#`.' }),
    password: NewPassword,
  },
  {
    $id: 'PasswordResetRedemption',
    description: 'A new password, with the code of a password reset link.',
    examples: [{ code: 'bw_reset_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x', password: 'correct horse battery' }],
  },
)
export type PasswordResetRedemption = Static<typeof PasswordResetRedemption>

export const PasswordResetResult = Shape(
  {
    email: Type.String({ description: 'Email address of the user.' }),
    sign_in_url: Type.String({ description: 'URL of the sign-in page.' }),
  },
  {
    $id: 'PasswordResetResult',
    description: 'The user whose password was reset.',
    examples: [{ email: 'ada@example.com', sign_in_url: 'https://hub.example.com/login' }],
  },
)
export type PasswordResetResult = Static<typeof PasswordResetResult>
