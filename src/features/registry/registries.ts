import { domainToUnicode } from 'node:url'
import { inArray } from 'drizzle-orm'
import { instant } from '../../core/clock'
import { sha256Hex } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import { cursorKey, cursorValues } from '../../core/list'
import { canonicalHost } from '../../core/net/host-name'
import { sealCursor } from '../../core/page'
import { notFound } from '../../core/problem'
import type { Page } from '../../core/shapes'
import type { Bootstrap } from './bootstrap'
import { bootstrapOf } from './bootstrap-refresh'
import { demandByTld, type Demand } from './demand'
import { canaryOkAt } from './look'
import { usedToday } from './pace'
import type { RegistryQuery, RegistrySourceView, RegistryView } from './shapes'
import { canaryOf, knownTlds, lifecycleOf, paceOf, sourcesOf, type RegistrySource } from './sources'
import { registryFacts, registryHosts } from './tables'

/** Lists all top-level domains with a known server, in alphabetical order. @throws Problem 400 */
export async function listRegistries(ctx: Ctx, { limit = 50, cursor, q, watched }: RegistryQuery): Promise<Page<RegistryView>> {
  const filterHash = sha256Hex(JSON.stringify(['registries', q ?? null, watched ?? null])).slice(0, 16)
  const [after] = cursor === undefined ? [''] : (cursorValues(ctx, cursor, filterHash, 1) as [string])
  const { config } = ctx.hub
  const { bootstrap } = await bootstrapOf(ctx.hub)
  const demand = await demandByTld(ctx.hub)
  const wanted = q?.toLowerCase().replace(/^\./, '') ?? ''
  const found = knownTlds(config, bootstrap).filter(
    tld =>
      tld > after &&
      (tld.includes(wanted) || unicodeOf(tld).includes(wanted)) &&
      (watched === undefined || watched === (demand.get(tld)?.names ?? 0) > 0),
  )
  const page = found.slice(0, limit)
  const more = found.length > limit
  return {
    data: await viewsOf(ctx, bootstrap, demand, page),
    pagination: {
      has_more: more,
      next_cursor: more ? sealCursor(cursorKey(ctx), { values: [page.at(-1)!], filterHash }) : null,
    },
  }
}

/** @param text in Unicode or A-labels @throws Problem 404 */
export async function getRegistry(ctx: Ctx, text: string): Promise<RegistryView> {
  const tld = canonicalHost(text.replace(/^\./, ''))
  const { bootstrap } = await bootstrapOf(ctx.hub)
  if (tld === null || !knownTlds(ctx.hub.config, bootstrap).includes(tld)) throw notFound('top-level domain')
  const [view] = await viewsOf(ctx, bootstrap, await demandByTld(ctx.hub), [tld])
  return view!
}

async function viewsOf(
  { hub }: Ctx,
  bootstrap: Bootstrap,
  demand: ReadonlyMap<string, Demand>,
  tlds: readonly string[],
): Promise<RegistryView[]> {
  if (tlds.length === 0) return []
  const { config, read } = hub
  const now = hub.clock.now()
  const sourcesIn = (tld: string) => sourcesOf(config, bootstrap, tld)
  const perDay = new Map<string, number>()
  for (const [tld, one] of demand) {
    const server = sourcesIn(tld)[0]?.server
    if (server !== undefined) perDay.set(server, (perDay.get(server) ?? 0) + one.perDay)
  }
  const servers = [...new Set(tlds.flatMap(tld => sourcesIn(tld).map(one => one.server)))]
  const hostRows = await read.select().from(registryHosts).where(inArray(registryHosts.server, servers))
  const hosts = new Map(hostRows.map(row => [row.server, row]))
  const names = tlds.map(tld => canaryOf(config, tld))
  const canaryRows = await read
    .select({ name: registryFacts.name, evidence: registryFacts.evidence })
    .from(registryFacts)
    .where(inArray(registryFacts.name, names))
  const canaries = new Map(canaryRows.map(row => [row.name, row.evidence]))

  const sourceView = (tld: string, { kind, server, origin }: RegistrySource): RegistrySourceView => {
    const row = hosts.get(server)
    const pace = paceOf(config, server)
    const isBlocked = row !== undefined && row.blockedUntil !== null && row.blockedUntil > now
    const canary = canaryOf(config, tld)
    return {
      kind,
      host: server.slice(kind.length + 1),
      origin,
      state:
        row === undefined
          ? 'unused'
          : isBlocked
            ? 'blocked'
            : row.failures > 0
              ? 'failing'
              : row.lastOkAt === null
                ? 'unused'
                : 'ok',
      blocked_until: isBlocked ? instant(row.blockedUntil) : null,
      last_ok_at: instant(row?.lastOkAt ?? null),
      last_error: row?.lastError ?? null,
      canary: { name: canary, ok_at: instant(canaryOkAt(canaries.get(canary) ?? [], server) || null) },
      pace: {
        seconds: pace.everyMs / 1000,
        burst: pace.burst,
        per_day: pace.perDay,
        used_today: row === undefined ? 0 : usedToday(row, now),
      },
      stretched_by: Math.max(1, Math.round(((perDay.get(server) ?? 0) / pace.perDay) * 100) / 100),
    }
  }
  return tlds.map(tld => ({
    tld,
    unicode_tld: unicodeOf(tld),
    watched_names: demand.get(tld)?.names ?? 0,
    sources: sourcesIn(tld).map(source => sourceView(tld, source)),
    profile: lifecycleOf(config, tld),
  }))
}

const unicodeOf = (tld: string): string => domainToUnicode(tld) || tld
