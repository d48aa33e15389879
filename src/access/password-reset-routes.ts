import { PasswordResetDone, PasswordResetInput, PasswordResetReceipt, Redemption } from './password-reset-shapes'
import { redeemPasswordReset, requestPasswordReset } from './password-resets'
import { area, route } from './route'

export const passwordResetRoutes = area('password-resets', 'Sessions', [
  route({
    method: 'POST',
    path: '/v1/password-resets',
    guard: 'anyone',
    action: 'account.password_reset.create',
    operationId: 'requestPasswordReset',
    summary: 'Ask for a new password',
    description:
      'Mails a link to whoever has the login, where the installation has a mail server (`password_reset_by_mail` of ' +
      '`GET /v1/sessions/methods`). The answer is the same where nobody has it. Ten are taken an hour from one address; more than ' +
      'five an hour for one login are taken, and not mailed.',
    body: PasswordResetInput,
    status: 202,
    answer: PasswordResetReceipt,
    problems: ['mail_not_set_up', 'origin_not_allowed'],
    run: (ctx, { body }) => requestPasswordReset(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/v1/password-resets/redeem',
    guard: 'anyone',
    action: 'account.user.set_password',
    operationId: 'redeemPasswordReset',
    summary: 'Set a new password by a link',
    description:
      'Sets the password, once. Every session of the user ends, and they sign in anew; second factors stay as they are. A code that is ' +
      'unknown, used or over is answered alike.',
    body: Redemption,
    answer: PasswordResetDone,
    problems: ['not_found', 'origin_not_allowed'],
    run: (ctx, { body }) => redeemPasswordReset(ctx, body),
  }),
])
