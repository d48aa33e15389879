import { inArray, eq } from 'drizzle-orm'
import { record, type AuditDraft } from '../core/change'
import type { Hub } from '../core/hub'
import { flushDeprecatedUse } from './deprecated-use'
import { tokens } from './tables'

interface Use {
  at: number
  ip: string
}
const uses = new WeakMap<Hub, Map<string, Use>>()

/** Notes that a token was used. Written down once a minute, and when the hub stops. */
export function noteUse(hub: Hub, tokenId: string, ip: string): void {
  let noted = uses.get(hub)
  if (!noted) uses.set(hub, (noted = new Map()))
  noted.set(tokenId, { at: hub.clock.now(), ip })
}

/** The last use that is noted but not yet written, so that what is shown is never a minute old. */
export const notedUse = (hub: Hub, tokenId: string): Use | null => uses.get(hub)?.get(tokenId) ?? null

/** Writes the noted uses, of what is deprecated too; a token seen at a new address gets an audit entry. */
export async function flushUses(hub: Hub): Promise<void> {
  await flushDeprecatedUse(hub)
  const noted = uses.get(hub)
  if (!noted || noted.size === 0) return
  const taken = [...noted]
  noted.clear()
  for (let start = 0; start < taken.length; start += 200) {
    const some = new Map(taken.slice(start, start + 200))
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
            reason: 'The token was used from a new address.',
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
