import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import { Reauthentication } from '../second-factors/shapes'
import { createSession, setCookie, withCookie } from '../sign-in/sessions'
import { CurrentSession } from '../sign-in/shapes'
import { passkeyRequestOptions, authenticateByPasskey } from './authentication'
import {
  createPasskey,
  deletePasskey,
  getPasskey,
  listPasskeys,
  passkeyCreationOptions,
  passkeyListing,
  updatePasskey,
} from './passkeys'
import {
  Passkey,
  PasskeyCreationOptions,
  PasskeyInput,
  PasskeyList,
  PasskeyPatch,
  PasskeyRequestOptions,
  PasskeySignInInput,
} from './shapes'

const ofUser = { guard: 'session', whileSuspended: true } as const

export const passkeyRoutes = area('passkeys', 'Sessions', [
  route({
    method: 'POST',
    path: '/v1/sessions/passkey/options',
    guard: 'anyone',
    operationId: 'getPasskeyRequestOptions',
    summary: 'Get passkey sign-in options',
    description:
      'Returns the options for `navigator.credentials.get()`. Send the result to `POST /v1/sessions/passkey` within ' +
      '5 minutes.',
    response: PasskeyRequestOptions,
    problems: ['passkeys_unavailable'],
    run: ctx => passkeyRequestOptions(ctx.hub),
  }),
  route({
    method: 'POST',
    path: '/v1/sessions/passkey',
    guard: 'anyone',
    action: 'account.session.create',
    operationId: 'signInWithPasskey',
    summary: 'Sign in with a passkey',
    description:
      'Starts a session for the owner of the passkey, without an email address or password. The passkey verifies the user by ' +
      'biometrics or PIN, so it counts as two factors.',
    body: PasskeySignInInput,
    status: 201,
    response: CurrentSession,
    noLocation: true,
    problems: ['invalid_passkey', 'invalid_login', 'passkeys_unavailable'],
    async run(ctx, { body, request }) {
      const { user, passkey } = await authenticateByPasskey(ctx, body.credential)
      return withCookie(await createSession(ctx, user, request, { reason: `Signed in with the passkey “${passkey.name}”.` }))
    },
    ...setCookie,
  }),
  route({
    method: 'POST',
    path: '/v1/passkeys/options',
    guard: 'session',
    whileSuspended: true,
    action: 'account.passkey.create',
    operationId: 'getPasskeyCreationOptions',
    summary: 'Get passkey creation options',
    description:
      'Returns the options for `navigator.credentials.create()`, after the user confirms their identity (a wrong password or code returns 422). Send the result to ' +
      '`POST /v1/passkeys` within 5 minutes.',
    body: Reauthentication,
    response: PasskeyCreationOptions,
    problems: ['passkeys_unavailable', 'conflict'],
    run: (ctx, { body }) => passkeyCreationOptions(ctx, body),
  }),
  ...crud({
    type: 'passkey',
    response: Passkey,
    reads: ofUser,
    writes: ofUser,
    list: {
      summary: 'List your passkeys',
      description: 'Lists the passkeys of the signed-in user.',
      listing: passkeyListing,
      response: PasskeyList,
      run: listPasskeys,
    },
    create: {
      summary: 'Add a passkey',
      description:
        'Registers a passkey that the browser created with the options from `POST /v1/passkeys/options`. A user can have at most 20 (409).',
      body: PasskeyInput,
      problems: ['passkeys_unavailable', 'already_exists', 'conflict'],
      run: createPasskey,
    },
    get: { description: 'Returns a passkey of the signed-in user.', run: getPasskey },
    update: {
      description: 'Renames a passkey (JSON merge patch, RFC 7396).',
      body: PasskeyPatch,
      problems: ['precondition_failed'],
      run: updatePasskey,
    },
    delete: {
      description:
        'Deletes a passkey: it can no longer be used to sign in. The device keeps offering it until you delete it there too.',
      problems: ['precondition_failed'],
      run: deletePasskey,
    },
  }),
])
