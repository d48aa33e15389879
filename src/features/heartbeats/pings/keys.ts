import { and, eq, sql } from 'drizzle-orm'
import { change } from '../../../core/change'
import { instant } from '../../../core/clock'
import { encodeBase64url, sha256Hex } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import { prepared } from '../../../core/db/prepared'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { heartbeats, pingKeys } from '../tables'

interface PingKeyView {
  ping_key: string
  ping_url: string
  created_at: string
}

const keyLocation = (workspaceId: string) => ({ table: 'ping_keys', column: 'key_sealed', row: workspaceId, workspaceId })

/** Returns the workspace's key for ping URLs with slugs. The first request creates it. */
export async function getPingKey(ctx: Ctx): Promise<PingKeyView> {
  const [row] = await ctx.hub.read.select().from(pingKeys).where(eq(pingKeys.workspaceId, ctx.workspaceId))
  if (row) return await decryptedView(ctx, row)
  return await change(ctx, 'heartbeat.ping_key.create', async tx => {
    const created = await createKey(tx, ctx)
    await tx.insert(pingKeys).values(created.row).onConflictDoNothing()
    // Concurrent requests all get the key that was stored first.
    const [first] = await tx.select().from(pingKeys).where(eq(pingKeys.workspaceId, ctx.workspaceId))
    return { result: await decryptedView(ctx, first!, tx), target: { type: 'ping_key', id: ctx.workspaceId, name: null } }
  })
}

/** Replaces the key of the workspace. URLs with the old key stop working immediately. */
export async function rotatePingKey(ctx: Ctx): Promise<PingKeyView> {
  return await change(ctx, 'heartbeat.ping_key.rotate', async tx => {
    const { key, row } = await createKey(tx, ctx)
    await tx.insert(pingKeys).values(row).onConflictDoUpdate({ target: pingKeys.workspaceId, set: row })
    return {
      result: view(ctx.hub, key, row.createdAt),
      target: { type: 'ping_key', id: ctx.workspaceId, name: null },
      after: { ping_key: key },
    }
  })
}

type Row = typeof pingKeys.$inferSelect

const decryptedView = async (ctx: Ctx, row: Row, read?: Reader): Promise<PingKeyView> =>
  view(ctx.hub, await ctx.hub.keys.open(keyLocation(ctx.workspaceId), row.keySealed, read), row.createdAt)

async function createKey(tx: Tx, ctx: Ctx): Promise<{ key: string; row: Row }> {
  // Ping clients expect 22 characters, which is 16 random bytes in base64url.
  const key = encodeBase64url(crypto.getRandomValues(new Uint8Array(16)))
  const keySealed = await ctx.hub.keys.seal(tx, keyLocation(ctx.workspaceId), key)
  return { key, row: { workspaceId: ctx.workspaceId, keyHash: sha256Hex(key), keySealed, createdAt: ctx.hub.clock.now() } }
}

/** Returns the workspace of a ping key, or null. */
export async function workspaceOfKey(hub: Hub, key: string): Promise<string | null> {
  const [row] = await prepared(hub.read, 'ping-key', read =>
    read
      .select({ id: pingKeys.workspaceId })
      .from(pingKeys)
      .where(eq(pingKeys.keyHash, sql.placeholder('hash'))),
  ).execute({ hash: sha256Hex(key) })
  return row?.id ?? null
}

/** Returns the UUID hashes of up to two heartbeats with this slug; two mean that the slug is ambiguous. */
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
