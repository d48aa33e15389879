import { record } from '../core/change'
import type { Hub } from '../core/hub'
import { isId } from '../core/ids'
import { Problem } from '../core/problem'
import { callerOfSession, callerOfToken, isAllowedAddress, type Caller } from './callers'
import { contextOf } from './context'
import type { Guarded } from './guard'
import { countRequest } from './limiter'
import { failedCredentials, noCredentials } from './rate-limits'
import { readSessionCookie, sessionCookieHeader, sessionSeconds, touchSession } from './sessions'
import { tokenPattern } from './token-format'
import { recordTokenUse } from './token-use'

// A session's last use is stored, and its cookie renewed, at most this often.
const sessionTouchMs = 60_000

/**
 * Returns the caller: the holder of the Bearer token or, without one, the user of the session cookie. Null if the route is
 * public.
 * @param headers of the response. If the session is extended, its cookie is sent again, or the browser would drop it too early.
 * @throws Problem 400 `token_in_query`, 401, 404 if the user is not a member of the named workspace, 429
 */
export async function authenticate(
  hub: Hub,
  spec: Guarded,
  request: Request,
  from: { id: string; ip: string },
  headers: Record<string, string>,
): Promise<Caller | null> {
  if (mayContainToken(request.url)) await refuseTokenInUrl(hub, spec, request, from)
  if (spec.session === 'optional') return await optionalSession(hub, spec, request, headers)
  if (spec.guard === 'anyone' || spec.guard === 'ingest') return null
  try {
    if (request.headers.has('authorization')) {
      const bearer = bearerOf(request)
      if (bearer === undefined)
        throw new Problem('invalid_token', 'The Authorization header must have the form: Bearer bw_live_…')
      const caller = await callerOfToken(hub, bearer)
      // A request from an address that is not allowed does not count as a use of the token.
      if (isAllowedAddress(caller, from.ip)) recordTokenUse(hub, caller.token!.id, from.ip)
      return caller
    }
    const cookie = readSessionCookie(hub, request.headers.get('cookie'))
    if (cookie !== null) return await signedIn(hub, spec, request, cookie, headers)
  } catch (error) {
    if (error instanceof Problem && error.status === 401) {
      // Counted after the check, so that guessing cannot block a valid token behind the same IP address.
      countRequest(hub, [failedCredentials(from.ip, hub.config.failedCredentialsPerMinute)])
      throw withChallenge(error)
    }
    throw error
  }
  countRequest(hub, [noCredentials(from.ip, hub.config.anonymousPerMinute)])
  const hint = spec.guard === 'session' ? `Sign in at ${hub.baseUrl}.` : 'Send a token as: Authorization: Bearer bw_live_…'
  throw withChallenge(new Problem('unauthenticated', hint))
}

/**
 * Authenticates the caller again after a wait: the token may have been revoked or the person removed in the meantime.
 * A session is checked against the workspace it was in.
 * @throws Problem 401, 404 if the user is no longer a member
 */
export async function authenticateAgain(hub: Hub, request: Request, { token, workspaceId }: Caller): Promise<Caller> {
  try {
    return token
      ? await callerOfToken(hub, bearerOf(request)!)
      : await callerOfSession(hub, readSessionCookie(hub, request.headers.get('cookie')) ?? '', workspaceId)
  } catch (error) {
    throw error instanceof Problem && error.status === 401 ? withChallenge(error) : error
  }
}

const bearerOf = (request: Request): string | undefined =>
  /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]

/** The user of the session cookie. A session that has ended is treated as no session. */
async function optionalSession(
  hub: Hub,
  spec: Guarded,
  request: Request,
  headers: Record<string, string>,
): Promise<Caller | null> {
  const cookie = readSessionCookie(hub, request.headers.get('cookie'))
  if (cookie === null) return null
  try {
    return await signedIn(hub, spec, request, cookie, headers)
  } catch (error) {
    if (error instanceof Problem && error.code === 'session_ended') return null
    throw error
  }
}

async function signedIn(
  hub: Hub,
  spec: Guarded,
  request: Request,
  cookie: string,
  headers: Record<string, string>,
): Promise<Caller> {
  const caller = await callerOfSession(hub, cookie, namedWorkspace(spec, request))
  if (caller.session!.seenAt < hub.clock.now() - sessionTouchMs) {
    await touchSession(hub, caller.session!, caller.workspaceId)
    headers['Set-Cookie'] = sessionCookieHeader(hub, cookie, sessionSeconds)
  }
  return caller
}

/** The workspace that the request names, or null for the last used one. The query schema rejects malformed ids. */
function namedWorkspace(spec: Guarded, request: Request): string | null {
  const inQuery = spec.workspaceInQuery ? new URL(request.url).searchParams.get('workspace') : null
  return request.headers.get('bailiwick-workspace') ?? (inQuery !== null && isId(inQuery, 'ws') ? inQuery : null)
}

/**
 * A token in a URL ends up in browser histories and proxy logs, so it is refused even if it is valid. Each attempt counts as a
 * failed credential, and a valid token gets an audit event, so that its owner learns of the leak.
 */
async function refuseTokenInUrl(hub: Hub, spec: Guarded, request: Request, from: { id: string; ip: string }): Promise<void> {
  const address = decoded(request.url)
  if (!address.includes('bw_live_')) return
  countRequest(hub, [failedCredentials(from.ip, hub.config.failedCredentialsPerMinute)])
  const token = tokenPattern.exec(address)?.[0]
  const owner = token ? await ownerOf(hub, token) : null
  if (owner) {
    await record(hub, async () => ({
      result: undefined,
      audits: [
        {
          workspaceId: owner.workspaceId,
          action: 'account.token.use',
          outcome: 'denied' as const,
          actor: owner.actor,
          context: contextOf(request, from.id, from.ip, null, spec.guard),
          targets: [{ type: 'token', id: owner.actor.id, name: owner.actor.name }],
          reason: 'The token was sent in the URL of a request, where others can read it. Revoke it.',
        },
      ],
    }))
  }
  throw new Problem(
    'token_in_query',
    'A token must not be sent in the URL. Send it as: Authorization: Bearer bw_live_… and revoke this one.',
  )
}

async function ownerOf(hub: Hub, token: string): Promise<Caller | null> {
  try {
    return await callerOfToken(hub, token)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

/** Whether a URL contains a token, possibly with encoded characters. */
const mayContainToken = (url: string): boolean => url.includes('%') || url.includes('bw_live_')

function decoded(address: string): string {
  try {
    return decodeURIComponent(address)
  } catch {
    return address
  }
}

/** Adds the challenge that a 401 needs (RFC 9110 section 11.6.1). */
export function withChallenge(problem: Problem): Problem {
  const error = problem.code === 'unauthenticated' ? '' : ', error="invalid_token"'
  return new Problem(problem.code, problem.detail, { headers: { 'WWW-Authenticate': `Bearer realm="bailiwick"${error}` } })
}
