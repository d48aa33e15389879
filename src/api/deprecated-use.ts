import { inArray, sql } from 'drizzle-orm'
import { tokens } from '../access/tables'
import { record } from '../core/change'
import type { Hub } from '../core/hub'
import { deprecatedIn, type Deprecated } from './deprecations'
import type { Route } from './route-declaration'
import { deprecationUses } from './tables'

interface Use {
  workspaceId: string
  tokenId: string
  subject: string
  uses: number
  lastUsedAt: number
}

const servedParts = new WeakMap<Hub, readonly Deprecated[]>()
const pendingUses = new WeakMap<Hub, Map<string, Use>>()

/** Registers the operations that a hub serves. @throws InvalidDeprecation */
export function registerOperations(hub: Hub, specs: readonly Route[]): void {
  servedParts.set(hub, specs.flatMap(deprecatedIn))
}

/** The deprecated parts of the operations that a hub serves. */
export const deprecatedParts = (hub: Hub): readonly Deprecated[] => servedParts.get(hub) ?? []

/** Records that a request with a token used deprecated parts. Written to the database every minute and at shutdown. */
export function recordDeprecatedUse(hub: Hub, workspaceId: string, tokenId: string, used: readonly Deprecated[]): void {
  let uses = pendingUses.get(hub)
  if (!uses) pendingUses.set(hub, (uses = new Map()))
  for (const { id: subject } of used) {
    const key = `${tokenId} ${subject}`
    const before = uses.get(key)?.uses ?? 0
    uses.set(key, { workspaceId, tokenId, subject, uses: before + 1, lastUsedAt: hub.clock.now() })
  }
}

/** Writes the pending uses to the database. */
export async function flushDeprecatedUse(hub: Hub): Promise<void> {
  const uses = pendingUses.get(hub)
  if (!uses || uses.size === 0) return
  const pending = [...uses.values()]
  uses.clear()
  for (let start = 0; start < pending.length; start += 200) {
    const some = pending.slice(start, start + 200)
    await record(hub, async tx => {
      const rows = await tx
        .select({ id: tokens.id })
        .from(tokens)
        .where(
          inArray(
            tokens.id,
            some.map(one => one.tokenId),
          ),
        )
      const there = new Set(rows.map(row => row.id))
      const own = some.filter(one => there.has(one.tokenId))
      if (own.length === 0) return { result: undefined }
      await tx
        .insert(deprecationUses)
        .values(own)
        .onConflictDoUpdate({
          target: [deprecationUses.tokenId, deprecationUses.subject],
          set: { uses: sql`${deprecationUses.uses} + excluded.uses`, lastUsedAt: sql`excluded.last_used_at` },
        })
      return { result: undefined }
    })
  }
}
