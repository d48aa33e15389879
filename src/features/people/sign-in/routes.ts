import { sessionCookieHeader, sessionIdOf } from '../../../access/sessions'
import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import { revokeOtherSessions, revokeSession, getOwnSession, listOwnSessions, ownSessionListing } from './own-sessions'
import { currentSession, signOut, switchWorkspace, setCookie, withCookie } from './sessions'
import { Session, OwnSessionList, CurrentSession, SessionPatch, SignInInput, SignInMethods } from './shapes'
import { signIn, signInMethods } from './sign-in'

const ofUser = { guard: 'session', whileSuspended: true } as const

export const sessionRoutes = area('sessions', 'Sessions', [
  route({
    method: 'GET',
    path: '/v1/sessions/methods',
    guard: 'anyone',
    operationId: 'getSignInMethods',
    summary: 'List sign-in methods',
    description: 'Returns the sign-in methods of this hub, for the sign-in page.',
    response: SignInMethods,
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
      'Starts a dashboard session with an email address and a password; the response sets its cookie. If the user has a second ' +
      'factor, the response is 401 `second_factor_required` with `methods` and, for passkeys, `passkey_options`: repeat the ' +
      'request, with the email address and password, and with a `code` or a `passkey` assertion for these options.',
    body: SignInInput,
    status: 201,
    response: CurrentSession,
    noLocation: true,
    problems: ['invalid_login', 'second_factor_required', 'invalid_code', 'invalid_passkey', 'passkeys_unavailable'],
    run: async (ctx, { body, request }) => withCookie(await signIn(ctx, body, request)),
    ...setCookie,
  }),
  route({
    method: 'DELETE',
    path: '/v1/sessions',
    ...ofUser,
    action: 'account.session.delete',
    operationId: 'signOut',
    summary: 'Sign out',
    description: 'Ends the current session.',
    status: 204,
    run: ctx => signOut(ctx, sessionIdOf(ctx)),
    headers: hub => ({ 'Set-Cookie': sessionCookieHeader(hub, '', 0) }),
  }),
  ...crud({
    type: 'session',
    response: Session,
    reads: ofUser,
    writes: ofUser,
    list: {
      summary: 'List your sessions',
      description: 'Lists the sessions of the signed-in user.',
      listing: ownSessionListing,
      response: OwnSessionList,
      run: listOwnSessions,
    },
    get: { description: 'Returns a session of the signed-in user.', run: getOwnSession },
    delete: {
      operationId: 'revokeSession',
      summary: 'Revoke a session',
      description:
        'Ends a session of the signed-in user, which can be the current one. Its browser is signed out with its next request.',
      isUnversioned: true,
      run: revokeSession,
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/sessions/others',
    ...ofUser,
    action: 'account.session.delete',
    operationId: 'revokeOtherSessions',
    summary: 'Revoke your other sessions',
    description: 'Ends all sessions of the signed-in user except the current one. API tokens keep working.',
    status: 204,
    run: ctx => revokeOtherSessions(ctx),
  }),
  route({
    method: 'GET',
    path: '/v1/sessions/current',
    ...ofUser,
    operationId: 'getCurrentSession',
    summary: 'Get the current session',
    description:
      'Returns the current session with the user, their workspaces, the default workspace of the session, and the user’s ' +
      'permissions in the workspace of this request.',
    response: CurrentSession,
    run: ctx => currentSession(ctx),
  }),
  route({
    method: 'PATCH',
    path: '/v1/sessions/current',
    ...ofUser,
    action: 'account.session.switch',
    operationId: 'switchWorkspace',
    summary: 'Switch workspaces',
    description:
      'Changes the workspace used by requests of this session that do not send Bailiwick-Workspace. If you are not a member of the workspace, the response is 404.',
    body: SessionPatch,
    response: CurrentSession,
    run: (ctx, { body }) => switchWorkspace(ctx, body.workspace_id),
  }),
])
