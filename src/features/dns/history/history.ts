import { and, asc, eq, sql, type SQL } from 'drizzle-orm'
import type { Ctx } from '../../../core/ctx'
import type { Reader } from '../../../core/db/transaction'
import { recordOrigins } from '../event-kinds'
import { listingOf, listPage } from '../../../core/list'
import { textFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { notFound } from '../../../core/problem'
import { parseParameter } from '../records/parse-field'
import type { Page } from '../../../core/shapes'
import { recordNameOf } from '../zones/names'
import { maxRrsetsShown, rrsetQuery, type ChangesetView, type ChangesetDetailView, type ZoneDiffView } from './shapes'
import { rrsetsChangedBetween, zoneAtVersion, type RrsetDiff } from './zone-versions'
import { sameContent } from './same-content'
import { dnsChangesetRrsets, dnsChangesets } from './tables'
import { changesetView, rrsetChangeViews, soaChange, type ChangesetRow } from './views'
import { zoneOf } from '../zones/rows'

/** Filter by name, by type, or both. */
interface RrsetFilter {
  name?: string
  type?: string
}

const listingFor = (filter: RrsetFilter) =>
  listingOf('dns-changesets', dnsChangesets, {
    // Sort by version: ids created on different hubs may not be in the order of the changes.
    id: dnsChangesets.version,
    idOf: row => row.version,
    owner: dnsChangesets.zoneId,
    filters: {
      name: { schema: rrsetQuery.name, where: (_, place) => touches(filter, place) },
      type: { schema: rrsetQuery.type, where: (_, place) => (filter.name === undefined ? touches(filter, place) : sql`1 = 1`) },
      actor: textFilter(dnsChangesets.actorId, 'Only changes made by the actor with this ID.', { maxLength: 100 }),
      origin: wordsFilter(dnsChangesets.origin, recordOrigins, 'Only changes from these origins.'),
      ...timeFilters('occurred_at', dnsChangesets.occurredAt),
    },
    sorts: [],
  })

export const historyListing = listingFor({})

/** SQL condition: the changeset touched an rrset that matches the filter. */
const touches = (filter: RrsetFilter, place: (value: unknown) => SQL): SQL => {
  const { zoneId, version, name, type } = dnsChangesetRrsets
  const condition = and(
    eq(zoneId, dnsChangesets.zoneId),
    eq(version, dnsChangesets.version),
    filter.name === undefined ? undefined : sql`${name} = ${place(filter.name)}`,
    filter.type === undefined ? undefined : sql`${type} = ${place(filter.type)}`,
  )
  return sql`exists (select 1 from ${dnsChangesetRrsets} where ${condition})`
}

/** @throws Problem 404, 400 */
export async function listHistory(ctx: Ctx, zoneId: string, query: Record<string, unknown>): Promise<Page<ChangesetView>> {
  const zone = await zoneOf(ctx.hub.read, ctx, zoneId)
  return await listPage(ctx, listingFor(filterOf(query, zone.name)), query, changesetView, zoneId)
}

/** Returns a changeset with its changes, optionally filtered. @throws Problem 404, 400 */
export async function getChangeset(ctx: Ctx, zoneId: string, id: string, query: RrsetFilter): Promise<ChangesetDetailView> {
  const { read } = ctx.hub
  const zone = await zoneOf(read, ctx, zoneId)
  const row = await changesetOf(read, zoneId, id)
  const changes = await changesOf(read, row, maxRrsetsShown + 1, filterOf(query, zone.name))
  return { ...changesetView(row), ...(await rrsetChangeViews(changes)) }
}

/** @throws Problem 404 */
export async function changesetOf(read: Reader, zoneId: string, id: string): Promise<ChangesetRow> {
  const [row] = await read
    .select()
    .from(dnsChangesets)
    .where(and(eq(dnsChangesets.id, id), eq(dnsChangesets.zoneId, zoneId)))
  if (!row) throw notFound('changeset')
  return row
}

/** Changes of a changeset, by name and type. */
export async function changesOf(
  read: Reader,
  row: ChangesetRow,
  limit: number,
  { name, type }: RrsetFilter = {},
): Promise<RrsetDiff[]> {
  return await read
    .select({
      name: dnsChangesetRrsets.name,
      type: dnsChangesetRrsets.type,
      before: dnsChangesetRrsets.before,
      after: dnsChangesetRrsets.after,
    })
    .from(dnsChangesetRrsets)
    .where(
      and(
        eq(dnsChangesetRrsets.zoneId, row.zoneId),
        eq(dnsChangesetRrsets.version, row.version),
        name === undefined ? undefined : eq(dnsChangesetRrsets.name, name),
        type === undefined ? undefined : eq(dnsChangesetRrsets.type, type),
      ),
    )
    .orderBy(asc(dnsChangesetRrsets.place))
    .limit(limit)
}

/**
 * Compares two versions of a zone.
 * @param query `to` defaults to the current version, `from` to the one before it
 * @throws Problem 404
 */
export async function diffZone(ctx: Ctx, zoneId: string, query: { from?: number; to?: number }): Promise<ZoneDiffView> {
  const { read } = ctx.hub
  const zone = await zoneOf(read, ctx, zoneId)
  const after = await zoneAtVersion(read, zone, query.to ?? zone.version)
  const before = await zoneAtVersion(read, zone, query.from ?? Math.max(after.version - 1, 1))
  const shown = await rrsetChangeViews(differences(read, zoneId, before.version, after.version))
  // Fail if history was pruned meanwhile: changes would be missing.
  await zoneAtVersion(read, zone, Math.min(before.version, after.version))
  const at = ({ version, serial }: typeof before) => ({ version, serial })
  return { zone_id: zoneId, from: at(before), to: at(after), soa: soaChange(before.soa, after.soa), ...shown }
}

/** Rrsets that differ between two versions. `from` may be the later one. */
export async function* differences(read: Reader, zoneId: string, from: number, to: number): AsyncGenerator<RrsetDiff> {
  const versions = { from: Math.min(from, to), to: Math.max(from, to) }
  for await (const one of rrsetsChangedBetween(read, zoneId, versions)) {
    if (sameContent(one.before, one.after)) continue
    yield from <= to ? one : { ...one, before: one.after, after: one.before }
  }
}

/** @throws Problem 400 */
const filterOf = ({ name, type }: RrsetFilter, zoneName: string): RrsetFilter => ({
  ...(name !== undefined && { name: parseParameter('name', () => recordNameOf(name, zoneName)) }),
  ...(type !== undefined && { type: type.toUpperCase() }),
})
