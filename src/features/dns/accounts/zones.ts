import { refuseTooManyRequests } from '../../../access/limiter'
import { and, eq, inArray } from 'drizzle-orm'
import { sha256Hex } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import { cursorKey, cursorValues } from '../../../core/list'
import { sealCursor } from '../../../core/page'
import { conflict } from '../../../core/problem'
import type { Page } from '../../../core/shapes'
import { openProvider } from './open'
import { providerOf, refuseBuiltin } from './accounts'
import { callAdapter } from '../../../adapters/call'
import type { DnsProviderZoneView } from './shapes'
import { dnsZones } from '../zones/tables'
import { unicodeOf } from '../zones/names'
import { batches } from '../records/rows'

/**
 * Lists the zones at a provider, by name. Each page queries the provider again. Limited to 30 a minute per provider.
 * @throws Problem 400, 404, 409 if the kind can't list zones, 424, 429
 */
export async function listProviderZones(
  ctx: Ctx,
  id: string,
  { limit = 100, cursor, q }: { limit?: number; cursor?: string; q?: string },
): Promise<Page<DnsProviderZoneView>> {
  refuseBuiltin(id)
  const row = await providerOf(ctx, id)
  const filterHash = sha256Hex(JSON.stringify(['dns-provider-zones', id, q ?? null])).slice(0, 16)
  const [after] = cursor === undefined ? [''] : (cursorValues(ctx, cursor, filterHash, 1) as [string])
  refuseTooManyRequests(ctx, 'provider-zones', id, 30)
  const zones = await callAdapter(async () => {
    const provider = await openProvider(ctx.hub, row, true)
    if (!provider.listZones) throw conflict('This kind of provider doesn’t support listing zones.')
    return await provider.listZones()
  })
  const wanted = q?.toLowerCase() ?? ''
  const found = zones.filter(zone => zone.name > after && zone.name.includes(wanted)).sort((a, b) => (a.name < b.name ? -1 : 1))
  const page = found.slice(0, limit)
  const ids = await zoneIdsByName(
    ctx,
    page.map(zone => zone.name),
  )
  const more = found.length > limit
  return {
    data: page.map(({ name, ref }) => ({ name, unicode_name: unicodeOf(name), ref, zone_id: ids.get(name) ?? null })),
    pagination: {
      has_more: more,
      next_cursor: more ? sealCursor(cursorKey(ctx), { values: [page.at(-1)!.name], filterHash }) : null,
    },
  }
}

/** Finds the ids of the workspace's own zones with these names. */
async function zoneIdsByName(ctx: Ctx, names: readonly string[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for (const some of batches(names)) {
    const rows = await ctx.hub.read
      .select({ id: dnsZones.id, name: dnsZones.name })
      .from(dnsZones)
      .where(and(eq(dnsZones.workspaceId, ctx.workspaceId), inArray(dnsZones.name, some)))
    for (const row of rows) ids.set(row.name, row.id)
  }
  return ids
}
