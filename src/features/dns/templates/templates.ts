import { and, count, eq, inArray, lte } from 'drizzle-orm'
import { refuseOneTooMany } from '../../../access/fixed-limits'
import { target } from '../../../core/audit'
import { change, isAlready } from '../../../core/change'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { keeping, locking } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import { newId } from '../../../core/ids'
import { requireMatch } from '../../../core/if-match'
import { listPage, searchFilter, timeFilters, wordsFilter, type Listing } from '../../../core/list'
import { pageOfRows } from '../../../core/list-rows'
import { reaches } from '../../../core/narrowing'
import { conflict, invalid, notFound } from '../../../core/problem'
import type { Page } from '../../../core/shapes'
import { builtinSince, builtinTemplates, type BuiltinTemplate } from './builtin-templates'
import type { TemplateContent } from './content'
import { contentProblems } from './content-check'
import type { TemplateInput, TemplatePatch, TemplateVersionView, TemplateView } from './shapes'
import { dnsTemplateBindings, dnsTemplates, dnsTemplateVersions } from './tables'

type TemplateRow = typeof dnsTemplates.$inferSelect
type VersionRow = typeof dnsTemplateVersions.$inferSelect
/** A template of the workspace, or of the program. */
export type KnownTemplate = Pick<
  TemplateRow,
  'id' | 'name' | 'description' | 'content' | 'contentVersion' | 'version' | 'createdAt' | 'updatedAt'
>

const mostTemplates = 200
const mostVersions = 50
const mostProblems = 20

type Head = Pick<TemplateRow, 'id' | 'name' | 'createdAt' | 'updatedAt'>
const heads = {
  id: dnsTemplates.id,
  name: dnsTemplates.name,
  createdAt: dnsTemplates.createdAt,
  updatedAt: dnsTemplates.updatedAt,
}

// Its filters are looked at in listTemplates: some templates are in no table.
export const templateListing: Listing<Head> = {
  name: 'dns-templates',
  table: dnsTemplates as never,
  id: dnsTemplates.id,
  idOf: row => row.id,
  owner: dnsTemplates.workspaceId,
  defaultSort: '-id',
  filters: {
    q: searchFilter([dnsTemplates.name], 'Only those whose name holds this text.'),
    origin: wordsFilter(dnsTemplates.id, ['builtin', 'own'], 'Only those that come with the program, or those of the workspace.'),
  },
  sorts: {
    name: { column: dnsTemplates.name, read: row => row.name },
    created_at: { column: dnsTemplates.createdAt, read: row => row.createdAt },
    updated_at: { column: dnsTemplates.updatedAt, read: row => row.updatedAt },
  },
}

/** Templates of the workspace and of the program; there are so few that all of them are looked at. */
export async function listTemplates(ctx: Ctx, query: Record<string, unknown>): Promise<Page<TemplateView>> {
  const own = await ctx.hub.read.select(heads).from(dnsTemplates).where(eq(dnsTemplates.workspaceId, ctx.workspaceId))
  const builtins = ctx.resourceIds === null ? [...builtinTemplates.values()].map(knownBuiltin) : []
  const { q, origin } = query as { q?: string; origin?: string[] }
  const fits = (row: Head) =>
    (q === undefined || row.name.toLowerCase().includes(q.toLowerCase())) &&
    (origin === undefined || origin.includes(builtinTemplates.has(row.id) ? 'builtin' : 'own'))
  const page = pageOfRows(ctx, templateListing, query, [...own.filter(row => reaches(ctx, row.id)), ...builtins].filter(fits))
  const ids = page.data.map(row => row.id)
  const rows = ids.length === 0 ? [] : await ctx.hub.read.select().from(dnsTemplates).where(inArray(dnsTemplates.id, ids))
  const known = new Map<string, KnownTemplate>([...builtins, ...rows].map(one => [one.id, one]))
  // One may have been deleted meanwhile.
  return { ...page, data: ids.flatMap(id => (known.has(id) ? templateView(known.get(id)!) : [])) }
}

/** @throws Problem 404 */
export const getTemplate = async (ctx: Ctx, id: string): Promise<TemplateView> =>
  templateView(await templateOf(ctx.hub.read, ctx, id))

/** @throws Problem 422, 409 for one too many */
export async function createTemplate(ctx: Ctx, input: TemplateInput): Promise<TemplateView> {
  const content = checked({ variables: input.variables ?? [], records: input.records })
  return await change(ctx, 'dns.template.create', async tx => {
    await refuseOneTooMany(tx, ctx.workspaceId, { table: dnsTemplates, most: mostTemplates, things: 'DNS templates' })
    const now = ctx.hub.clock.now()
    const [row] = await tx
      .insert(dnsTemplates)
      .values({
        id: newId('tmpl'),
        workspaceId: ctx.workspaceId,
        name: input.name,
        description: input.description ?? '',
        content,
        contentVersion: 1,
        version: 1,
        createdAt: now,
        updatedAt: now,
      })
      .returning()
    await keepVersion(tx, ctx, row!)
    const view = templateView(row!)
    return { result: view, target: templateTarget(row!), after: view }
  })
}

