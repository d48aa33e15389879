import { and, eq, sql } from 'drizzle-orm'
import { sha256Hex } from '../core/crypto'
import type { AuditActor } from '../core/db/tables'
import { prepared } from '../core/db/prepared'
import type { Hub } from '../core/hub'
import { inRanges, parseAddress, parseRange, type AddressRange } from '../core/net/address'
import { Problem } from '../core/problem'
import { fullAccess, expandPermissions, readOnly, type Permissions } from '../core/permissions'
import { permissionsOfRole } from './role-rules'
import { limitsOfPlan } from './plans'
import { tokenRequests, workspaceRequests, type Bucket } from './rate-limits'
import type { PlanLimits } from './limit-table'
import { memberships, plans, sessions, tokens, users, workspaces } from './tables'
import { looksLikeApiToken } from './token-format'

/** The identity and access behind a credential, independent of any single request. */
export interface Caller {
  workspaceId: string
  actor: AuditActor
  permissions: Permissions
  /** Resources that a restricted token can access; null for all. */
  resourceIds: ReadonlySet<string> | null
  operator: boolean
  apiAccess: 'none' | 'read' | 'full'
  limits: PlanLimits
  planId: string
  /** The workspace, if the operator suspended it. */
  suspended: { suspendedAt: number | null; suspensionReason: string | null } | null
  /** Rate limits that every request of the caller counts against. */
  buckets: Bucket[]
  token: {
    id: string
    allowedRanges: AddressRange[]
    /** Whether the first use of this token starts the grace period of the token it replaced. */
    startsGrace: boolean
  } | null
  session: { id: string; userId: string; seenAt: number; expiresAt: number } | null
}

// In case the notification about a change is lost, or the change was made on the command line.
const cacheMs = 1000
const maxCached = 10_000
const caches = new WeakMap<Hub, CallerCache>()

interface CallerCache {
  /** Callers by the hash of their token. */
  known: Map<string, { caller: Caller; until: number }>
  /** Counts the changes, so that what was read before a change isn't cached after it. */
  changes: number
}

function cacheOf(hub: Hub): CallerCache {
  let cache = caches.get(hub)
  if (!cache) caches.set(hub, (cache = { known: new Map(), changes: 0 }))
  return cache
}

/** Whether the caller's credential may be used from this IP address. */
export const isAllowedAddress = ({ token }: Pick<Caller, 'token'>, ip: string): boolean =>
  !token?.allowedRanges.length || inRanges(parseAddress(ip)!, token.allowedRanges)

/** Notifies hubs that tokens, roles, plans, or workspaces have changed. */
const channel = 'callers_changed'

/**
 * Clears the cache of credentials, here and in all other hubs. To be called after every change of tokens, roles, plans, and
 * workspaces, and awaited before the response.
 */
export async function forgetCallers(hub: Hub): Promise<void> {
  clearCache(hub)
  try {
    await hub.store.notify(channel, hub.id)
  } catch (error) {
    hub.log.warn({ err: error }, 'could not notify other hubs of changed credentials; they notice within a second')
  }
}

/** Clears the cache of credentials when another hub has changed them. */
export const watchCallers = (hub: Hub): Promise<void> =>
  hub.store.listen(channel, from => {
    if (from !== hub.id) clearCache(hub)
  })

function clearCache(hub: Hub): void {
  const cache = cacheOf(hub)
  cache.changes++
  cache.known.clear()
}

/**
 * The caller behind an API token.
 * @throws Problem 401 `invalid_token`, `token_expired` or `token_revoked`
 */
