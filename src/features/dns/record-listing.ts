import { Type } from '@sinclair/typebox'
import { and, eq, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Ctx } from '../../core/ctx'
import { toAscii } from '../../core/dns/name'
import { DnsFormatError } from '../../core/dns/format-error'
import { recordTypeOf } from '../../core/dns/types'
import { listPage, listQuery, wordsFilter, type Filter, type Listing } from '../../core/list'
import { reaches } from '../../core/narrowing'
import { badParameter } from '../../core/query'
import type { Page } from '../../core/shapes'
import type { DnsRecordView } from './record-shapes'
import { asksForMarks, markFilters, throughMarks } from './record-marks'
import { contentKeyLength, contentKeyOf } from './record-values'
import { dnsFoundRecords } from './sync/tables'
import { dnsRecords, dnsZones, recordSources } from './tables'
import { foundViews, recordViews, type FoundRow } from './views'
import { asciiName, fits, patternFilter, patternOf, type Pattern, type Place } from './name-patterns'
import type { RecordRow } from './zone-rows'
import { reversedName } from './zone-names'

/** The names that a filter means: one of them, those that begin so, or those below a name. `*` alone is the wildcard itself. */
function namePattern(value: string): Pattern & { below: boolean } {
  const text = asciiName(value.toLowerCase())
  if (text === '*' || text === '') return { text: text || '@', isPrefix: false, below: false }
  if (text.startsWith('*.') && !text.slice(2).includes('*')) return { text: text.slice(2), isPrefix: true, below: true }
  return { ...patternOf('name', text), below: false }
}

function nameFits(columns: { name: SQLiteColumn; nameReversed: SQLiteColumn }, value: string, place: Place): SQL {
  const pattern = namePattern(value)
  if (!pattern.below) return fits(columns.name, pattern, place)
  return fits(columns.nameReversed, { text: `${reversedName(pattern.text)}.`, isPrefix: true }, place)
}

/** @throws Problem 400 naming what is no type */
function typeAsked(text: string): string {
  try {
    return recordTypeOf(text).name
  } catch (error) {
    if (error instanceof DnsFormatError) throw badParameter('type', `must be a record type, and ${text.toUpperCase()} is none.`)
    throw error
  }
}

const filters: Record<string, Filter> = {
  type: {
    schema: Type.String({
      pattern: '^[A-Za-z0-9]{1,20}$',
      'x-rule': 'must be one record type, since pages are found by walking along the records of one: ask once for each.',
      description: 'Only this type, one at a time: a page costs the same however many records there are of others.',
    }),
    where: (value, place) => sql`${dnsRecords.type} = ${place(typeAsked(value as string))}`,
  },
  name: patternFilter({
    maxLength: 255,
    description:
      'Only this name within its zone (`@` is the apex), those that begin so (`www*`), or those below a name (`*.dev`). ' +
      'A pattern makes the order that of names, unless `sort` is given.',
    where: (value, place) => nameFits(dnsRecords, value, place),
  }),
  content: patternFilter({
    maxLength: contentKeyLength,
    description: `Only this value, or those that begin so (\`192.0.2.*\`), whatever their case, by their first ${contentKeyLength} characters. Of TXT it is the text.`,
    where: (value, place) => fits(dnsRecords.contentKey, keyPattern('content', value), place),
  }),
  source: wordsFilter(dnsRecords.source, recordSources, 'Only those that came from there.'),
  updated_since: {
    schema: Type.String({
      format: 'date-time',
      description: 'Only those made or edited at or after this time. It makes the order that of edits, unless `sort` is given.',
    }),
    where: (value, place) => sql`${dnsRecords.updatedAt} >= ${place(Date.parse(value as string))}`,
  },
}

function keyPattern(parameter: string, value: string): Pattern {
  const pattern = patternOf(parameter, value)
  return { ...pattern, text: contentKeyOf(pattern.text) }
}

/** Search in names and values of an owner's records. Each is looked up in its index: of an `or` SQLite walks every row. */
const searchOf = (owner: SQLiteColumn, ownerId: string): Filter =>
  patternFilter({
    maxLength: 100,
    description: 'Only those whose name or value is this text, or begins so (`mail*`).',
    where(value, place) {
      const pattern = keyPattern('q', value)
      const found = (column: SQLiteColumn) =>
        sql`select ${dnsRecords.id} from ${dnsRecords} where ${owner} = ${place(ownerId)} and ${fits(column, pattern, place)}`
      return sql`${dnsRecords.id} in (${found(dnsRecords.name)} union all ${found(dnsRecords.contentKey)})`
    },
  })

/** The records of all zones of a workspace. */
export const recordListing: Listing<RecordRow> = {
  name: 'dns-records',
  table: dnsRecords as never,
  id: dnsRecords.id,
  idOf: row => row.id,
  owner: dnsRecords.workspaceId,
  // Those of a zone that is gone are still there until they are cleared away (clear-zone.ts). Each is looked up by its zone: as an
  // expression, so that no engine walks the zones instead and sorts what it finds.
  condition: sql`exists (select 1 from ${dnsZones} where ${dnsZones.id} = ${dnsRecords.zoneId} || '')`,
  narrowedBy: dnsRecords.zoneId,
  defaultSort: '-id',
  mostItems: 1000,
  filters,
  sorts: {
    name: { column: dnsRecords.name, read: row => row.name },
    type: { column: dnsRecords.type, read: row => row.type },
    name_reversed: { column: dnsRecords.nameReversed, read: row => row.nameReversed },
    content: { column: dnsRecords.contentKey, read: row => row.contentKey },
    updated_at: { column: dnsRecords.updatedAt, read: row => row.updatedAt },
  },
}

