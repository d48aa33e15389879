import { PasswordResetResult, PasswordResetInput, PasswordResetReceipt, PasswordResetRedemption } from './shapes'
import { redeemPasswordReset, requestPasswordReset } from './password-resets'
import { area, route } from '../../../api/route'

export const passwordResetRoutes = area('password-resets', 'Sessions', [
  route({
    method: 'POST',
    path: '/v1/password-resets',
    guard: 'anyone',
    action: 'account.password_reset.create',
    operationId: 'requestPasswordReset',
    summary: 'Request a password reset',
    description:
      'Emails a password reset link to the user with this email address. Requires a mail server (`password_reset_by_mail` of ' +
      '`GET /v1/sessions/methods`). The response is the same if there is no such user. Limited to 10 requests an hour per IP ' +
      'address and 500 an hour in total. At most 5 emails an hour are sent to an email address.',
    body: PasswordResetInput,
    status: 202,
    response: PasswordResetReceipt,
    problems: ['mail_not_set_up'],
    run: (ctx, { body }) => requestPasswordReset(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/v1/password-resets/redeem',
    guard: 'anyone',
    action: 'account.user.set_password',
    operationId: 'redeemPasswordReset',
    summary: 'Reset a password',
    description:
      'Sets the password, given the code of a password reset link. The link works once. Ends all sessions of the user, who then ' +
      'has to sign in again; second factors are kept. Unknown, used, and expired codes get the same response.',
    body: PasswordResetRedemption,
    response: PasswordResetResult,
    problems: ['not_found'],
    run: (ctx, { body }) => redeemPasswordReset(ctx, body),
  }),
])
