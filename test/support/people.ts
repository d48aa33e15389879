import type { Role } from '../../src/access/tables'
import { addUser, type User } from '../../src/features/people/users'
import { jobContext, systemActor } from '../../src/core/change'
import type { Hub } from '../../src/core/hub'
import { callerWith, type ApiResponse, type World } from './world'

/** The password of every user created here. */
export const password = 'correct horse battery'
export const origin = 'http://localhost:8484'

/** A user in a workspace, named by the part of the email address before the @. */
export const addPerson = (hub: Hub, workspaceId: string, role: Role, email: string, isOperator = false): Promise<User> =>
  addUser(
    hub,
    'account.user.create',
    { email, name: email.split('@')[0]!, password, role, workspaceId, isOperator },
    { actor: systemActor('test'), context: jobContext },
  )

export type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<ApiResponse>

export const cookieOf = (response: ApiResponse): string => response.headers.get('set-cookie')!.split(';')[0]!

/** Calls as a browser with this cookie; writes come from the page. */
export function browser({ app }: World, cookie: string): Call {
  const caller = callerWith(app, '', '')
  return (method, path, body, headers = {}) =>
    caller.call(method, path, body, { cookie, ...(method !== 'GET' && { origin, 'bailiwick-csrf': '1' }), ...headers })
}

/** Signs in as a user created here. */
export async function signedIn(w: World, email: string): Promise<Call> {
  const response = await w.anonymous.call('POST', '/v1/sessions', { email, password })
  if (response.status !== 201) throw new Error(`${email} was answered ${response.status}.`)
  return browser(w, cookieOf(response))
}

/** A signed-in user of a workspace. */
export async function person(w: World, workspaceId: string, role: Role, email: string): Promise<{ user: User; call: Call }> {
  const user = await addPerson(w.hub, workspaceId, role, email)
  return { user, call: await signedIn(w, email) }
}
