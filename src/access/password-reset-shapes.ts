import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Shape } from '../core/shapes'

export const PasswordResetInput = Shape(
  { email: Type.String({ format: 'email', description: 'Login.' }) },
  { $id: 'PasswordResetInput', description: 'Whose password is lost.', examples: [{ email: 'ada@example.com' }] },
)
export type PasswordResetInput = Static<typeof PasswordResetInput>

export const PasswordResetReceipt = Shape(
  {
    email: Type.String({ description: 'The login, in lower case.' }),
    expires_in_seconds: Type.Integer({ description: 'How long the link works that is mailed.' }),
  },
  {
    $id: 'PasswordResetReceipt',
    description: 'A request for a new password that was taken. It does not tell whether there is such a login.',
    examples: [{ email: 'ada@example.com', expires_in_seconds: 3600 }],
  },
)
export type PasswordResetReceipt = Static<typeof PasswordResetReceipt>

export const Redemption = Shape(
  {
    code: Type.String({ maxLength: 100, description: 'What stands behind `#` in the link.' }),
    password: Type.String({
      minLength: 10,
      maxLength: 1000,
      description: 'The new one: at least 10 characters, and not the e-mail.',
    }),
  },
  {
    $id: 'Redemption',
    description: 'A new password, by the code of a link.',
    examples: [{ code: 'bw_reset_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x', password: 'correct horse battery' }],
  },
)
export type Redemption = Static<typeof Redemption>

export const PasswordResetDone = Shape(
  {
    email: Type.String({ description: 'The login.' }),
    sign_in_url: Type.String({ description: 'Where to sign in now.' }),
  },
  {
    $id: 'PasswordResetDone',
    description: 'Whose password was set.',
    examples: [{ email: 'ada@example.com', sign_in_url: 'https://hub.example.com/login' }],
  },
)
export type PasswordResetDone = Static<typeof PasswordResetDone>