/** The records of one zone. */
const zoneRecordListing: Listing<RecordRow> = {
  ...recordListing,
  name: 'dns-zone-records',
  owner: dnsRecords.zoneId,
  condition: undefined,
}

// Orders that only patterns ask for are not offered.
const offered = {
  ...recordListing,
  filters: { ...filters, ...markFilters({}), q: searchOf(dnsRecords.workspaceId, '') },
  sorts: { name: recordListing.sorts.name!, type: recordListing.sorts.type!, updated_at: recordListing.sorts.updated_at! },
}

/** Parameters of the list of a zone. */
export const zoneRecordQuery = listQuery(offered)
/** Parameters of the list of all zones. */
export const recordQuery = listQuery({
  ...offered,
  filters: {
    zone: {
      schema: Type.String({ minLength: 1, maxLength: 253, description: 'Only those of this zone, by its id or its name.' }),
      where: () => sql`1 = 1`,
    },
    ...offered.filters,
  },
})

/** Records of all zones, or of the one that the query names. */
export async function listRecords(ctx: Ctx, query: Record<string, unknown>): Promise<Page<DnsRecordView>> {
  const { zone, ...rest } = query
  const listed = rest.state === 'unmanaged' ? listFound : shown
  if (zone === undefined) return await listed(ctx, recordListing, rest)
  const word = zoneWord((zone as string).replace(/\.$/, ''))
  const [row] = await ctx.hub.read
    .select({ id: dnsZones.id })
    .from(dnsZones)
    .where(
      and(eq(dnsZones.workspaceId, ctx.workspaceId), word.startsWith('zone_') ? eq(dnsZones.id, word) : eq(dnsZones.name, word)),
    )
  // A zone that is not there, or not to be seen, has no records.
  return await listed(ctx, zoneRecordListing, rest, row && reaches(ctx, row.id) ? row.id : 'none')
}

/** The id of a zone, or its name in A-labels; what is no name is that of none. */
function zoneWord(text: string): string {
  try {
    return toAscii(text).toLowerCase()
  } catch (error) {
    if (error instanceof DnsFormatError) return text
    throw error
  }
}

/** Records of one zone. @param zoneId which the caller was found to own */
export const listZoneRecords = (ctx: Ctx, zoneId: string, query: Record<string, unknown>): Promise<Page<DnsRecordView>> =>
  (query.state === 'unmanaged' ? listFound : shown)(ctx, zoneRecordListing, query, zoneId)

/** Records that are at providers alone. @throws Problem 400 for filters and orders that are about what is kept here */
async function listFound(
  ctx: Ctx,
  { owner: column }: Listing<RecordRow>,
  query: Record<string, unknown>,
  owner?: string,
): Promise<Page<DnsRecordView>> {
  const { state: _, ...rest } = query
  const of = column === dnsRecords.zoneId ? foundInZone : foundListing
  const wrong = Object.keys(rest).find(
    name => !['limit', 'cursor', 'include'].includes(name) && !Object.hasOwn(of.filters, name) && name !== 'sort',
  )
  if (wrong !== undefined) throw badParameter(wrong, 'does not go with state=unmanaged.')
  if (rest.sort !== undefined && !(rest.sort as string[]).every(word => /^-?id$/.test(word)))
    throw badParameter('sort', 'must be id or -id with state=unmanaged.')
  const page = await listPage(ctx, of, rest, row => row, owner)
  return { ...page, data: await foundViews(ctx.hub.read, page.data) }
}

const foundListing: Listing<FoundRow> = {
  name: 'dns-found-records',
  table: dnsFoundRecords as never,
  id: dnsFoundRecords.id,
  idOf: row => row.id,
  owner: dnsFoundRecords.workspaceId,
  narrowedBy: dnsFoundRecords.zoneId,
  defaultSort: '-id',
  mostItems: recordListing.mostItems!,
  filters: {
    type: { ...filters.type!, where: (value, place) => sql`${dnsFoundRecords.type} = ${place(typeAsked(value as string))}` },
    name: { ...filters.name!, where: (value, place) => nameFits(dnsFoundRecords, value as string, place) },
  },
  sorts: {},
}
const foundInZone: Listing<FoundRow> = { ...foundListing, name: 'dns-found-zone-records', owner: dnsFoundRecords.zoneId }

async function shown(
  ctx: Ctx,
  listing: Listing<RecordRow>,
  query: Record<string, unknown>,
  owner?: string,
): Promise<Page<DnsRecordView>> {
  const marked = asksForMarks(query)
  const ordered = query.sort === undefined && !marked ? { ...query, ...orderOf(query) } : query
  const of = {
    ...(marked ? throughMarks(listing) : listing),
    filters: { ...filters, ...markFilters(query), q: searchOf(listing.owner!, owner ?? ctx.workspaceId) },
  }
  const page = await listPage(ctx, of, ordered, row => row, owner)
  return { ...page, data: await recordViews(ctx.hub.read, page.data) }
}

/** The order in which the index that finds a pattern has its rows: in any other, all that fits would have to be sorted for each page. */
function orderOf({ name, content, updated_since }: Record<string, unknown>): { sort: string[] } | {} {
  if (typeof name === 'string') {
    const pattern = namePattern(name)
    if (pattern.isPrefix) return { sort: [pattern.below ? 'name_reversed' : 'name'] }
  }
  if (typeof content === 'string' && content.endsWith('*')) return { sort: ['content'] }
  if (updated_since !== undefined) return { sort: ['updated_at'] }
  return {}
}
