import { listQuery } from '../core/list'
import { Proof } from './factor-shapes'
import { passkeyRequest, provenByPasskey } from './passkey-answers'
import {
  Passkey,
  PasskeyCreation,
  PasskeyInput,
  PasskeyList,
  PasskeyPatch,
  PasskeyRequest,
  PasskeySignIn,
} from './passkey-shapes'
import {
  createPasskey,
  deletePasskey,
  getPasskey,
  listPasskeys,
  passkeyCreation,
  passkeyListing,
  updatePasskey,
} from './passkeys'
import { area, route } from './route'
import { setCookie, withCookie } from './session-cookie'
import { Session } from './session-shapes'
import { beginSession } from './sessions'

export const passkeyRoutes = area('passkeys', 'Sessions', [
  route({
    method: 'POST',
    path: '/v1/sessions/passkey/options',
    guard: 'anyone',
    operationId: 'getPasskeyRequest',
    summary: 'Begin to sign in by passkey',
    description: 'What the browser asks a passkey for. The answer goes to `POST /v1/sessions/passkey` within five minutes.',
    answer: PasskeyRequest,
    problems: ['passkeys_unavailable', 'origin_not_allowed'],
    run: ctx => passkeyRequest(ctx.hub),
  }),
  route({
    method: 'POST',
    path: '/v1/sessions/passkey',
    guard: 'anyone',
    action: 'account.session.create',
    operationId: 'signInByPasskey',
    summary: 'Sign in by passkey',
    description:
      'Begins a session for the owner of the passkey, with neither e-mail nor password: it asked for a finger, a face or a PIN, and ' +
      'so is two factors in one.',
    body: PasskeySignIn,
    status: 201,
    answer: Session,
    nowhere: true,
    problems: ['invalid_passkey', 'invalid_login', 'passkeys_unavailable', 'origin_not_allowed'],
    async run(ctx, { body, request }) {
      const { user, passkey } = await provenByPasskey(ctx, body.credential)
      return withCookie(await beginSession(ctx, user, request, { reason: `By the passkey “${passkey.name}”.` }))
    },
    ...setCookie,
  }),
  route({
    method: 'GET',
    path: '/v1/passkeys',
    guard: 'signed_in',
    whileSuspended: true,
    operationId: 'listPasskeys',
    summary: 'List one’s passkeys',
    description: 'The passkeys of the user behind the session. A token has none.',
    query: listQuery(passkeyListing),
    answer: PasskeyList,
    run: (ctx, { query }) => listPasskeys(ctx, query),
  }),
  route({
    method: 'POST',
    path: '/v1/passkeys/options',
    guard: 'signed_in',
    whileSuspended: true,
    action: 'account.passkey.create',
    operationId: 'getPasskeyCreation',
    summary: 'Begin to make a passkey',
    description:
      'What the browser makes a passkey by, for whoever proves who they are. What comes of it goes to `POST /v1/passkeys` within five ' +
      'minutes.',
    body: Proof,
    answer: PasskeyCreation,
    problems: ['passkeys_unavailable', 'conflict'],
    run: (ctx, { body }) => passkeyCreation(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/v1/passkeys',
    guard: 'signed_in',
    whileSuspended: true,
    action: 'account.passkey.create',
    operationId: 'createPasskey',
    summary: 'Keep a passkey',
    description: 'Keeps a passkey that the browser made. A person has 20 at most.',
    body: PasskeyInput,
    status: 201,
    answer: Passkey,
    problems: ['passkeys_unavailable', 'already_exists', 'conflict'],
    run: (ctx, { body }) => createPasskey(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/passkeys/:id',
    guard: 'signed_in',
    whileSuspended: true,
    operationId: 'getPasskey',
    summary: 'Read a passkey',
    description: 'A passkey of the user behind the session.',
    answer: Passkey,
    run: (ctx, { params }) => getPasskey(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/passkeys/:id',
    guard: 'signed_in',
    whileSuspended: true,
    action: 'account.passkey.update',
    operationId: 'updatePasskey',
    summary: 'Rename a passkey',
    description: 'Calls a passkey something else (JSON merge patch, RFC 7396).',
    body: PasskeyPatch,
    answer: Passkey,
    problems: ['precondition_failed'],
    run: (ctx, { params, body }) => updatePasskey(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/passkeys/:id',
    guard: 'signed_in',
    whileSuspended: true,
    action: 'account.passkey.delete',
    operationId: 'deletePasskey',
    summary: 'Delete a passkey',
    description: 'The passkey signs in no more. The device goes on offering it until it is deleted there too.',
    status: 204,
    problems: ['precondition_failed'],
    run: (ctx, { params }) => deletePasskey(ctx, params.id!),
  }),
])
