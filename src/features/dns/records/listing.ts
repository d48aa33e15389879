import { Type } from '@sinclair/typebox'
import { and, eq, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Ctx } from '../../../core/ctx'
import { toAscii } from '../../../dns/name'
import { catchFormatError } from '../../../dns/format-error'
import { recordTypeOf } from '../../../dns/types'
import { isByIdOnly, listingOf, listPage, listQuery } from '../../../core/list'
import type { Filter, Listing } from '../../../core/listing'
import { wordsFilter } from '../../../core/list-filters'
import { canAccess } from '../../../core/resource-access'
import { invalidParameter } from '../../../core/query'
import type { Page } from '../../../core/shapes'
import type { DnsRecordView } from './shapes'
import { filtersByMark, markFilters, markListing } from './marks'
import { contentKeyLength, contentKeyOf } from './values'
import { dnsFoundRecords } from '../targets/tables'
import { dnsRecords, recordSources } from './tables'
import { dnsZones } from '../zones/tables'
import { keptRecordViews, keyColumns } from './kept-views'
import { unmanagedViews, type FoundRow } from './views'
import { asciiName, matches, patternFilter, patternOf, type Pattern, type Place } from '../zones/name-patterns'
import type { RecordRow } from './rows'
import { reversedName } from '../zones/names'

/** Parses a name filter: an exact name, a prefix, or names below a name. `*` alone is the wildcard record itself. */
function namePattern(value: string): Pattern {
  const text = asciiName(value.toLowerCase())
  if (text === '*' || text === '') return { text: text || '@', isPrefix: false }
  if (text.startsWith('*.') && !text.slice(2).includes('*')) return { text: text.slice(2), isPrefix: true, below: true }
  return patternOf('name', text)
}

function nameMatches(columns: { name: SQLiteColumn; nameReversed: SQLiteColumn }, pattern: Pattern, place: Place): SQL {
  if (!pattern.below) return matches(columns.name, pattern, place)
  return matches(columns.nameReversed, { text: `${reversedName(pattern.text)}.`, isPrefix: true }, place)
}

/** @throws Problem 400 for an unknown type */
const parseType = (text: string): string =>
  catchFormatError(
    () => recordTypeOf(text).name,
    () => {
      throw invalidParameter('type', `must be a record type such as A or TXT; ${text.toUpperCase()} is unknown.`)
    },
  )

const filters: Record<string, Filter> = {
  type: {
    schema: Type.String({
      pattern: '^[A-Za-z0-9]{1,20}$',
      'x-rule': 'must be a single record type. Send one request per type.',
      description: 'Only records of this type.',
    }),
    where: (value, place) => sql`${dnsRecords.type} = ${place(parseType(value as string))}`,
    finds: value => ({ equal: dnsRecords.type, values: [value] }),
  },
  name: patternFilter({
    maxLength: 255,
    description:
      'Only records with this name, relative to the zone (`@` is the apex), whose name starts with a prefix (`www*`), or that are ' +
      'below a name (`*.dev`). With a pattern, the default sort order is `name`.',
    parse: namePattern,
    where: (pattern, place) => nameMatches(dnsRecords, pattern, place),
    finds: ({ text, isPrefix, below }) =>
      isPrefix ? { range: below ? dnsRecords.nameReversed : dnsRecords.name } : { equal: dnsRecords.name, values: [text] },
  }),
  content: patternFilter({
    maxLength: contentKeyLength,
    description: `Only records with this value, or whose value starts with a prefix (\`192.0.2.*\`). Case-insensitive; only the first ${contentKeyLength} characters are compared. For TXT records, the text is compared.`,
    parse: value => keyPattern('content', value),
    where: (pattern, place) => matches(dnsRecords.contentKey, pattern, place),
    finds: ({ text, isPrefix }) =>
      isPrefix ? { range: dnsRecords.contentKey } : { equal: dnsRecords.contentKey, values: [text] },
  }),
  source: wordsFilter(dnsRecords.source, recordSources, 'Only records from these sources.'),
  updated_since: {
    schema: Type.String({
      format: 'date-time',
      description: 'Only records created or updated at or after this time. The default sort order is then `updated_at`.',
    }),
    where: (value, place) => sql`${dnsRecords.updatedAt} >= ${place(Date.parse(value as string))}`,
    finds: () => ({ range: dnsRecords.updatedAt }),
  },
}

function keyPattern(parameter: string, value: string): Pattern {
  const pattern = patternOf(parameter, value)
  return { ...pattern, text: contentKeyOf(pattern.text) }
}

