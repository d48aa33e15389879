import { and, count, eq, inArray, lte } from 'drizzle-orm'
import { refuseOverLimit } from '../../../access/plans'
import { target } from '../../../core/audit'
import { change, isUnchanged } from '../../../core/change'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { forShare } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import { listingOf, listPage } from '../../../core/list'
import type { Listing } from '../../../core/listing'
import { searchedWords, searchFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { paginateRows } from '../../../core/list-rows'
import { editableView, inputColumns, memberView, patchColumns } from '../../../core/members'
import { canAccess } from '../../../core/resource-access'
import { pluralize } from '../../../core/pluralize'
import { conflict, notFound } from '../../../core/problem'
import { changedRow, insertRow, lockRow, removeRow, saveRow } from '../../../core/rows'
import type { Page } from '../../../core/shapes'
import { rowsOf } from '../../../registry'
import { builtinSince, builtinTemplates, type BuiltinTemplate } from './builtin-templates'
import { refuse } from '../changes/change-zone'
import { contentProblems } from './content-check'
import { templateMembers, type TemplateInput, type TemplatePatch, type TemplateVersionView, type TemplateView } from './shapes'
import { dnsTemplateBindings, dnsTemplates, dnsTemplateVersions } from './tables'

type TemplateRow = typeof dnsTemplates.$inferSelect
type VersionRow = typeof dnsTemplateVersions.$inferSelect
/** A custom or built-in template. */
export type KnownTemplate = Pick<
  TemplateRow,
  'id' | 'name' | 'description' | 'content' | 'contentVersion' | 'version' | 'createdAt' | 'updatedAt'
>

const maxVersions = 50

type Head = Pick<TemplateRow, 'id' | 'name' | 'createdAt' | 'updatedAt'>
const heads = {
  id: dnsTemplates.id,
  name: dnsTemplates.name,
  createdAt: dnsTemplates.createdAt,
  updatedAt: dnsTemplates.updatedAt,
}

const templateRows = rowsOf('dns_template', dnsTemplates)

// Filters are evaluated in listTemplates, since built-in templates aren’t in a table.
export const templateListing: Listing<Head> = listingOf('dns-templates', dnsTemplates, {
  isSmall: true,
  filters: {
    q: searchFilter([dnsTemplates.name], 'Only templates whose name contains all words of this text.'),
    origin: wordsFilter(dnsTemplates.id, ['builtin', 'custom'], 'Only templates of these origins: `builtin` or `custom`.'),
  },
  sorts: ['name', 'created_at', 'updated_at'],
})

/** Lists custom and built-in templates. There are few enough to filter them in memory. */
export async function listTemplates(ctx: Ctx, query: Record<string, unknown>): Promise<Page<TemplateView>> {
  const own = await ctx.hub.read.select(heads).from(dnsTemplates).where(eq(dnsTemplates.workspaceId, ctx.workspaceId))
  const builtins = ctx.resourceIds === null ? [...builtinTemplates.values()].map(knownBuiltin) : []
  const { q, origin } = query as { q?: string; origin?: string[] }
  const matches = (row: Head) =>
    (q === undefined || searchedWords(q.toLowerCase()).every(word => row.name.toLowerCase().includes(word))) &&
    (origin === undefined || origin.includes(builtinTemplates.has(row.id) ? 'builtin' : 'custom'))
  const page = paginateRows(
    ctx,
    templateListing,
    query,
    [...own.filter(row => canAccess(ctx, row.id)), ...builtins].filter(matches),
  )
  const ids = page.data.map(row => row.id)
  const rows = await ctx.hub.read.select().from(dnsTemplates).where(inArray(dnsTemplates.id, ids))
  const known = new Map<string, KnownTemplate>([...builtins, ...rows].map(one => [one.id, one]))
  // A template may have been deleted in the meantime.
  return { ...page, data: ids.flatMap(id => (known.has(id) ? templateView(known.get(id)!) : [])) }
}

/** @throws Problem 404 */
export const getTemplate = async (ctx: Ctx, id: string): Promise<TemplateView> =>
  templateView(await templateOf(ctx.hub.read, ctx, id))

/** @throws Problem 422, 409 if the limit is reached */
export async function createTemplate(ctx: Ctx, input: TemplateInput): Promise<TemplateView> {
  const content = { variables: input.variables ?? [], records: input.records }
  refuse(contentProblems(content))
  return await change(ctx, 'dns.template.create', async tx => {
    await refuseOverLimit(tx, ctx, 'dns_template')
    const row = await insertRow(tx, ctx, templateRows, {
      ...inputColumns(templateMembers, input),
      content,
      contentVersion: 1,
    })
    await storeVersion(tx, ctx, row)
    return await changedRow(templateRows, null, row, templateView)
  })
}

/** Updates a template. Zones don’t change; linked bindings become outdated. @throws Problem 404, 409, 412, 422 */
export async function updateTemplate(ctx: Ctx, id: string, patch: TemplatePatch): Promise<TemplateView> {
  refuseBuiltin(id)
  return await change(ctx, 'dns.template.update', async tx => {
    const row = await lockRow(tx, ctx, templateRows, id)
    const content = {
      variables: patch.variables ?? row.content.variables,
      records: patch.records ?? row.content.records,
    }
    const edit = { ...patchColumns(templateMembers, patch), content }
    if (!isUnchanged(row, edit)) refuse(contentProblems(content))
    const contentVersion = isUnchanged(row, { content }) ? row.contentVersion : row.version + 1
    const after = await saveRow(tx, ctx, templateRows, row, { ...edit, contentVersion })
    if (after !== row) await storeVersion(tx, ctx, after)
    return await changedRow(templateRows, row, after, templateView)
  })
}

/**
 * Deletes a template and its `once` bindings. Records in zones stay.
 * @throws Problem 404, 412, 409 while zones are linked to it
 */
export async function deleteTemplate(ctx: Ctx, id: string): Promise<void> {
  refuseBuiltin(id)
  await change(ctx, 'dns.template.delete', async tx => {
    const row = await lockRow(tx, ctx, templateRows, id)
    const ownBindings = and(eq(dnsTemplateBindings.workspaceId, ctx.workspaceId), eq(dnsTemplateBindings.templateId, id))
    const [linked] = await tx
      .select({ n: count() })
      .from(dnsTemplateBindings)
      .where(and(ownBindings, eq(dnsTemplateBindings.mode, 'linked')))
    if (linked!.n > 0) throw conflict(`The template still has ${pluralize(linked!.n, 'linked bindings')}. Delete them first.`)
    await tx.delete(dnsTemplateBindings).where(ownBindings)
    await removeRow(tx, templateRows, row)
    return { result: undefined, target: templateTarget(row), before: templateView(row) }
  })
}

export const versionListing = listingOf('dns-template-versions', dnsTemplateVersions, {
  isSmall: true,
  id: dnsTemplateVersions.version,
  idOf: row => row.version,
  owner: dnsTemplateVersions.templateId,
  filters: timeFilters('created_at', dnsTemplateVersions.createdAt),
  sorts: [],
})

/** Lists the most recent versions of a template. @throws Problem 404 */
export async function listVersions(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<TemplateVersionView>> {
  const template = await templateOf(ctx.hub.read, ctx, id)
  return await listPage(ctx, versionListing, query, versionView, template.id)
}

/** Finds a template the caller may use. @throws Problem 404 */
export async function templateOf(read: Reader, ctx: Pick<Ctx, 'workspaceId'>, id: string): Promise<KnownTemplate> {
  const builtin = builtinTemplates.get(id)
  if (builtin) return knownBuiltin(builtin)
  const [row] = await read
    .select()
    .from(dnsTemplates)
    .where(and(eq(dnsTemplates.id, id), eq(dnsTemplates.workspaceId, ctx.workspaceId)))
  if (!row) throw notFound('DNS template')
  return row
}

/** Like {@link templateOf}, and prevents updating or deleting it until the transaction ends. @throws Problem 404 */
export async function lockTemplate(tx: Tx, ctx: Pick<Ctx, 'workspaceId'>, id: string): Promise<KnownTemplate> {
  if (!builtinTemplates.has(id))
    await forShare(tx.select({ id: dnsTemplates.id }).from(dnsTemplates).where(eq(dnsTemplates.id, id)))
  return await templateOf(tx, ctx, id)
}

/** Current content versions by template id. Deleted templates are omitted. */
export async function contentVersions(read: Reader, ids: readonly string[]): Promise<Map<string, number>> {
  const own = ids.filter(id => !builtinTemplates.has(id))
  const rows = await read
    .select({ id: dnsTemplates.id, contentVersion: dnsTemplates.contentVersion })
    .from(dnsTemplates)
    .where(inArray(dnsTemplates.id, own))
  return new Map([...rows, ...builtinTemplates.values()].map(one => [one.id, one.contentVersion]))
}

export const templateTarget = (template: { id: string; name: string }) => target('dns_template', template)

/** @throws Problem 409 */
function refuseBuiltin(id: string): void {
  if (builtinTemplates.has(id)) throw conflict('Built-in templates can’t be edited or deleted. Create a copy instead.')
}

async function storeVersion(tx: Tx, ctx: Ctx, row: TemplateRow): Promise<void> {
  await tx.insert(dnsTemplateVersions).values({
    templateId: row.id,
    version: row.version,
    name: row.name,
    description: row.description,
    content: row.content,
    actor: ctx.actor,
    createdAt: row.updatedAt,
  })
  await tx
    .delete(dnsTemplateVersions)
    .where(and(eq(dnsTemplateVersions.templateId, row.id), lte(dnsTemplateVersions.version, row.version - maxVersions)))
}

const knownBuiltin = ({ id, name, description, content, contentVersion }: BuiltinTemplate): KnownTemplate => ({
  id,
  name,
  description,
  content,
  contentVersion,
  version: contentVersion,
  createdAt: builtinSince,
  updatedAt: builtinSince,
})

const templateView = (row: KnownTemplate): TemplateView => ({
  id: row.id,
  ...memberView(templateMembers, row),
  builtin: builtinTemplates.has(row.id),
  variables: row.content.variables,
  records: row.content.records,
  content_version: row.contentVersion,
  ...editableView(row),
})

const versionView = (row: VersionRow): TemplateVersionView => ({
  template_id: row.templateId,
  version: row.version,
  ...memberView(templateMembers, row),
  variables: row.content.variables,
  records: row.content.records,
  actor: { type: row.actor.type, id: row.actor.id, name: row.actor.name },
  created_at: instant(row.createdAt),
})
