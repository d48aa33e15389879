import { listQuery } from '../core/list'
import { notFound } from '../core/problem'
import { sessionCookieHeader } from './cookies'
import { endOtherSessions, endSession, getOwnSession, listOwnSessions, ownSessionListing } from './own-sessions'
import { area, route } from './route'
import { setCookie, withCookie } from './session-cookie'
import { OwnSession, OwnSessionList, Session, SessionPatch, SignIn, SignInMethods } from './session-shapes'
import { currentSession, signOut, switchWorkspace } from './sessions'
import { signIn } from './sign-in'
import { signInMethods } from './sign-in-methods'

export const sessionRoutes = area('sessions', 'Sessions', [
  route({
    method: 'GET',
    path: '/v1/sessions/methods',
    guard: 'anyone',
    operationId: 'getSignInMethods',
    summary: 'See how to sign in',
    description: 'What this hub offers to whoever wants to sign in, for the page that does it.',
    answer: SignInMethods,
    run: ctx => signInMethods(ctx.hub),
  }),
  route({
    method: 'POST',
    path: '/v1/sessions',
    guard: 'anyone',
    action: 'account.session.create',
    operationId: 'signIn',
    summary: 'Sign in',
    description:
      'Begins a dashboard session by e-mail and password; the answer sets its cookie. Where the user has a second factor, the right ' +
      'password alone is 401 `second_factor_required`, with `methods`: send all of it again with a `code`, or with a `passkey` that ' +
      'answers `passkey_options`.',
    body: SignIn,
    status: 201,
    answer: Session,
    nowhere: true,
    problems: [
      'invalid_login',
      'second_factor_required',
      'invalid_code',
      'invalid_passkey',
      'passkeys_unavailable',
      'origin_not_allowed',
    ],
    run: async (ctx, { body, request }) => withCookie(await signIn(ctx, body, request)),
    ...setCookie,
  }),
  route({
    method: 'DELETE',
    path: '/v1/sessions',
    guard: 'signed_in',
    whileSuspended: true,
    action: 'account.session.delete',
    operationId: 'signOut',
    summary: 'Sign out',
    description: 'Ends the session of the request.',
    status: 204,
    async run(ctx) {
      if (!ctx.sessionId) throw notFound('session')
      await signOut(ctx, ctx.sessionId)
    },
    headers: hub => ({ 'Set-Cookie': sessionCookieHeader(hub, '', 0) }),
  }),
  route({
    method: 'GET',
    path: '/v1/sessions',
    guard: 'signed_in',
    whileSuspended: true,
    operationId: 'listSessions',
    summary: 'List one’s sessions',
    description: 'Where the user behind the session is signed in. A token has no sessions.',
    query: listQuery(ownSessionListing),
    answer: OwnSessionList,
    run: (ctx, { query }) => listOwnSessions(ctx, query),
  }),
  route({
    method: 'DELETE',
    path: '/v1/sessions/others',
    guard: 'signed_in',
    whileSuspended: true,
    action: 'account.session.delete',
    operationId: 'endOtherSessions',
    summary: 'End one’s other sessions',
    description: 'Ends every session of the user but the one that asks. Nothing else of them changes; API tokens go on working.',
    status: 204,
    run: ctx => endOtherSessions(ctx),
  }),
  route({
    method: 'GET',
    path: '/v1/sessions/:id',
    guard: 'signed_in',
    whileSuspended: true,
    operationId: 'getOwnSession',
    summary: 'Read one of one’s sessions',
    description: 'A session of the user behind the session that asks.',
    answer: OwnSession,
    run: (ctx, { params }) => getOwnSession(ctx, params.id!),
  }),
  route({
    method: 'DELETE',
    path: '/v1/sessions/:id',
    guard: 'signed_in',
    whileSuspended: true,
    action: 'account.session.delete',
    operationId: 'endSession',
    summary: 'End one of one’s sessions',
    description: 'The browser that has it is signed out with its next request.',
    status: 204,
    run: (ctx, { params }) => endSession(ctx, params.id!),
  }),
  route({
    method: 'GET',
    path: '/v1/sessions/current',
    guard: 'signed_in',
    whileSuspended: true,
    operationId: 'getSession',
    summary: 'Read the session',
    description:
      'The session of the request, with the user, the workspaces they belong to, the one that is meant when none is named, and what ' +
      'they may do in the one that this request means.',
    answer: Session,
    run: ctx => currentSession(ctx),
  }),
  route({
    method: 'PATCH',
    path: '/v1/sessions/current',
    guard: 'signed_in',
    whileSuspended: true,
    action: 'account.session.switch',
    operationId: 'switchWorkspace',
    summary: 'Switch to another workspace',
    description: 'Makes a workspace of the user the one that requests without Bailiwick-Workspace mean.',
    body: SessionPatch,
    answer: Session,
    run: (ctx, { body }) => switchWorkspace(ctx, body.workspace_id),
  }),
])
