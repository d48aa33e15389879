import { and, eq, inArray, isNotNull, isNull, lt, or, sql, type SQL } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { locking } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import { textFilter, timeFilters, wordsFilter, type Filter, type Listing } from '../../../core/list'
import { reaches } from '../../../core/narrowing'
import { notFound } from '../../../core/problem'
import { Words } from '../../../core/shapes'
import { dnsZones } from '../tables'
import type { BindingState, BindingView } from './binding-shapes'
import { bindingStates } from './binding-shapes'
import { builtinTemplates } from './builtin-templates'
import { contentVersions } from './templates'
import { bindingModes, dnsTemplateBindings, dnsTemplates } from './tables'
import { Type } from '@sinclair/typebox'

export type BindingRow = typeof dnsTemplateBindings.$inferSelect

const b = dnsTemplateBindings

/** Whether a template is newer than what was applied, as the database tells it. */
const isBehind = lt(
  b.templateVersion,
  sql`case ${b.templateId} ${sql.join(
    [...builtinTemplates.values()].map(one => sql`when ${sql.raw(`'${one.id}'`)} then ${sql.raw(String(one.contentVersion))}`),
    sql` `,
  )} else (select ${dnsTemplates.contentVersion} from ${dnsTemplates} where ${dnsTemplates.id} = ${b.templateId}) end`,
)
const isEdited = eq(b.edited, true)
const isOutdated = or(eq(b.pending, true), and(eq(b.mode, 'linked'), isBehind))!

/** The states as conditions on the rows; each row is in one. */
const inState: Record<BindingState, SQL> = {
  failed: isNotNull(b.error),
  edited_away: and(isNull(b.error), isEdited)!,
  outdated: and(isNull(b.error), eq(b.edited, false), isOutdated)!,
  current: and(isNull(b.error), eq(b.edited, false), sql`not (${isOutdated})`)!,
}

const stateFilter: Filter = {
  schema: Type.Array(Words(bindingStates), {
    minItems: 1,
    maxItems: bindingStates.length,
    description: 'Only those of these states.',
  }),
  where: value => or(...(value as BindingState[]).map(state => inState[state]))!,
  variant: value => (value as string[]).join('+'),
}

export const bindingListing: Listing<BindingRow> = {
  name: 'dns-template-bindings',
  table: b as never,
  id: b.id,
  idOf: row => row.id,
  owner: b.workspaceId,
  narrowedBy: b.zoneId,
  defaultSort: '-id',
  filters: {
    template_id: textFilter(b.templateId, 'Only those of this template.'),
    zone_id: textFilter(b.zoneId, 'Only those of this zone.'),
    host: textFilter(b.host, 'Only those at this name within their zone; `@` is the apex.', { maxLength: 1024 }),
    mode: wordsFilter(b.mode, bindingModes, 'Only those of these modes.'),
    state: stateFilter,
    ...timeFilters('applied_at', b.appliedAt),
    ...timeFilters('created_at', b.createdAt),
  },
  sorts: {
    applied_at: { column: b.appliedAt, read: row => row.appliedAt },
    created_at: { column: b.createdAt, read: row => row.createdAt },
  },
}

/** @throws Problem 404 */
export async function bindingOf(read: Reader, ctx: Ctx, id: string): Promise<BindingRow> {
  const [row] = await read
    .select()
    .from(b)
    .where(and(eq(b.id, id), eq(b.workspaceId, ctx.workspaceId)))
  if (!row || !reaches(ctx, row.zoneId)) throw notFound('template binding')
  return row
}

/** The binding of a zone that is held already, held itself. @throws Problem 404 */
export async function bindingHeld(tx: Tx, id: string): Promise<BindingRow> {
  const [row] = await locking(tx.select().from(b).where(eq(b.id, id)))
  if (!row) throw notFound('template binding')
  return row
}

/** Bindings as the API shows them, with two queries for what they have in common. */
export async function bindingViews(read: Reader, rows: readonly BindingRow[]): Promise<BindingView[]> {
  if (rows.length === 0) return []
  const zones = await read
    .select({ id: dnsZones.id, name: dnsZones.name })
    .from(dnsZones)
    .where(inArray(dnsZones.id, [...new Set(rows.map(row => row.zoneId))]))
  const names = new Map(zones.map(zone => [zone.id, zone.name]))
  const newest = await contentVersions(read, [...new Set(rows.map(row => row.templateId))])
  // Those of a zone that was deleted meanwhile went with it.
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
  version: row.version,
  created_at: instant(row.createdAt),
  updated_at: instant(row.updatedAt),
})

function stateOf(row: BindingRow, newest: number): BindingState {
  if (row.error) return 'failed'
  if (row.edited) return 'edited_away'
  return row.pending || (row.mode === 'linked' && row.templateVersion < newest) ? 'outdated' : 'current'
}
