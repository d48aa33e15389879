import { FirstCode, NewOneTimeCodes, NewRecoveryCodes, Proof } from './factor-shapes'
import { beginOneTimeCodes, confirmOneTimeCodes, renewOwnRecoveryCodes, turnOffOneTimeCodes } from './own-factors'
import { area, route } from './route'

export const factorRoutes = area('second-factors', 'Sessions', [
  route({
    method: 'POST',
    path: '/v1/users/me/one-time-codes',
    guard: 'signed_in',
    whileSuspended: true,
    action: 'account.one_time_codes.begin',
    operationId: 'beginOneTimeCodes',
    summary: 'Begin with one-time codes',
    description:
      'Makes a secret for a program that shows one-time codes (RFC 6238). They are on once its first code is confirmed, within an ' +
      'hour; a secret that waits makes way for a new one. The answer is the only place where it is told.',
    body: Proof,
    status: 201,
    answer: NewOneTimeCodes,
    nowhere: true,
    once: ['secret', 'uri'],
    problems: ['conflict'],
    run: (ctx, { body }) => beginOneTimeCodes(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/v1/users/me/one-time-codes/confirm',
    guard: 'signed_in',
    whileSuspended: true,
    action: 'account.one_time_codes.enable',
    operationId: 'confirmOneTimeCodes',
    summary: 'Turn one-time codes on',
    description:
      'Takes the first code of the new secret. From then on a password alone signs in no more. The answer has ten recovery codes, ' +
      'for when the program is lost; it is the only place where they are told.',
    body: FirstCode,
    answer: NewRecoveryCodes,
    once: ['recovery_codes'],
    problems: ['conflict'],
    run: (ctx, { body }) => confirmOneTimeCodes(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/v1/users/me/one-time-codes/remove',
    guard: 'signed_in',
    whileSuspended: true,
    action: 'account.one_time_codes.remove',
    operationId: 'removeOneTimeCodes',
    summary: 'Turn one-time codes off',
    description: 'Forgets the secret and the recovery codes: the password alone signs in again.',
    body: Proof,
    status: 204,
    problems: ['conflict'],
    run: (ctx, { body }) => turnOffOneTimeCodes(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/v1/users/me/recovery-codes',
    guard: 'signed_in',
    whileSuspended: true,
    action: 'account.recovery_codes.renew',
    operationId: 'renewRecoveryCodes',
    summary: 'Get new recovery codes',
    description: 'Gives ten recovery codes, told in this answer alone. Those before them stop working.',
    body: Proof,
    status: 201,
    answer: NewRecoveryCodes,
    nowhere: true,
    once: ['recovery_codes'],
    problems: ['conflict'],
    run: (ctx, { body }) => renewOwnRecoveryCodes(ctx, body),
  }),
])
