import { area, route } from '../../../api/route'
import { userView } from '../user-view'
import { signedInUser } from '../users'
import { updateProfile, changePassword } from './profile'
import { PasswordChange, User, UserPatch } from './shapes'

export const userRoutes = area('users', 'Sessions', [
  route({
    method: 'GET',
    path: '/v1/users/me',
    guard: 'session',
    whileSuspended: true,
    operationId: 'getProfile',
    summary: 'Get your profile',
    description: 'Returns the signed-in user.',
    response: User,
    run: async ctx => userView(ctx.hub, await signedInUser(ctx)),
  }),
  route({
    method: 'PATCH',
    path: '/v1/users/me',
    guard: 'session',
    whileSuspended: true,
    action: 'account.user.update',
    operationId: 'updateProfile',
    summary: 'Update your profile',
    description:
      'Updates the name, email address, and preferences of the signed-in user. Changing the email address requires the current ' +
      'password; a wrong one returns 422, and counts as a failed sign-in. An email address that another user has returns 409 `already_exists`. Limited to ' +
      '5 attempts to change the email address a minute.',
    body: UserPatch,
    response: User,
    problems: ['already_exists', 'precondition_failed', 'rate_limited'],
    run: (ctx, { body }) => updateProfile(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/v1/users/me/password',
    guard: 'session',
    whileSuspended: true,
    action: 'account.user.set_password',
    operationId: 'changePassword',
    summary: 'Change your password',
    description:
      'Changes the password of the signed-in user. Their other sessions end; API tokens keep working. A wrong current password ' +
      'returns 422, and counts as a failed sign-in.',
    body: PasswordChange,
    status: 204,
    problems: ['rate_limited'],
    run: (ctx, { body }) => changePassword(ctx, body),
  }),
])
