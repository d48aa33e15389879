import { eq, and } from 'drizzle-orm'
import { record } from '../core/change'
import type { Ctx } from '../core/ctx'
import type { Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { Problem } from '../core/problem'
import { sessions, memberships } from './tables'

/** A session ends after this time without a request. */
export const sessionSeconds = 30 * 24 * 3600

/** Refuses a token where only a signed-in user can act. */
export const sessionRequired = (hub: Hub): Problem =>
  new Problem('session_required', `An API token can’t do this, because it does not belong to a user. Sign in at ${hub.baseUrl}.`)

/** The id of the caller's session. @throws Problem 403 `session_required` */
export function sessionIdOf({ hub, sessionId }: Ctx): string {
  if (sessionId === null) throw sessionRequired(hub)
  return sessionId
}

/** Records that a session was used, which extends it. Called at most once a minute per session. */
export async function touchSession(hub: Hub, session: { id: string; userId: string }, workspaceId: string): Promise<void> {
  const now = hub.clock.now()
  await record(hub, async tx => {
    await tx
      .update(sessions)
      .set({ seenAt: now, expiresAt: now + sessionSeconds * 1000, workspaceId })
      .where(eq(sessions.id, session.id))
    await recordSeen(tx, session.userId, workspaceId, now)
    return { result: undefined }
  })
}

export async function recordSeen(tx: Tx, userId: string, workspaceId: string, now: number): Promise<void> {
  await tx
    .update(memberships)
    .set({ seenAt: now })
    .where(and(eq(memberships.userId, userId), eq(memberships.workspaceId, workspaceId)))
}

/**
 * Name of the session cookie. Over HTTPS it has the `__Host-` prefix, which makes browsers bind it to this origin
 * (RFC 6265bis section 4.1.3.2). Browsers refuse the prefix over plain HTTP, and a hub on a LAN must work without TLS.
 */
const sessionCookie = (hub: Hub): string => (isSecureOrigin(hub) ? '__Host-bailiwick' : 'bailiwick')

/** The Set-Cookie value that starts a session of `seconds`, or ends it if the value is empty and `seconds` is 0. */
export function sessionCookieHeader(hub: Hub, value: string, seconds: number): string {
  return `${sessionCookie(hub)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${isSecureOrigin(hub) ? '; Secure' : ''}`
}

/** The session cookie's value in a Cookie header, or null. */
export const readSessionCookie = (hub: Hub, header: string | null): string | null => readCookie(sessionCookie(hub), header)

/** The value of a cookie in a Cookie header, or null. */
export function readCookie(name: string, header: string | null): string | null {
  if (!header) return null
  for (const part of header.split(';')) {
    const pair = part.trim()
    if (pair.startsWith(`${name}=`)) return pair.slice(name.length + 1) || null
  }
  return null
}

/** Whether browsers reach the hub over HTTPS, and so accept cookies that are bound to its origin. */
export const isSecureOrigin = (hub: Hub): boolean => hub.baseUrl.startsWith('https:')
