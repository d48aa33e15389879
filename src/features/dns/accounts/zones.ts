import { and, eq, inArray } from 'drizzle-orm'
import { sha256Hex } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import { cursorKey, cursorValues } from '../../../core/list'
import { sealCursor } from '../../../core/page'
import { conflict } from '../../../core/problem'
import type { Page } from '../../../core/shapes'
import { openProvider } from './open'
import { providerOf, refuseBuiltin } from './accounts'
import { refuseAskedTooOften } from '../../../access/asked-too-often'
import { asked } from './problem'
import type { DnsProviderZoneView } from './shapes'
import { dnsZones } from '../tables'
import { unicodeOf } from '../zone-names'
import { rowsAtOnce } from '../zone-rows'

/**
 * Zones that a provider has at this moment, by name; each page asks it anew. Thirty a minute and provider.
 * @throws Problem 400, 404, 409 where the kind has no way to ask, 424, 429
 */
export async function listProviderZones(
  ctx: Ctx,
  id: string,
  { limit = 100, cursor, q }: { limit?: number; cursor?: string; q?: string },
): Promise<Page<DnsProviderZoneView>> {
  refuseBuiltin(id)
  const row = await providerOf(ctx.hub.read, ctx, id)
  const filterHash = sha256Hex(JSON.stringify(['dns-provider-zones', id, q ?? null])).slice(0, 16)
  const [after] = cursor === undefined ? [''] : (cursorValues(ctx, cursor, filterHash, 1) as [string])
  refuseAskedTooOften(ctx, 'provider-zones', id, 30)
  const zones = await asked(async () => {
    const provider = await openProvider(ctx.hub, row)
    if (!provider.listZones) throw conflict('A provider of this kind has no way to tell its zones.')
    return await provider.listZones()
  })
  const wanted = q?.toLowerCase() ?? ''
  const found = zones.filter(zone => zone.name > after && zone.name.includes(wanted)).sort((a, b) => (a.name < b.name ? -1 : 1))
  const page = found.slice(0, limit)
  const kept = await keptHere(
    ctx,
    page.map(zone => zone.name),
  )
  const more = found.length > limit
  return {
    data: page.map(({ name, ref }) => ({ name, unicode_name: unicodeOf(name), ref, zone_id: kept.get(name) ?? null })),
    pagination: {
      has_more: more,
      next_cursor: more ? sealCursor(cursorKey(ctx), { values: [page.at(-1)!.name], filterHash }) : null,
    },
  }
}

/** The ids of the workspace's own zones of these names. */
async function keptHere(ctx: Ctx, names: readonly string[]): Promise<Map<string, string>> {
  const kept = new Map<string, string>()
  for (let at = 0; at < names.length; at += rowsAtOnce) {
    const rows = await ctx.hub.read
      .select({ id: dnsZones.id, name: dnsZones.name })
      .from(dnsZones)
      .where(and(eq(dnsZones.workspaceId, ctx.workspaceId), inArray(dnsZones.name, names.slice(at, at + rowsAtOnce))))
    for (const row of rows) kept.set(row.name, row.id)
  }
  return kept
}
