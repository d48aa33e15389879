import { area, route } from '../../../api/route'
import { createSession, setCookie, withCookie } from '../sign-in/sessions'
import { CurrentSession } from '../sign-in/shapes'
import { hasUsers } from '../users'
import { completeSetup } from './setup'
import { SignUpInput, SignUpReceipt, SignUpStatus, SetupInput, SetupStatus } from './shapes'
import { signUp, signUpState } from './sign-up'

export const setupRoutes = area('setup', 'Setup', [
  route({
    method: 'GET',
    path: '/v1/setup',
    guard: 'anyone',
    operationId: 'getSetupStatus',
    summary: 'Get the setup status',
    description: 'Returns whether setup is open. It is open until the first user is created.',
    response: SetupStatus,
    run: async ctx => ({ open: !(await hasUsers(ctx.hub.read)) }),
  }),
  route({
    method: 'POST',
    path: '/v1/setup',
    guard: 'anyone',
    action: 'account.setup.complete',
    operationId: 'completeSetup',
    summary: 'Complete setup',
    description:
      'Creates the first user with the setup token from the setup link, and signs them in. The user is the owner of the operator’s workspace.',
    body: SetupInput,
    status: 201,
    response: CurrentSession,
    noLocation: true,
    problems: ['setup_closed'],
    run: async (ctx, { body, request }) => withCookie(await createSession(ctx, await completeSetup(ctx, body), request)),
    ...setCookie,
  }),
])

export const signUpRoutes = area('sign-up', 'Sessions', [
  route({
    method: 'GET',
    path: '/v1/sign-up',
    guard: 'anyone',
    operationId: 'getSignUpStatus',
    summary: 'Get the sign-up status',
    description: 'Returns whether sign-up is open to anyone, to invited people only, or closed.',
    response: SignUpStatus,
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
      'Creates a user and a workspace of their own on the default plan, if sign-up is open. Does not sign in. The response is ' +
      'the same if the email address already has an account, in which case nothing is created. Limited to 5 ' +
      'sign-ups an hour per IP address, and 200 an hour in total.',
    body: SignUpInput,
    status: 202,
    response: SignUpReceipt,
    problems: ['sign_up_closed'],
    run: (ctx, { body }) => signUp(ctx, body),
  }),
])