/** Edits a template. Zones stay as they are: linked bindings are outdated from then on. @throws Problem 404, 409, 412, 422 */
export async function updateTemplate(ctx: Ctx, id: string, patch: TemplatePatch): Promise<TemplateView> {
  refuseBuiltin(id)
  return await change(ctx, 'dns.template.update', async tx => {
    const row = await ownTemplate(tx, ctx, id)
    requireMatch(ctx, row)
    const content = {
      variables: patch.variables ?? row.content.variables,
      records: patch.records ?? row.content.records,
    }
    const edit = {
      name: patch.name ?? row.name,
      description: patch.description === undefined ? row.description : (patch.description ?? ''),
      content,
    }
    const before = templateView(row)
    if (isAlready(row, edit)) return { result: before, target: templateTarget(row), unchanged: true }
    checked(content)
    const version = row.version + 1
    const [after] = await tx
      .update(dnsTemplates)
      .set({
        ...edit,
        contentVersion: isAlready(row, { content }) ? row.contentVersion : version,
        version,
        updatedAt: ctx.hub.clock.now(),
      })
      .where(eq(dnsTemplates.id, id))
      .returning()
    await keepVersion(tx, ctx, after!)
    const view = templateView(after!)
    return { result: view, target: templateTarget(row), before, after: view }
  })
}

/**
 * Removes a template, and that it was applied here or there once; the records stay.
 * @throws Problem 404, 412, 409 while zones are linked to it
 */
export async function deleteTemplate(ctx: Ctx, id: string): Promise<void> {
  refuseBuiltin(id)
  await change(ctx, 'dns.template.delete', async tx => {
    const row = await ownTemplate(tx, ctx, id)
    requireMatch(ctx, row)
    const ownBindings = and(eq(dnsTemplateBindings.workspaceId, ctx.workspaceId), eq(dnsTemplateBindings.templateId, id))
    const [linked] = await tx
      .select({ n: count() })
      .from(dnsTemplateBindings)
      .where(and(ownBindings, eq(dnsTemplateBindings.mode, 'linked')))
    if (linked!.n > 0) throw conflict(`The template is linked to ${linked!.n} places in zones. Delete these bindings first.`)
    await tx.delete(dnsTemplateBindings).where(ownBindings)
    await tx.delete(dnsTemplates).where(eq(dnsTemplates.id, id))
    return { result: undefined, target: templateTarget(row), before: templateView(row) }
  })
}

export const versionListing: Listing<VersionRow> = {
  name: 'dns-template-versions',
  table: dnsTemplateVersions as never,
  id: dnsTemplateVersions.version,
  idOf: row => row.version,
  owner: dnsTemplateVersions.templateId,
  defaultSort: '-id',
  filters: { ...timeFilters('created_at', dnsTemplateVersions.createdAt) },
  sorts: {},
}

/** How a template was after each of its last edits. @throws Problem 404 */
export async function listVersions(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<TemplateVersionView>> {
  const template = await templateOf(ctx.hub.read, ctx, id)
  return await listPage(ctx, versionListing, query, versionView, template.id)
}

/** A template that the caller may use. @throws Problem 404 */
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

/** As {@link templateOf}, and it is neither edited nor deleted until the transaction ends. @throws Problem 404 */
export async function templateKept(tx: Tx, ctx: Pick<Ctx, 'workspaceId'>, id: string): Promise<KnownTemplate> {
  if (!builtinTemplates.has(id))
    await keeping(tx.select({ id: dnsTemplates.id }).from(dnsTemplates).where(eq(dnsTemplates.id, id)))
  return await templateOf(tx, ctx, id)
}

/** The newest content of templates, by id; those that are gone are left out. */
export async function contentVersions(read: Reader, ids: readonly string[]): Promise<Map<string, number>> {
  const own = ids.filter(id => !builtinTemplates.has(id))
  const rows =
    own.length === 0
      ? []
      : await read
          .select({ id: dnsTemplates.id, contentVersion: dnsTemplates.contentVersion })
          .from(dnsTemplates)
          .where(inArray(dnsTemplates.id, own))
  return new Map([...rows, ...builtinTemplates.values()].map(one => [one.id, one.contentVersion]))
}

export const templateTarget = (template: { id: string; name: string }) => target('dns_template', template)

/** @throws Problem 422 */
function checked(content: TemplateContent): TemplateContent {
  const problems = contentProblems(content)
  if (problems.length > 0) throw invalid(problems.slice(0, mostProblems))
  return content
}

/** @throws Problem 409 */
function refuseBuiltin(id: string): void {
  if (builtinTemplates.has(id))
    throw conflict('This template comes with the program and is not edited. Make one of your own from it.')
}

async function ownTemplate(tx: Tx, ctx: Ctx, id: string): Promise<TemplateRow> {
  const [row] = await locking(
    tx
      .select()
      .from(dnsTemplates)
      .where(and(eq(dnsTemplates.id, id), eq(dnsTemplates.workspaceId, ctx.workspaceId))),
  )
  if (!row) throw notFound('DNS template')
  return row
}

async function keepVersion(tx: Tx, ctx: Ctx, row: TemplateRow): Promise<void> {
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
    .where(and(eq(dnsTemplateVersions.templateId, row.id), lte(dnsTemplateVersions.version, row.version - mostVersions)))
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
  name: row.name,
  description: row.description,
  builtin: builtinTemplates.has(row.id),
  variables: row.content.variables,
  records: row.content.records,
  content_version: row.contentVersion,
  version: row.version,
  created_at: instant(row.createdAt),
  updated_at: instant(row.updatedAt),
})

const versionView = (row: VersionRow): TemplateVersionView => ({
  template_id: row.templateId,
  version: row.version,
  name: row.name,
  description: row.description,
  variables: row.content.variables,
  records: row.content.records,
  actor: { type: row.actor.type, id: row.actor.id, name: row.actor.name },
  created_at: instant(row.createdAt),
})
