import { and, asc, eq, sql, type SQL } from 'drizzle-orm'
import type { Ctx } from '../../../core/ctx'
import type { Reader } from '../../../core/db/transaction'
import { DnsFormatError } from '../../../core/dns/format-error'
import { originWords } from '../../../core/event-kinds/dns'
import { listPage, textFilter, timeFilters, wordsFilter, type Listing } from '../../../core/list'
import { notFound } from '../../../core/problem'
import { badParameter } from '../../../core/query'
import type { Page } from '../../../core/shapes'
import { recordNameOf } from '../zone-names'
import { zoneOf } from '../zones'
import { mostShown, rrsetQuery, type ChangesetView, type ChangesetWholeView, type ZoneDiffView } from './shapes'
import { touchedBetween, zoneThen, type Between } from './as-of'
import { sameForm } from './same-form'
import { dnsChangesetRrsets, dnsChangesets } from './tables'
import { changesetView, rrsetsShown, soaChange, type ChangesetRow } from './views'

/** An rrset, or all of a name or of a type. */
interface Asked {
  name?: string
  type?: string
}

const listingOf = (asked: Asked): Listing<ChangesetRow> => ({
  name: 'dns-changesets',
  table: dnsChangesets as never,
  // Ids of two hubs may be in another order than what they did.
  id: dnsChangesets.version,
  idOf: row => row.version,
  owner: dnsChangesets.zoneId,
  defaultSort: '-id',
  filters: {
    name: { schema: rrsetQuery.name, where: (_, place) => touches(asked, place) },
    type: { schema: rrsetQuery.type, where: (_, place) => (asked.name === undefined ? touches(asked, place) : sql`1 = 1`) },
    actor: textFilter(dnsChangesets.actorId, 'Only those made by the actor with this id.', { maxLength: 100 }),
    origin: wordsFilter(dnsChangesets.origin, originWords, 'Only those that came from there.'),
    ...timeFilters('occurred_at', dnsChangesets.occurredAt),
  },
  sorts: {},
})

export const historyListing = listingOf({})

/** Changesets that touched one rrset which is all that is asked for. */
const touches = (asked: Asked, place: (value: unknown) => SQL): SQL => {
  const { zoneId, version, name, type } = dnsChangesetRrsets
  const fits = and(
    eq(zoneId, dnsChangesets.zoneId),
    eq(version, dnsChangesets.version),
    asked.name === undefined ? undefined : sql`${name} = ${place(asked.name)}`,
    asked.type === undefined ? undefined : sql`${type} = ${place(asked.type)}`,
  )
  return sql`exists (select 1 from ${dnsChangesetRrsets} where ${fits})`
}

/** @throws Problem 404, 400 */
export async function listHistory(ctx: Ctx, zoneId: string, query: Record<string, unknown>): Promise<Page<ChangesetView>> {
  const zone = await zoneOf(ctx.hub.read, ctx, zoneId)
  return await listPage(ctx, listingOf(askedOf(query, zone.name)), query, changesetView, zoneId)
}

/** A changeset with what it did, or with what of that is asked for. @throws Problem 404, 400 */
export async function getChangeset(ctx: Ctx, zoneId: string, id: string, query: Asked): Promise<ChangesetWholeView> {
  const { read } = ctx.hub
  const zone = await zoneOf(read, ctx, zoneId)
  const row = await changesetOf(read, zoneId, id)
  const changes = await changesOf(read, row, mostShown + 1, askedOf(query, zone.name))
  return { ...changesetView(row), ...(await rrsetsShown(changes)) }
}

/** @throws Problem 404 */
export async function changesetOf(read: Reader, zoneId: string, id: string): Promise<ChangesetRow> {
  const [row] = await read
    .select()
    .from(dnsChangesets)
    .where(and(eq(dnsChangesets.id, id), eq(dnsChangesets.zoneId, zoneId)))
  if (!row) throw notFound('change of the zone')
  return row
}

/** What a changeset did, by name and type. */
export async function changesOf(read: Reader, row: ChangesetRow, limit: number, { name, type }: Asked = {}): Promise<Between[]> {
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
 * What is different between two versions of a zone.
 * @param asked `to` is the version now when absent, and `from` the one before it
 * @throws Problem 404
 */
export async function diffZone(ctx: Ctx, zoneId: string, asked: { from?: number; to?: number }): Promise<ZoneDiffView> {
  const { read } = ctx.hub
  const zone = await zoneOf(read, ctx, zoneId)
  const after = await zoneThen(read, zone, asked.to ?? zone.version)
  const before = await zoneThen(read, zone, asked.from ?? Math.max(after.version - 1, 1))
  const shown = await rrsetsShown(differences(read, zoneId, before.version, after.version))
  // What was pruned meanwhile would be missing.
  await zoneThen(read, zone, Math.min(before.version, after.version))
  const at = ({ version, serial }: typeof before) => ({ version, serial })
  return { zone_id: zoneId, from: at(before), to: at(after), soa: soaChange(before.soa, after.soa), ...shown }
}

/** Rrsets that are not alike at two versions; the first may be the later one. */
export async function* differences(read: Reader, zoneId: string, from: number, to: number): AsyncGenerator<Between> {
  const versions = { from: Math.min(from, to), to: Math.max(from, to) }
  for await (const one of touchedBetween(read, zoneId, versions)) {
    if (sameForm(one.before, one.after)) continue
    yield from <= to ? one : { ...one, before: one.after, after: one.before }
  }
}

/** @throws Problem 400 */
function askedOf({ name, type }: Asked, zoneName: string): Asked {
  try {
    return {
      ...(name !== undefined && { name: recordNameOf(name, zoneName) }),
      ...(type !== undefined && { type: type.toUpperCase() }),
    }
  } catch (error) {
    if (error instanceof DnsFormatError) throw badParameter('name', `${error.rule}.`)
    throw error
  }
}
