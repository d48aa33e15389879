import { and, eq, sql } from 'drizzle-orm'
import { sha256Hex } from '../core/crypto'
import type { AuditActor } from '../core/db/tables'
import { prepared } from '../core/db/prepared'
import type { Hub } from '../core/hub'
import { inRanges, parseAddress, parseRange, type AddressRange } from '../core/net/address'
import { Problem } from '../core/problem'
import { fullAccess, granted, readOnly, type Permissions } from '../core/permissions'
import { accessOfRole } from './ranks'
import { limitsOfPlan } from './plans'
import { tokenRequests, workspaceRequests, type Bucket } from './rate-limits'
import { memberships, plans, sessions, tokens, users, workspaces, type PlanLimits } from './tables'
import { looksLikeApiToken } from './token-format'

/** Who a credential stands for, before any one request of theirs is looked at. */
export interface Caller {
  workspaceId: string
  actor: AuditActor
  permissions: Permissions
  /** What a narrowed token reaches; null is everything. */
  resourceIds: ReadonlySet<string> | null
  operator: boolean
  apiAccess: 'none' | 'read' | 'full'
  limits: PlanLimits
  planId: string
  /** The workspace, where the operator suspended it. */
  suspended: { suspendedAt: number | null; suspensionReason: string | null } | null
  /** Rate limits that every request of theirs counts against. */
  buckets: Bucket[]
  token: {
    id: string
    allowedRanges: AddressRange[]
    /** Whether its first use starts the end of the token whose place it took. */
    endsAnother: boolean
  } | null
  session: { id: string; userId: string; seenAt: number; expiresAt: number } | null
}

// Revoking takes effect at once in this process and within this time in the others of the same database.
const keptMs = 1000
const mostKept = 10_000
const kept = new WeakMap<Hub, Map<string, { caller: Caller; until: number }>>()

/** Whether the caller's credential may be used from an address. */
export const mayComeFrom = ({ token }: Pick<Caller, 'token'>, ip: string): boolean =>
  !token?.allowedRanges.length || inRanges(parseAddress(ip)!, token.allowedRanges)

/** Forgets what is known of all credentials: called by every change of tokens, roles, plans and workspaces. */
export const forgetCallers = (hub: Hub): void => {
  kept.get(hub)?.clear()
}

/**
 * The caller behind an API token.
 * @throws Problem 401 `invalid_token`, `token_expired` or `token_revoked`
 */
export async function callerOfToken(hub: Hub, token: string): Promise<Caller> {
  // The checksum refuses what was mistyped or made up without asking the database.
  if (!looksLikeApiToken(token))
    throw new Problem('invalid_token', 'The token is not one of this service; check that it was copied whole.')
  const now = hub.clock.now()
  const hash = sha256Hex(token)
  let known = kept.get(hub)
  if (!known) kept.set(hub, (known = new Map()))
  const remembered = known.get(hash)
  if (remembered && remembered.until > now) return remembered.caller

  const [row] = await prepared(hub.read, 'caller-of-token', read =>
    read
      .select({ token: tokens, workspace: workspaces, plan: plans })
      .from(tokens)
      .innerJoin(workspaces, eq(workspaces.id, tokens.workspaceId))
      .innerJoin(plans, eq(plans.id, workspaces.planId))
      .where(eq(tokens.tokenHash, sql.placeholder('hash'))),
  ).execute({ hash })
  if (!row) throw new Problem('invalid_token', 'There is no such token.')
  if (row.token.revokedAt !== null) throw new Problem('token_revoked', 'The token was revoked.')
  if (row.token.expiresAt !== null && row.token.expiresAt <= now) throw new Problem('token_expired', 'The token has expired.')
  const { token: own } = row
  const limits = { ...limitsOfPlan(row.plan), ...row.workspace.limitOverrides }
  const caller: Caller = {
    workspaceId: own.workspaceId,
    actor: { type: 'token', id: own.id, name: own.name, hint: own.hint },
    permissions: own.mode === 'full' ? fullAccess : own.mode === 'read_only' ? readOnly : granted(own.permissions),
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
      endsAnother: own.graceSeconds !== null,
    },
    session: null,
  }
  if (known.size >= mostKept) known.clear()
  known.set(hash, { caller, until: Math.min(now + keptMs, own.expiresAt ?? Infinity) })
  return caller
}

// The dashboard makes many small requests: it has a bucket of its own, so that it never eats a token's.
const sessionRequestsPerMinute = 1200

/**
 * The caller behind a session cookie.
 * @param workspace the id named by Bailiwick-Workspace, or null for the one last used
 * @throws Problem 401 `session_ended`; 404 when the user is no member of the named workspace
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
    throw new Problem('session_ended', 'The session has ended; sign in again.')
  const row = await membershipIn(hub, found.user.id, workspace ?? found.session.workspaceId)
  if (!row && workspace !== null) throw new Problem('not_found', 'There is no such workspace.')
  // They were removed from where they were last, in the very moment of a request.
  if (!row) throw new Problem('session_ended', 'You no longer belong to this workspace; sign in again.')
  return {
    workspaceId: row.workspace.id,
    actor: { type: 'user', id: found.user.id, name: found.user.name, hint: null },
    permissions: accessOfRole[row.membership.role],
    resourceIds: null,
    operator: found.user.isOperator,
    apiAccess: 'full',
    limits: { ...limitsOfPlan(row.plan), ...row.workspace.limitOverrides },
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
