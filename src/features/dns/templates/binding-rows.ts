import { and, eq, inArray, isNotNull, isNull, lt, or, sql, type SQL } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import { listingOf } from '../../../core/list'
import type { Filter } from '../../../core/listing'
import { textFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { editableView } from '../../../core/members'
import { notFound } from '../../../core/problem'
import { Words } from '../../../core/shapes'
import { rowsOf } from '../../../registry'
import { dnsZones } from '../zones/tables'
import { type BindingState, type BindingView, bindingStates } from './binding-shapes'
import { builtinTemplates } from './builtin-templates'
import { contentVersions } from './templates'
import { bindingModes, dnsTemplateBindings, dnsTemplates } from './tables'
import { Type } from '@sinclair/typebox'

export type BindingRow = typeof dnsTemplateBindings.$inferSelect

const b = dnsTemplateBindings

/** SQL condition: the template has a newer version than the one applied. */
const isBehind = lt(
  b.templateVersion,
  sql`case ${b.templateId} ${sql.join(
    [...builtinTemplates.values()].map(one => sql`when ${sql.raw(`'${one.id}'`)} then ${sql.raw(String(one.contentVersion))}`),
    sql` `,
  )} else (select ${dnsTemplates.contentVersion} from ${dnsTemplates} where ${dnsTemplates.id} = ${b.templateId}) end`,
)
const isModified = eq(b.modified, true)
const isOutdated = or(eq(b.pending, true), and(eq(b.mode, 'linked'), isBehind))!

/** SQL condition of each state. Every row is in exactly one. */
const inState: Record<BindingState, SQL> = {
  failed: isNotNull(b.error),
  modified: and(isNull(b.error), isModified)!,
  outdated: and(isNull(b.error), eq(b.modified, false), isOutdated)!,
  current: and(isNull(b.error), eq(b.modified, false), sql`not (${isOutdated})`)!,
}

const stateFilter: Filter = {
  schema: Type.Array(Words(bindingStates), {
    minItems: 1,
    maxItems: bindingStates.length,
    description: 'Only bindings in these states.',
  }),
  where: value => or(...(value as BindingState[]).map(state => inState[state]))!,
  variant: value => (value as string[]).join('+'),
}

export const bindingRows = rowsOf('template_binding', b, { accessTo: row => row.zoneId })

export const bindingListing = listingOf('dns-template-bindings', b, {
  isSmall: true,
  accessColumn: b.zoneId,
  filters: {
    template_id: textFilter(b.templateId, 'Only bindings of the template with this ID.'),
    zone_id: textFilter(b.zoneId, 'Only bindings of the zone with this ID.'),
    host: textFilter(b.host, 'Only bindings applied to this name, relative to the zone. `@` is the apex.', { maxLength: 1024 }),
    mode: wordsFilter(b.mode, bindingModes, 'Only bindings in these modes.'),
    state: stateFilter,
    ...timeFilters('applied_at', b.appliedAt),
    ...timeFilters('created_at', b.createdAt),
  },
  sorts: ['applied_at', 'created_at'],
})

const { template_id, zone_id, ...otherFilters } = bindingListing.filters
/** For the paths that name the template or the zone, which therefore can’t be filters too. */
export const bindingsOfTemplate = { ...bindingListing, filters: { ...otherFilters, zone_id: zone_id! } }
export const bindingsOfZone = { ...bindingListing, filters: { ...otherFilters, template_id: template_id! } }

/** Locks a binding whose zone is already locked. @throws Problem 404 */
export async function lockBinding(tx: Tx, id: string): Promise<BindingRow> {
  const [row] = await forUpdate(tx.select().from(b).where(eq(b.id, id)))
  if (!row) throw notFound('template binding')
  return row
}

/** Bindings as the API returns them. Loads zones and templates with one query each. */
export async function bindingViews(read: Reader, rows: readonly BindingRow[]): Promise<BindingView[]> {
  if (rows.length === 0) return []
  const zones = await read
    .select({ id: dnsZones.id, name: dnsZones.name })
    .from(dnsZones)
    .where(inArray(dnsZones.id, [...new Set(rows.map(row => row.zoneId))]))
  const names = new Map(zones.map(zone => [zone.id, zone.name]))
  const newest = await contentVersions(read, [...new Set(rows.map(row => row.templateId))])
  // Skip bindings whose zone was deleted in the meantime.
  return rows.flatMap(row => (names.has(row.zoneId) ? bindingView(row, names.get(row.zoneId)!, newest.get(row.templateId)) : []))
}

export const bindingView = (row: BindingRow, zone: string, newest = row.templateVersion): BindingView => ({
  id: row.id,
  template_id: row.templateId,
  template_version: row.templateVersion,
  zone_id: row.zoneId,
  zone,
  host: row.host,
  mode: row.mode,
  variables: row.variables,
  state: stateOf(row, newest),
  error: row.error,
  applied_at: instant(row.appliedAt),
  ...editableView(row),
})

function stateOf(row: BindingRow, newest: number): BindingState {
  if (row.error) return 'failed'
  if (row.modified) return 'modified'
  return row.pending || (row.mode === 'linked' && row.templateVersion < newest) ? 'outdated' : 'current'
}
