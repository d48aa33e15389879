import type { Hub } from '../core/hub'
import { sessionCookieHeader } from './cookies'
import type { SessionView } from './session-shapes'
import { sessionSeconds, type BegunSession } from './sessions'

// The cookie travels beside the body: it is a header of the answer and no member of it.
const cookies = new WeakMap<object, string>()

/** The session as it is answered, with its cookie remembered for `setCookie`. */
export const withCookie = ({ cookie, view }: BegunSession): SessionView => {
  cookies.set(view, cookie)
  return view
}

/** For a route that answers with a session: sets the cookie of one that was just begun. */
export const setCookie = {
  headers(hub: Hub, result: unknown): Record<string, string> {
    const cookie = cookies.get(result as object)
    return cookie === undefined ? {} : { 'Set-Cookie': sessionCookieHeader(hub, cookie, sessionSeconds) }
  },
}
