import { and, eq, sql } from 'drizzle-orm'
import { change } from '../../core/change'
import { instant } from '../../core/clock'
import { encodeBase64url, sha256Hex } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import { prepared } from '../../core/db/prepared'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { heartbeats, pingKeys } from './tables'

export interface PingKeyView {
  ping_key: string
  ping_url: string
  created_at: string
}

const place = (workspaceId: string) => ({ table: 'ping_keys', column: 'key_sealed', row: workspaceId, workspaceId })

/** The workspace's key for ping addresses by slug; made when it is first asked for. */
export async function getPingKey(ctx: Ctx): Promise<PingKeyView> {
  const [row] = await ctx.hub.read.select().from(pingKeys).where(eq(pingKeys.workspaceId, ctx.workspaceId))
  if (row) return await opened(ctx, row)
  return await change(ctx, 'heartbeat.ping_key.create', async tx => {
    const made = await sealedKey(tx, ctx)
    await tx.insert(pingKeys).values(made.row).onConflictDoNothing()
    // Who asks at the same time gets the one that was first.
    const [first] = await tx.select().from(pingKeys).where(eq(pingKeys.workspaceId, ctx.workspaceId))
    return { result: await opened(ctx, first!, tx), target: { type: 'ping_key', id: ctx.workspaceId, name: null } }
  })
}

/** Gives the workspace a new key; addresses with the old one stop working at once. */
export async function rotatePingKey(ctx: Ctx): Promise<PingKeyView> {
  return await change(ctx, 'heartbeat.ping_key.rotate', async tx => {
    const { key, row } = await sealedKey(tx, ctx)
    await tx.insert(pingKeys).values(row).onConflictDoUpdate({ target: pingKeys.workspaceId, set: row })
    return {
      result: view(ctx.hub, key, row.createdAt),
      target: { type: 'ping_key', id: ctx.workspaceId, name: null },
      after: { ping_key: key },
    }
  })
}

type Row = typeof pingKeys.$inferSelect

const opened = async (ctx: Ctx, row: Row, read?: Reader): Promise<PingKeyView> =>
  view(ctx.hub, await ctx.hub.keys.open(place(ctx.workspaceId), row.keySealed, read), row.createdAt)

async function sealedKey(tx: Tx, ctx: Ctx): Promise<{ key: string; row: Row }> {
  // 16 random bytes are the 22 characters that ping clients expect.
  const key = encodeBase64url(crypto.getRandomValues(new Uint8Array(16)))
  const keySealed = await ctx.hub.keys.seal(tx, place(ctx.workspaceId), key)
  return { key, row: { workspaceId: ctx.workspaceId, keyHash: sha256Hex(key), keySealed, createdAt: ctx.hub.clock.now() } }
}

/** The workspace of a ping key, or null. */
export async function workspaceOfKey(hub: Hub, key: string): Promise<string | null> {
  const [row] = await prepared(hub.read, 'ping-key', read =>
    read
      .select({ id: pingKeys.workspaceId })
      .from(pingKeys)
      .where(eq(pingKeys.keyHash, sql.placeholder('hash'))),
  ).execute({ hash: sha256Hex(key) })
  return row?.id ?? null
}

/** UUID hashes of the heartbeats of a workspace with this slug: none, one, or several. */
export async function hashesOfSlug(hub: Hub, workspaceId: string, slug: string): Promise<string[]> {
  const rows = await prepared(hub.read, 'heartbeats-by-slug', read =>
    read
      .select({ hash: heartbeats.uuidHash })
      .from(heartbeats)
      .where(and(eq(heartbeats.workspaceId, sql.placeholder('workspace')), eq(heartbeats.slug, sql.placeholder('slug'))))
      .limit(2),
  ).execute({ workspace: workspaceId, slug })
  return rows.map(row => row.hash)
}

const view = (hub: Hub, key: string, createdAt: number): PingKeyView => ({
  ping_key: key,
  ping_url: `${hub.baseUrl}/ping/${key}/<slug>`,
  created_at: instant(createdAt),
})
