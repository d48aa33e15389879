import { Type } from '@sinclair/typebox'
import { sql } from 'drizzle-orm'
import { refuseOverLimit } from '../../../access/plans'
import { change } from '../../../core/change'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { listingOf, listPage } from '../../../core/list'
import { idsFilter, searchFilter, textFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { inputColumns, patchColumns } from '../../../core/members'
import { conflict, invalid, Problem } from '../../../core/problem'
import { changedRow, findRow, insertRow, lockRow, removeRow, saveRow, targetOf, uniqueName } from '../../../core/rows'
import type { Page } from '../../../core/shapes'
import { lockSources } from '../../dynamic-ips/rule-links'
import { listingByLabel, saveLabels, selectorFilter } from '../label-filter'
import { selectorProblem } from '../labels'
import { blockedByAttachments, followVersion } from './change-rules'
import { orderedBy } from './ordered'
import { requireAllowed, validRules } from './rule-operations'
import { namedSources } from './rules'
import { firewallMembers, type FirewallInput, type FirewallPatch, type FirewallVersionView, type FirewallView } from './shapes'
import { followSelectors, lockSelectors, selectableServers, selectorChanges, type Followed } from './selectors'
import { firewallAttachments, firewallLabels, firewalls, firewallVersions } from './tables'
import { firewallRows, firewallViewOf, firewallViews, type FirewallRow } from './view'

export const firewallListing = listingOf('firewalls', firewalls, {
  isSmall: true,
  filters: {
    ids: idsFilter(firewalls.id),
    drift_policy: wordsFilter(firewalls.driftPolicy, ['report', 'enforce'], 'Only firewalls with this drift policy.'),
    name: textFilter(firewalls.name, 'Only the firewall with this name.'),
    server_id: {
      schema: Type.String({ minLength: 1, maxLength: 64, description: 'Only firewalls of this server.' }),
      where: (value, bind) =>
        sql`exists (select 1 from ${firewallAttachments} where ${firewallAttachments.firewallId} = ${firewalls.id}
          and ${firewallAttachments.serverId} = ${bind(value)})`,
    },
    ...selectorFilter('firewalls', firewalls.id, firewallLabels),
    q: searchFilter(
      [firewalls.name, firewalls.description],
      'Only firewalls whose name or description contains all words of this text.',
    ),
    ...timeFilters('created_at', firewalls.createdAt),
  },
  sorts: ['name', 'created_at'],
})

export async function listFirewalls(ctx: Ctx, query: Record<string, unknown>): Promise<Page<FirewallView>> {
  const listing = await listingByLabel(ctx, firewallListing, firewallLabels, query)
  const page = await listPage(ctx, listing, query, (row: FirewallRow) => row)
  return { ...page, data: await firewallViews(ctx.hub.read, page.data) }
}

/** @throws Problem 404 */
export const getFirewall = async (ctx: Ctx, id: string): Promise<FirewallView> =>
  firewallViewOf(ctx.hub.read, await findRow(ctx.hub.read, ctx, firewallRows, id))

/** @throws Problem 403 `plan_limit_reached`, `permission_missing`; 409 `plan_blocked`, or if the name exists; 422 */
export async function createFirewall(ctx: Ctx, input: FirewallInput): Promise<FirewallView> {
  requireSelector(input.label_selector)
  const { rules, blocks } = await validRules(ctx, input)
  return await uniqueName(firewallRows, input.name, () =>
    change(ctx, 'cloud.firewall.create', async tx => {
      const sources = await lockSources(tx, ctx.workspaceId, namedSources(rules))
      if (input.label_selector != null) await lockSelectors(tx, ctx.workspaceId)
      await refuseOverLimit(tx, ctx, 'firewall')
      const row = await insertRow(tx, ctx, firewallRows, {
        ...inputColumns(firewallMembers, input),
        ...{ rules, blocks, rulesVersion: 1, pending: null, actionId: null, enforcedAt: [] },
      })
      const effects = await followVersion(tx, ctx.hub, row, sources, {
        reason: 'created',
        note: null,
        allowed: [],
        by: ctx.actor,
      })
      await saveLabels(tx, firewallLabels, ctx.workspaceId, [{ id: row.id, before: {}, after: row.labels }])
      const { jobs, audits } = await followSelector(tx, ctx, row, input)
      const changed = await changedRow(firewallRows, null, row, one => firewallViewOf(tx, one))
      return {
        ...{ ...changed, ...effects, reason: input.note ?? null },
        jobs: [...(effects.jobs ?? []), ...jobs],
        audits: [...(effects.audits ?? []), ...audits],
      }
    }),
  )
}

/** @throws Problem 403 `restricted_token`; 404; 409 `plan_blocked`, or if the name exists; 412; 422 */
export async function updateFirewall(ctx: Ctx, id: string, patch: FirewallPatch): Promise<FirewallView> {
  return await uniqueName(firewallRows, patch.name ?? '', () =>
    change(ctx, 'cloud.firewall.update', async tx => {
      if (patch.label_selector !== undefined) await lockSelectors(tx, ctx.workspaceId)
      const before = await lockRow(tx, ctx, firewallRows, id)
      if (patch.label_selector !== undefined) refuseOtherServers(ctx, before, patch.label_selector)
      requireSelector(patch.label_selector)
      const after = await saveRow(tx, ctx, firewallRows, before, patchColumns(firewallMembers, patch))
      await saveLabels(tx, firewallLabels, ctx.workspaceId, [{ id, before: before.labels, after: after.labels }])
      const followed = before.labelSelector === after.labelSelector ? {} : await followSelector(tx, ctx, after, patch)
      const changed = await changedRow(firewallRows, before, after, one => firewallViewOf(tx, one))
      return { ...changed, ...followed, reason: patch.note ?? null }
    }),
  )
}

/** Refuses another selector to tokens that may have no access to what it selects. @throws Problem 403 `restricted_token` */
function refuseOtherServers(ctx: Ctx, { labelSelector }: FirewallRow, selector: string | null): void {
  if (ctx.resourceIds === null || labelSelector === selector) return
  throw new Problem(
    'restricted_token',
    'A label selector selects from all servers of the workspace. A token limited to specific resources can’t change it.',
  )
}

/** @throws Problem 422 */
function requireSelector(selector: string | null | undefined): void {
  const problem = selectorProblem(selector, '#/label_selector')
  if (problem) throw invalid([problem])
}

/** Attaches and detaches servers as the selector says. @throws Problem 409 `plan_blocked`, 422 without a note */
async function followSelector(
  tx: Tx,
  ctx: Ctx,
  row: FirewallRow,
  { allow, note }: Pick<FirewallPatch, 'allow' | 'note'>,
): Promise<Followed> {
  const changes = await selectorChanges(tx, [row], await selectableServers(tx, ctx.workspaceId))
  return await followSelectors(tx, changes, async affected => {
    requireAllowed(await blockedByAttachments(tx, ctx, affected), {
      ...(allow && { allow }),
      ...(note !== undefined && { note }),
    })
  })
}

/** @throws Problem 404; 409 while servers have it, or an order names it; 412 */
export const deleteFirewall = (ctx: Ctx, id: string): Promise<void> =>
  change(ctx, 'cloud.firewall.delete', async tx => {
    const row = await lockRow(tx, ctx, firewallRows, id)
    const before = await firewallViewOf(tx, row)
    if (before.attached.length > 0)
      throw conflict('The firewall is attached to servers. Detach it first: deleting it would open all their ports.')
    const ordering = await orderedBy(tx, row)
    if (ordering)
      throw conflict(`The server ${ordering.name} is to be created with the firewall. Change its \`firewall_ids\` first.`)
    await removeRow(tx, firewallRows, row)
    return { result: undefined, target: targetOf(firewallRows, row), before }
  })

/** Lists the versions of the rules, newest first. @throws Problem 404 */
export async function listVersions(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<FirewallVersionView>> {
  await findRow(ctx.hub.read, ctx, firewallRows, id)
  return await listPage(ctx, versionListing, query, versionView, id)
}

export const versionListing = listingOf('firewall-versions', firewallVersions, {
  owner: firewallVersions.firewallId,
  accessColumn: firewallVersions.firewallId,
  isSmall: true,
  filters: timeFilters('created_at', firewallVersions.createdAt),
  sorts: ['created_at'],
})

const versionView = (row: typeof firewallVersions.$inferSelect): FirewallVersionView => ({
  id: row.id,
  rules_version: row.rulesVersion,
  rules: row.rules,
  blocks: row.blocks,
  reason: row.reason,
  note: row.note,
  allowed: row.allowed,
  actor: { type: row.actor.type, id: row.actor.id, name: row.actor.name },
  created_at: instant(row.createdAt),
})
