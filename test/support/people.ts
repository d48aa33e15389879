import type { Role } from '../../src/access/tables'
import { addUser, type User } from '../../src/access/users'
import { jobContext, systemActor } from '../../src/core/change'
import type { Hub } from '../../src/core/hub'
import { callerWith, type Answer, type World } from './world'

/** The password of everybody who is made here. */
export const password = 'correct horse battery'
export const origin = 'http://localhost:8484'

/** A person in a workspace, named by the part of the e-mail before the @. */
export const addPerson = (hub: Hub, workspaceId: string, role: Role, email: string, isOperator = false): Promise<User> =>
  addUser(
    hub,
    'account.user.create',
    { email, name: email.split('@')[0]!, password, role, workspaceId, isOperator },
    { actor: systemActor('test'), context: jobContext },
  )

export type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

export const cookieOf = (answer: Answer): string => answer.headers.get('set-cookie')!.split(';')[0]!

/** Calls as a browser with this cookie; writes come from the page. */
export function browser({ app }: World, cookie: string): Call {
  const caller = callerWith(app, '', '')
  return (method, path, body, headers = {}) =>
    caller.call(method, path, body, { cookie, ...(method !== 'GET' && { origin, 'bailiwick-csrf': '1' }), ...headers })
}

/** Signs in as a person made here. */
export async function signedIn(w: World, email: string): Promise<Call> {
  const answer = await w.stranger.call('POST', '/v1/sessions', { email, password })
  if (answer.status !== 201) throw new Error(`${email} was answered ${answer.status}.`)
  return browser(w, cookieOf(answer))
}

/** A person of a workspace who is signed in. */
export async function person(w: World, workspaceId: string, role: Role, email: string): Promise<{ user: User; call: Call }> {
  const user = await addPerson(w.hub, workspaceId, role, email)
  return { user, call: await signedIn(w, email) }
}