export async function callerOfToken(hub: Hub, token: string): Promise<Caller> {
  const now = hub.clock.now()
  const hash = sha256Hex(token)
  const cache = cacheOf(hub)
  const remembered = cache.known.get(hash)
  // A clock that is set back does not extend it.
  if (remembered && remembered.until > now && remembered.until <= now + cacheMs) return remembered.caller
  // The checksum rejects mistyped and made-up tokens without a database query.
  if (!looksLikeApiToken(token))
    throw new Problem('invalid_token', 'This is not a valid API token. Check that you copied all of it.')
  const { changes } = cache

  const [row] = await prepared(hub.read, 'caller-of-token', read =>
    read
      .select({ token: tokens, workspace: workspaces, plan: plans })
      .from(tokens)
      .innerJoin(workspaces, eq(workspaces.id, tokens.workspaceId))
      .innerJoin(plans, eq(plans.id, workspaces.planId))
      .where(eq(tokens.tokenHash, sql.placeholder('hash'))),
  ).execute({ hash })
  if (!row) throw new Problem('invalid_token', 'This token does not exist.')
  if (row.token.revokedAt !== null) throw new Problem('token_revoked', 'This token was revoked.')
  if (row.token.expiresAt !== null && row.token.expiresAt <= now) throw new Problem('token_expired', 'This token has expired.')
  const { token: own } = row
  const limits = limitsOfPlan(row.plan, row.workspace.limitOverrides)
  const caller: Caller = {
    workspaceId: own.workspaceId,
    actor: { type: 'token', id: own.id, name: own.name, hint: own.hint },
    permissions: own.mode === 'full' ? fullAccess : own.mode === 'read_only' ? readOnly : expandPermissions(own.permissions),
    resourceIds: own.resourceIds.length > 0 ? new Set(own.resourceIds) : null,
    operator: own.mode === 'full' && row.workspace.isOperator && own.resourceIds.length === 0,
    apiAccess: row.plan.apiAccess,
    limits,
    planId: row.plan.id,
    suspended: row.workspace.suspendedAt === null ? null : row.workspace,
    buckets: [
      tokenRequests(own.id, limits.requests_per_minute_per_token),
      workspaceRequests(own.workspaceId, limits.requests_per_hour_per_workspace),
    ],
    token: {
      id: own.id,
      allowedRanges: own.allowedCidrs.map(one => parseRange(one)!),
      startsGrace: own.graceSeconds !== null,
    },
    session: null,
  }
  if (cache.changes !== changes) return caller
  if (cache.known.size >= maxCached) cache.known.clear()
  cache.known.set(hash, { caller, until: Math.min(now + cacheMs, own.expiresAt ?? Infinity) })
  return caller
}

// The dashboard makes many small requests, so sessions have their own bucket and don't use up the quota of tokens.
const sessionRequestsPerMinute = 1200

/**
 * The caller behind a session cookie.
 * @param workspace the id from Bailiwick-Workspace, or null for the last used one
 * @throws Problem 401 `session_ended`; 404 if the user is not a member of the named workspace
 */
export async function callerOfSession(hub: Hub, cookie: string, workspace: string | null): Promise<Caller> {
  const now = hub.clock.now()
  const [found] = await prepared(hub.read, 'session-by-hash', read =>
    read
      .select({ session: sessions, user: users })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(eq(sessions.tokenHash, sql.placeholder('hash'))),
  ).execute({ hash: sha256Hex(cookie) })
  if (!found || found.session.expiresAt <= now || found.user.disabledAt !== null)
    throw new Problem('session_ended', 'Your session has ended. Sign in again.')
  const row = await membershipIn(hub, found.user.id, workspace ?? found.session.workspaceId)
  if (!row && workspace !== null) throw new Problem('not_found', 'This workspace does not exist.')
  // The user was removed from their last used workspace while the request was running.
  if (!row) throw new Problem('session_ended', 'You are no longer a member of this workspace. Sign in again.')
  return {
    workspaceId: row.workspace.id,
    actor: { type: 'user', id: found.user.id, name: found.user.name, hint: null },
    permissions: permissionsOfRole[row.membership.role],
    resourceIds: null,
    operator: found.user.isOperator,
    apiAccess: 'full',
    limits: limitsOfPlan(row.plan, row.workspace.limitOverrides),
    planId: row.plan.id,
    suspended: row.workspace.suspendedAt === null ? null : row.workspace,
    buckets: [{ name: 'session', key: found.session.id, quota: sessionRequestsPerMinute, windowSeconds: 60 }],
    token: null,
    session: { id: found.session.id, userId: found.user.id, seenAt: found.session.seenAt, expiresAt: found.session.expiresAt },
  }
}

async function membershipIn(hub: Hub, user: string, workspace: string) {
  const [row] = await prepared(hub.read, 'membership', read =>
    read
      .select({ membership: memberships, workspace: workspaces, plan: plans })
      .from(memberships)
      .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
      .innerJoin(plans, eq(plans.id, workspaces.planId))
      .where(and(eq(memberships.userId, sql.placeholder('user')), eq(memberships.workspaceId, sql.placeholder('workspace')))),
  ).execute({ user, workspace })
  return row
}
