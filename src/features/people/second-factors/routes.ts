import { OneTimeCodeConfirmation, OneTimeCodeSecret, RecoveryCodes, Reauthentication } from './shapes'
import { setUpOneTimeCodes, enableOneTimeCodes, regenerateRecoveryCodes, disableOneTimeCodes } from './own-second-factors'
import { area, route } from '../../../api/route'

export const factorRoutes = area('second-factors', 'Sessions', [
  route({
    method: 'POST',
    path: '/v1/users/me/one-time-codes',
    guard: 'session',
    whileSuspended: true,
    action: 'account.one_time_codes.set_up',
    operationId: 'setUpOneTimeCodes',
    summary: 'Set up one-time codes',
    description:
      'Creates a secret for an authenticator app (RFC 6238), which is shown only in this response. To enable one-time codes, send ' +
      'the first code to `POST /v1/users/me/one-time-codes/enable` within an hour. Replaces a secret that was not confirmed. ' +
      'If one-time codes are already enabled, the response is 409, so only `password` can be used here, not `code`; if the password is wrong, it is 422.',
    body: Reauthentication,
    status: 201,
    response: OneTimeCodeSecret,
    noLocation: true,
    secretFields: ['secret', 'uri'],
    problems: ['conflict'],
    run: (ctx, { body }) => setUpOneTimeCodes(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/v1/users/me/one-time-codes/enable',
    guard: 'session',
    whileSuspended: true,
    action: 'account.one_time_codes.enable',
    operationId: 'enableOneTimeCodes',
    summary: 'Enable one-time codes',
    description:
      'Confirms the first code of the new secret. From then on, signing in with a password also requires a code. Returns ten ' +
      'recovery codes for when the authenticator app is lost; they are shown only once, in this response. A wrong code returns 422; ' +
      'if no secret is waiting for its first code, or codes are already enabled, the response is 409.',
    body: OneTimeCodeConfirmation,
    response: RecoveryCodes,
    secretFields: ['recovery_codes'],
    problems: ['conflict'],
    run: (ctx, { body }) => enableOneTimeCodes(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/v1/users/me/one-time-codes/disable',
    guard: 'session',
    whileSuspended: true,
    action: 'account.one_time_codes.disable',
    operationId: 'disableOneTimeCodes',
    summary: 'Disable one-time codes',
    description:
      'Deletes the secret and the recovery codes. Signing in with a password no longer requires a code. A wrong password or code returns 422; if one-time codes are not enabled, the response is 409.',
    body: Reauthentication,
    status: 204,
    problems: ['conflict'],
    run: (ctx, { body }) => disableOneTimeCodes(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/v1/users/me/recovery-codes',
    guard: 'session',
    whileSuspended: true,
    action: 'account.recovery_codes.regenerate',
    operationId: 'regenerateRecoveryCodes',
    summary: 'Regenerate recovery codes',
    description:
      'Creates ten recovery codes, shown only once in this response. The previous ones stop working. A wrong password or code returns 422; if one-time codes are not enabled, the response is 409.',
    body: Reauthentication,
    status: 201,
    response: RecoveryCodes,
    noLocation: true,
    secretFields: ['recovery_codes'],
    problems: ['conflict'],
    run: (ctx, { body }) => regenerateRecoveryCodes(ctx, body),
  }),
])