// More would take too long to sort.
const maxSearched = 1_000

/** Searches names and values of an owner’s records. Uses a union, since SQLite would scan all rows for an `or`. */
function searchOf(owner: SQLiteColumn, ownerId: string): Filter {
  const ownerOfZone = owner === dnsRecords.zoneId ? dnsZones.id : dnsZones.workspaceId
  const filter = patternFilter({
    maxLength: 100,
    description:
      'Only records whose name, full name (`www.example.com`), or value equals this text, or starts with a prefix (`mail*`). ' +
      `Finds up to ${maxSearched} of each.`,
    parse: value => keyPattern('q', value),
    finds: () => 'few',
    where(pattern, place) {
      const found = (column: SQLiteColumn) =>
        sql`select id from (select ${dnsRecords.id} from ${dnsRecords} where ${owner} = ${place(ownerId)} and ${matches(column, pattern, place)}
          order by ${column}, ${dnsRecords.id} limit ${sql.raw(String(maxSearched))}) as ${sql.identifier(column.name)}`
      // A cross join keeps SQLite from reading the records of this name in all zones first.
      const inZone = ({ name, zone }: FullName, at: number) =>
        sql`select id from (select ${dnsRecords.id} from (select ${dnsZones.id} as zone_id from ${dnsZones}
            where ${ownerOfZone} = ${place(ownerId)} and ${matches(dnsZones.name, zone, place)}
            order by ${dnsZones.name} limit ${sql.raw(String(maxSearched))}) as named cross join ${dnsRecords}
          where ${dnsRecords.zoneId} = named.zone_id and ${dnsRecords.name} = ${place(name)}
          limit ${sql.raw(String(maxSearched))}) as ${sql.identifier(`full_name_${at}`)}`
      const parts = [found(dnsRecords.name), found(dnsRecords.contentKey), ...fullNamesOf(pattern).map(inZone)]
      return sql`${dnsRecords.id} in (${sql.join(parts, sql` union all `)})`
    },
  })
  return {
    ...filter,
    variant: value => `${filter.variant!(value)}${fullNamesOf(keyPattern('q', value as string)).length}`,
  }
}

/** A name in a zone, whose name can be a prefix. */
interface FullName {
  name: string
  zone: Pattern
}

// Names have few more labels.
const maxLabels = 8

/** The names and zones that a text stands for if it is a full name: the zone itself, and one for each dot. */
function fullNamesOf({ text, isPrefix }: Pattern): FullName[] {
  const labels = zoneIdOrName(text.replace(/\.$/, '')).split('.')
  if (labels.length === 1) return []
  return labels
    .slice(0, maxLabels)
    .map((_, at) => ({ name: labels.slice(0, at).join('.') || '@', zone: { text: labels.slice(at).join('.'), isPrefix } }))
    .filter(one => one.zone.text !== '')
}

/** The records of all zones of a workspace. */
const recordListing = listingOf('dns-records', dnsRecords, {
  // Records of deleted zones exist until they are cleaned up (zones/clear-zone.ts). The id is compared as an expression, so that the
  // query planner doesn’t start from the zones and sort the result.
  condition: sql`exists (select 1 from ${dnsZones} where ${dnsZones.id} = ${dnsRecords.zoneId} || '')`,
  accessColumn: dnsRecords.zoneId,
  columns: keyColumns,
  maxItems: 1000,
  filters,
  sorts: ['name', 'type', 'name_reversed', 'content_key', 'updated_at'],
})

/** The records of one zone. */
const zoneRecordListing: Listing<RecordRow> = {
  ...recordListing,
  name: 'dns-zone-records',
  owner: dnsRecords.zoneId,
  condition: undefined,
}

// Public sort options: without those that are only used for patterns.
const publicListing = {
  ...recordListing,
  filters: { ...filters, ...markFilters({}), q: searchOf(dnsRecords.workspaceId, '') },
  sorts: { name: recordListing.sorts.name!, type: recordListing.sorts.type!, updated_at: recordListing.sorts.updated_at! },
}

/** Query parameters for the records of a zone. */
export const zoneRecordQuery = listQuery(publicListing)
/** Query parameters for the records of all zones. */
export const recordQuery = listQuery({
  ...publicListing,
  filters: {
    zone: {
      schema: Type.String({ minLength: 1, maxLength: 253, description: 'Only records of this zone, by ID or name.' }),
      where: () => sql`1 = 1`,
    },
    ...publicListing.filters,
  },
})

