import { changePassword } from './own-password'
import { updateOwnUser } from './own-user'
import { area, route } from './route'
import { signedInUser, userView } from './sessions'
import { PasswordChange, User, UserPatch } from './user-shapes'

export const userRoutes = area('users', 'Sessions', [
  route({
    method: 'GET',
    path: '/v1/users/me',
    guard: 'signed_in',
    whileSuspended: true,
    operationId: 'getOwnUser',
    summary: 'Read oneself',
    description: 'The user behind the session.',
    answer: User,
    run: async ctx => userView(ctx.hub, await signedInUser(ctx)),
  }),
  route({
    method: 'PATCH',
    path: '/v1/users/me',
    guard: 'signed_in',
    whileSuspended: true,
    action: 'account.user.update',
    operationId: 'updateOwnUser',
    summary: 'Edit oneself',
    description:
      'Changes name, e-mail and preferences of the user behind the session. Another e-mail is another login, and takes the current ' +
      'password; a wrong one counts like a wrong login.',
    body: UserPatch,
    answer: User,
    problems: ['already_exists', 'precondition_failed', 'rate_limited'],
    run: (ctx, { body }) => updateOwnUser(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/v1/users/me/password',
    guard: 'signed_in',
    action: 'account.user.set_password',
    operationId: 'changeOwnPassword',
    summary: 'Change one’s password',
    description:
      'Gives the user behind the session another password. Their other sessions end; API tokens go on working. A wrong current ' +
      'password counts like a wrong login.',
    body: PasswordChange,
    status: 204,
    problems: ['rate_limited'],
    run: (ctx, { body }) => changePassword(ctx, body),
  }),
])
