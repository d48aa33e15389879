import { record } from '../core/change'
import type { Hub } from '../core/hub'
import { isId } from '../core/ids'
import { Problem, tryAgain } from '../core/problem'
import { callerOfSession, callerOfToken, mayComeFrom, type Caller } from './callers'
import { contextOf } from './context'
import { readSessionCookie, sessionCookieHeader } from './cookies'
import { noteUse } from './last-use'
import { limiterOf } from './limiter'
import { failedCredentials, noCredentials, type Bucket, type RateVerdict } from './rate-limits'
import type { Route } from './route'
import { sessionSeconds, touchSession } from './sessions'
import { tokenPattern } from './token-format'

// A session's last use is written, and its cookie renewed, at most this often.
const sessionTouchMs = 60_000

/**
 * Who asks: the holder of the Bearer token or, without one, the user of the session cookie. Null where nobody needs to be known.
 * @param headers of the answer: a session whose end was moved has its cookie sent again, or the browser would drop it first
 * @throws Problem 400 `token_in_query`, 401, 404 for another workspace than the user's, 429
 */
export async function authenticate(
  hub: Hub,
  spec: Route,
  request: Request,
  from: { id: string; ip: string },
  headers: Record<string, string>,
): Promise<Caller | null> {
  await refuseTokenInAddress(hub, spec, request, from)
  if (spec.session === 'welcome') return await visitor(hub, spec, request, headers)
  if (spec.guard === 'anyone' || spec.guard === 'ingest') return null
  try {
    if (request.headers.has('authorization')) {
      const bearer = bearerOf(request)
      if (bearer === undefined)
        throw new Problem('invalid_token', 'The Authorization header must have the form: Bearer bw_live_…')
      const caller = await callerOfToken(hub, bearer)
      // Refused for where it came from, it was not used: the last use stays that of its holder.
      if (mayComeFrom(caller, from.ip)) noteUse(hub, caller.token!.id, from.ip)
      return caller
    }
    const cookie = readSessionCookie(hub, request.headers.get('cookie'))
    if (cookie !== null) return await signedIn(hub, spec, request, cookie, headers)
  } catch (error) {
    if (error instanceof Problem && error.status === 401) {
      // Counted after the check, so that someone who guesses cannot shut out a valid token behind the same address.
      countRefusal(hub, failedCredentials(from.ip, hub.config.failedCredentialsPerMinute))
      throw withChallenge(error)
    }
    throw error
  }
  countRefusal(hub, noCredentials(from.ip, hub.config.anonymousPerMinute))
  throw withChallenge(new Problem('unauthenticated', 'Send a token as: Authorization: Bearer bw_live_…'))
}

/**
 * The caller once more, after time has passed: a token may have been revoked and a person removed meanwhile. A session is asked about
 * the workspace it was in.
 * @throws Problem 401, 404 where the user is no member any more
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

/** The user of the session cookie where it stands; a session that has ended is none. */
async function visitor(hub: Hub, spec: Route, request: Request, headers: Record<string, string>): Promise<Caller | null> {
  const cookie = readSessionCookie(hub, request.headers.get('cookie'))
  if (cookie === null) return null
  try {
    return await signedIn(hub, spec, request, cookie, headers)
  } catch (error) {
    if (error instanceof Problem && error.code === 'session_ended') return null
    throw error
  }
}

/** A request over its limit, as the problem that names the policies. */
export const limitReached = (verdict: RateVerdict): Problem =>
  tryAgain(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated })

async function signedIn(
  hub: Hub,
  spec: Route,
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

/** The workspace that the request names, or null for the one last used. What is none in the query, the query's schema refuses. */
function namedWorkspace(spec: Route, request: Request): string | null {
  const inQuery = spec.workspaceInQuery ? new URL(request.url).searchParams.get('workspace') : null
  return request.headers.get('bailiwick-workspace') ?? (inQuery !== null && isId(inQuery, 'ws') ? inQuery : null)
}

/**
 * A token in an address ends up in histories and proxies' logs: it is refused even where it would be good. Whose it is has to
 * learn that it leaked, so each time is counted like a wrong credential, and one that works is entered in their audit log.
 */
async function refuseTokenInAddress(hub: Hub, spec: Route, request: Request, from: { id: string; ip: string }): Promise<void> {
  const address = decoded(request.url)
  if (!address.includes('bw_live_')) return
  countRefusal(hub, failedCredentials(from.ip, hub.config.failedCredentialsPerMinute))
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
          reason: 'The token was sent in the address of a request, where others can read it. Revoke it.',
        },
      ],
    }))
  }
  throw new Problem(
    'token_in_query',
    'A token does not belong in the address. Send it as: Authorization: Bearer bw_live_… and revoke this one.',
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

function decoded(address: string): string {
  try {
    return decodeURIComponent(address)
  } catch {
    return address
  }
}

function countRefusal(hub: Hub, bucket: Bucket): void {
  const verdict = limiterOf(hub).take([bucket], hub.clock.now())
  if (!verdict.allowed) throw limitReached(verdict)
}

function withChallenge(problem: Problem): Problem {
  const error = problem.code === 'unauthenticated' ? '' : ', error="invalid_token"'
  return new Problem(problem.code, problem.detail, { headers: { 'WWW-Authenticate': `Bearer realm="bailiwick"${error}` } })
}
