import { area, route } from './route'
import { Session } from './session-shapes'
import { Setup, SetupState } from './setup-shapes'
import { Token, TokenInput, TokenList, TokenPatch, TokenReport, TokenRotation, NewToken } from './shapes'
import { beginSession } from './sessions'
import { setCookie, withCookie } from './session-cookie'
import { SignUp, SignUpReceipt, SignUpState } from './sign-up-shapes'
import { signUp, signUpState } from './sign-ups'
import { tokenRelations } from './token-relations'
import { createToken, getToken, listTokens, revokeToken, tokenListing, updateToken } from './tokens'
import { reportToken } from './token-reports'
import { rotateToken } from './token-rotation'
import { completeSetup, hasUsers } from './users'
import { listQuery } from '../core/list'

export const tokenRoutes = area('tokens', 'Tokens', [
  route({
    method: 'GET',
    path: '/v1/tokens',
    guard: 'account.read',
    operationId: 'listTokens',
    summary: 'List tokens',
    description: 'API tokens of the workspace, revoked ones included.',
    query: listQuery(tokenListing),
    answer: TokenList,
    expands: tokenRelations,
    run: (ctx, { query }) => listTokens(ctx, query),
  }),
  route({
    method: 'POST',
    path: '/v1/tokens',
    guard: 'account.write',
    action: 'account.token.create',
    operationId: 'createToken',
    summary: 'Create a token',
    description:
      'Makes an API token. The answer is the only place where its value is told. A token can make only tokens that may do no more than itself.',
    body: TokenInput,
    status: 201,
    answer: NewToken,
    once: ['token'],
    problems: ['plan_limit_reached'],
    run: (ctx, { body }) => createToken(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/tokens/:id',
    guard: 'account.read',
    operationId: 'getToken',
    summary: 'Read a token',
    description: 'A token, with its hint and last use.',
    answer: Token,
    expands: tokenRelations,
    run: (ctx, { params }) => getToken(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/tokens/:id',
    guard: 'account.write',
    action: 'account.token.update',
    operationId: 'updateToken',
    summary: 'Edit a token',
    description:
      'Changes label, end and addresses (JSON merge patch, RFC 7396). A token gives no later end and no more addresses than its own, ' +
      'and loosens none that may do more than itself. A token that has ended stays so.',
    body: TokenPatch,
    answer: Token,
    problems: ['conflict'],
    run: (ctx, { params, body }) => updateToken(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/tokens/:id',
    guard: 'account.write',
    action: 'account.token.revoke',
    operationId: 'revokeToken',
    summary: 'Revoke a token',
    description: 'The token stops working at once and stays in the list.',
    status: 204,
    run: (ctx, { params }) => revokeToken(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/tokens/:id/rotate',
    guard: 'account.write',
    action: 'account.token.rotate',
    operationId: 'rotateToken',
    summary: 'Rotate a token',
    description:
      'Makes a token that takes the place of this one: the same name and bounds, a new id and a new value, told in this answer alone. ' +
      'The old value stops `grace_seconds` after the new one is first used, and after 30 days if that never happens; ' +
      'with 0 it stops at once. Its `expires_at` says when.',
    body: TokenRotation,
    status: 201,
    answer: NewToken,
    addsTo: '/v1/tokens',
    once: ['token'],
    problems: ['conflict', 'precondition_failed'],
    run: (ctx, { params, body }) => rotateToken(ctx, params.id!, body),
  }),
  route({
    method: 'POST',
    path: '/v1/tokens/report',
    guard: 'anyone',
    action: 'account.token.report',
    operationId: 'reportToken',
    summary: 'Report a leaked token',
    description:
      'Whoever finds a token where it does not belong sends its value here: it is revoked at once. The answer is the same whether ' +
      'or not there is such a token. Ten reports a minute are taken from one address.',
    body: TokenReport,
    status: 204,
    problems: ['origin_not_allowed'],
    run: (ctx, { body }) => reportToken(ctx, body.token),
  }),
  {
    path: '/v1/tokens/bulk',
    operationId: 'bulkTokens',
    summary: 'Revoke tokens',
    description: 'Many tokens at once.',
    action: 'account.token.bulk',
    of: 'Token',
    operations: { revoke: 'revokeToken' },
  },
])

export const setupRoutes = area('setup', 'Setup', [
  route({
    method: 'GET',
    path: '/v1/setup',
    guard: 'anyone',
    operationId: 'getSetup',
    summary: 'See whether setup is open',
    description: 'Setup is open until the first user exists.',
    answer: SetupState,
    run: async ctx => ({ open: !(await hasUsers(ctx.hub.read)) }),
  }),
  route({
    method: 'POST',
    path: '/v1/setup',
    guard: 'anyone',
    action: 'account.setup.complete',
    operationId: 'completeSetup',
    summary: 'Make the first user',
    description: 'Makes the owner of the operator’s workspace with the token of the setup link, and signs them in.',
    body: Setup,
    status: 201,
    answer: Session,
    nowhere: true,
    problems: ['setup_closed', 'origin_not_allowed'],
    run: async (ctx, { body, request }) => withCookie(await beginSession(ctx, await completeSetup(ctx, body), request)),
    ...setCookie,
  }),
])

export const signUpRoutes = area('sign-up', 'Sessions', [
  route({
    method: 'GET',
    path: '/v1/sign-up',
    guard: 'anyone',
    operationId: 'getSignUp',
    summary: 'See who may sign up',
    description: 'Whether anyone may make a login and a workspace here, or only who was invited, or nobody.',
    answer: SignUpState,
    run: ctx => signUpState(ctx.hub),
  }),
  route({
    method: 'POST',
    path: '/v1/sign-up',
    guard: 'anyone',
    action: 'account.sign_up.create',
    operationId: 'signUp',
    summary: 'Sign up',
    description:
      'Where sign-up is open: makes a user, and a workspace of theirs on the default plan. Then sign in. The answer is the same ' +
      'where there is such a login already, and nothing is made. Five sign-ups an hour are taken from one address.',
    body: SignUp,
    status: 202,
    answer: SignUpReceipt,
    problems: ['sign_up_closed', 'origin_not_allowed'],
    run: (ctx, { body }) => signUp(ctx, body),
  }),
])