/** Lists records of all zones, or of the zone in the query. */
export async function listRecords(ctx: Ctx, query: Record<string, unknown>): Promise<Page<DnsRecordView>> {
  const { zone, ...rest } = query
  const listed = rest.state === 'unmanaged' ? listUnmanaged : listManaged
  if (zone === undefined) return await listed(ctx, recordListing, rest)
  const ref = zoneIdOrName((zone as string).replace(/\.$/, ''))
  const [row] = await ctx.hub.read
    .select({ id: dnsZones.id })
    .from(dnsZones)
    .where(
      and(eq(dnsZones.workspaceId, ctx.workspaceId), ref.startsWith('zone_') ? eq(dnsZones.id, ref) : eq(dnsZones.name, ref)),
    )
  // An unknown or inaccessible zone has no records.
  return await listed(ctx, zoneRecordListing, rest, row && canAccess(ctx, row.id) ? row.id : 'none')
}

/** A zone id, or a zone name in A-labels. Returns invalid names unchanged; they match no zone. */
const zoneIdOrName = (text: string): string =>
  catchFormatError(
    () => toAscii(text).toLowerCase(),
    () => text,
  )

/** Lists records of one zone. @param zoneId must belong to the caller’s workspace */
export const listZoneRecords = (ctx: Ctx, zoneId: string, query: Record<string, unknown>): Promise<Page<DnsRecordView>> =>
  (query.state === 'unmanaged' ? listUnmanaged : listManaged)(ctx, zoneRecordListing, query, zoneId)

/** Lists records that exist only at providers. @throws Problem 400 for filters and sort orders that only managed records have */
async function listUnmanaged(
  ctx: Ctx,
  { owner: column }: Listing<RecordRow>,
  query: Record<string, unknown>,
  owner?: string,
): Promise<Page<DnsRecordView>> {
  const { state: _, ...rest } = query
  const of = column === dnsRecords.zoneId ? unmanagedZoneListing : unmanagedListing
  const unsupported = Object.keys(rest).find(
    name => !['limit', 'cursor', 'include'].includes(name) && !Object.hasOwn(of.filters, name) && name !== 'sort',
  )
  if (unsupported !== undefined) throw invalidParameter(unsupported, 'can’t be combined with state=unmanaged.')
  if (!isByIdOnly(rest)) throw invalidParameter('sort', 'must be id or -id with state=unmanaged.')
  const page = await listPage(ctx, of, rest, row => row, owner)
  return { ...page, data: await unmanagedViews(ctx.hub.read, page.data) }
}

const unmanagedListing = listingOf('dns-found-records', dnsFoundRecords, {
  accessColumn: dnsFoundRecords.zoneId,
  maxItems: recordListing.maxItems!,
  filters: {
    type: { ...filters.type!, where: (value, place) => sql`${dnsFoundRecords.type} = ${place(parseType(value as string))}` },
    name: { ...filters.name!, where: (value, place) => nameMatches(dnsFoundRecords, namePattern(value as string), place) },
  },
  sorts: [],
})
const unmanagedZoneListing: Listing<FoundRow> = {
  ...unmanagedListing,
  name: 'dns-found-zone-records',
  owner: dnsFoundRecords.zoneId,
}

async function listManaged(
  ctx: Ctx,
  listing: Listing<RecordRow>,
  query: Record<string, unknown>,
  owner?: string,
): Promise<Page<DnsRecordView>> {
  const byMark = filtersByMark(query)
  const ordered = query.sort === undefined && !byMark ? { ...query, ...orderOf(query) } : query
  const of = {
    ...(byMark ? markListing(listing) : listing),
    filters: { ...filters, ...markFilters(query), q: searchOf(listing.owner!, owner ?? ctx.workspaceId) },
  }
  const page = await listPage(ctx, of, ordered, row => row, owner)
  return { ...page, data: await keptRecordViews(ctx.hub.read, page.data) }
}

/** The order of the index used for a pattern. Any other order would sort all matches for each page. */
function orderOf({ name, content, updated_since }: Record<string, unknown>): { sort: string[] } | {} {
  if (typeof name === 'string') {
    const pattern = namePattern(name)
    if (pattern.isPrefix) return { sort: [pattern.below ? 'name_reversed' : 'name'] }
  }
  if (typeof content === 'string' && content.endsWith('*')) return { sort: ['content_key'] }
  if (updated_since !== undefined) return { sort: ['updated_at'] }
  return {}
}
