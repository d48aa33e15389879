import { inArray, eq } from 'drizzle-orm'
import { target } from '../core/audit'
import { editableView } from '../core/members'
import { record } from '../core/change'
import type { AuditDraft } from '../core/change-result'
import { instant } from '../core/clock'
import { forUpdate } from '../core/db/dialect'
import type { AuditContext } from '../core/db/tables'
import type { Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { saveRow } from '../core/rows'
import { rowsOf } from '../registry'
import { type Caller, forgetCallers } from './callers'
import { tokens } from './tables'

export type TokenRow = typeof tokens.$inferSelect

export const tokenRows = rowsOf('token', tokens)

interface Use {
  at: number
  ip: string
}
const pendingUses = new WeakMap<Hub, Map<string, Use>>()

/** Records that a token was used. Written to the database every minute and at shutdown. */
export function recordTokenUse(hub: Hub, tokenId: string, ip: string): void {
  let noted = pendingUses.get(hub)
  if (!noted) pendingUses.set(hub, (noted = new Map()))
  noted.set(tokenId, { at: hub.clock.now(), ip })
}

/** The last use that is not yet written to the database, so that responses are up to date. */
const pendingUse = (hub: Hub, tokenId: string): Use | null => pendingUses.get(hub)?.get(tokenId) ?? null

/** Writes pending uses of tokens. A token used from a new IP address gets an audit event. */
export async function flushTokenUses(hub: Hub): Promise<void> {
  const noted = pendingUses.get(hub)
  if (!noted || noted.size === 0) return
  const pending = [...noted]
  noted.clear()
  for (let start = 0; start < pending.length; start += 200) {
    const some = new Map(pending.slice(start, start + 200))
    await record(hub, async tx => {
      const rows = await tx
        .select()
        .from(tokens)
        .where(inArray(tokens.id, [...some.keys()]))
        .orderBy(tokens.id)
      const audits: AuditDraft[] = []
      for (const row of rows) {
        const use = some.get(row.id)!
        if (row.lastUsedIp !== null && row.lastUsedIp !== use.ip) {
          audits.push({
            workspaceId: row.workspaceId,
            action: 'account.token.use',
            actor: { type: 'token', id: row.id, name: row.name, hint: row.hint },
            context: { ip: use.ip, user_agent: null, request_id: null, idempotency_key: null, channel: 'api' },
            targets: [{ type: 'token', id: row.id, name: row.name }],
            reason: 'The token was used from a new IP address.',
          })
        }
        await tx
          .update(tokens)
          .set({ lastUsedAt: Math.max(use.at, row.lastUsedAt ?? 0), lastUsedIp: use.ip })
          .where(eq(tokens.id, row.id))
      }
      return { result: undefined, audits }
    })
  }
}

/** A token as shown in the API, including a last use that is not stored yet. */
export function tokenView(hub: Hub, row: TokenRow) {
  const noted = pendingUse(hub, row.id)
  return {
    id: row.id,
    name: row.name,
    mode: row.mode,
    permissions: row.permissions,
    hint: row.hint,
    expires_at: instant(row.expiresAt),
    last_used_at: instant(noted?.at ?? row.lastUsedAt),
    last_used_ip: noted?.ip ?? row.lastUsedIp,
    allowed_cidrs: row.allowedCidrs,
    resource_ids: row.resourceIds,
    created_by: row.createdBy,
    rotated_from: row.rotatedFrom,
    rotated_to: row.rotatedTo,
    revoked_at: instant(row.revokedAt),
    ...editableView(row),
  }
}

/**
 * Starts the grace period of the replaced token at the first use of its replacement. If this cannot be stored, for example
 * because the disk is full, the request continues, and the next use counts as the first.
 */
export async function startGrace(hub: Hub, caller: Caller, context: AuditContext): Promise<void> {
  try {
    await beginGrace(hub, caller, context)
  } catch (error) {
    hub.log.warn({ err: error }, 'could not record the first use of a rotated token')
    return
  }
  await forgetCallers(hub)
}

async function beginGrace(hub: Hub, caller: Caller, context: AuditContext): Promise<void> {
  await record(hub, async tx => {
    const [row] = await forUpdate(tx.select().from(tokens).where(eq(tokens.id, caller.token!.id)))
    if (!row || row.graceSeconds === null) return { result: undefined }
    await tx.update(tokens).set({ graceSeconds: null }).where(eq(tokens.id, row.id))
    const ended = await endPredecessors(tx, hub, row, hub.clock.now() + row.graceSeconds * 1000)
    const audits = ended.map(([before, after]): AuditDraft => ({
      workspaceId: row.workspaceId,
      action: 'account.token.update',
      actor: caller.actor,
      context,
      targets: [target('token', before)],
      before: tokenView(hub, before),
      after: tokenView(hub, after),
      reason: 'Its replacement was used for the first time.',
    }))
    return { result: undefined, audits }
  })
}

/** Limits the expiry of the predecessors of a token, back to the first that is no longer active. */
export async function endPredecessors(tx: Tx, hub: Hub, newest: TokenRow, endsAt: number): Promise<[TokenRow, TokenRow][]> {
  const now = hub.clock.now()
  const ended: [TokenRow, TokenRow][] = []
  let from = newest.rotatedFrom
  while (from !== null) {
    const [row] = await forUpdate(tx.select().from(tokens).where(eq(tokens.id, from)))
    if (!row || !isTokenActive(row, now)) break
    if (row.expiresAt === null || row.expiresAt > endsAt) {
      ended.push([row, await saveRow(tx, { hub }, tokenRows, row, { expiresAt: endsAt })])
    }
    from = row.rotatedFrom
  }
  return ended
}

export const isTokenActive = (row: TokenRow, now: number): boolean =>
  row.revokedAt === null && (row.expiresAt === null || row.expiresAt > now)
