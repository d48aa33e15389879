import { eq } from 'drizzle-orm'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { AuditAction } from '../../core/audit-actions'
import type { Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { inputColumns, patchColumns } from '../../core/members'
import { conflict, invalid, notFound, permissionMissing } from '../../core/problem'
import { findRow, lockRow, targetOf } from '../../core/rows'
import { onePage, type Page } from '../../core/shapes'
import { driveLinks } from './drive-links'
import { joinedEffects } from './effects'
import { linkMembers, maxLinks, type FirewallLinkInput, type FirewallLinkPatch, type FirewallLinkView } from './link-shapes'
import { entriesOf } from './rule-links'
import { dynamicIpLinks } from './tables'
import { dynamicIpRows, linksOf, linkView, type LinkRow, type SourceRow } from './view'

/** @throws Problem 404 */
export async function listFirewallLinks(ctx: Ctx, id: string): Promise<Page<FirewallLinkView>> {
  await findRow(ctx.hub.read, ctx, dynamicIpRows, id)
  return onePage((await linksOf(ctx.hub.read, [id])).map(linkView))
}

/**
 * Links a firewall rule to a source, and adds its current networks.
 * @throws Problem 404, 403 without `cloud.write`, 409 for a duplicate, 422 naming the rule
 */
export function createFirewallLink(ctx: Ctx, id: string, input: FirewallLinkInput): Promise<FirewallLinkView> {
  return edit(ctx, 'dynamic_ip.firewall_link.create', id, null, async (tx, source, links) => {
    if (links.length >= maxLinks) throw conflict(`A source can have at most ${maxLinks} firewall links.`)
    if (links.some(one => one.firewallId === input.firewall_id && one.ruleId === input.rule_id))
      throw conflict('The rule is linked to this source already.')
    await requireRule(tx, ctx, input)
    const row: LinkRow = {
      id: newId('dfl'),
      sourceId: source.id,
      ...inputColumns(linkMembers, input),
      status: 'active',
      reason: null,
      applied: [],
      pendingRemoval: [],
      changes: [],
    }
    await tx.insert(dynamicIpLinks).values(row)
    return row
  })
}

/** @throws Problem 404, 403 without `cloud.write` */
export function updateFirewallLink(ctx: Ctx, id: string, linkId: string, patch: FirewallLinkPatch): Promise<FirewallLinkView> {
  return edit(ctx, 'dynamic_ip.firewall_link.update', id, linkId, async (tx, _, __, link) => {
    const set = patchColumns(linkMembers, patch)
    if (Object.keys(set).length > 0) await tx.update(dynamicIpLinks).set(set).where(eq(dynamicIpLinks.id, link!.id))
    return { ...link!, ...set }
  })
}

/** Lets a link that is paused or failed follow its source again. @throws Problem 404, 403 without `cloud.write`, 422 */
export function resumeFirewallLink(ctx: Ctx, id: string, linkId: string): Promise<FirewallLinkView> {
  return edit(ctx, 'dynamic_ip.firewall_link.resume', id, linkId, async (tx, _, __, link) => {
    if (link!.status === 'failed') await requireRule(tx, ctx, { firewall_id: link!.firewallId, rule_id: link!.ruleId })
    if (link!.status === 'active' || link!.status === 'pending') return link!
    const set = { status: 'active' as const, reason: null, changes: [] }
    await tx.update(dynamicIpLinks).set(set).where(eq(dynamicIpLinks.id, link!.id))
    return { ...link!, ...set }
  })
}

/** Ends a link, and removes the networks that it added. @throws Problem 404, 403 without `cloud.write` */
export async function deleteFirewallLink(ctx: Ctx, id: string, linkId: string): Promise<void> {
  requireCloudAccess(ctx)
  await change(ctx, 'dynamic_ip.firewall_link.delete', async tx => {
    const source = await lockRow(tx, { ...ctx, ifMatch: null }, dynamicIpRows, id)
    const link = (await linksOf(tx, [id])).find(one => one.id === linkId)
    if (!link) throw notFound('firewall link')
    const { effects } = await driveLinks(tx, ctx.hub, source, [{ ...link, status: 'active' }], { removesAll: true })
    await tx.delete(dynamicIpLinks).where(eq(dynamicIpLinks.id, linkId))
    const unnamed = await ctx.hub.firewallRules.nameSource(tx, ctx.hub, entriesFor(ctx, link, []))
    return {
      result: undefined,
      target: targetOf(dynamicIpRows, source),
      before: linkView(link),
      ...joinedEffects(effects, unnamed),
    }
  })
}

type Step = (tx: Tx, source: SourceRow, links: LinkRow[], link: LinkRow | null) => Promise<LinkRow>

async function edit(ctx: Ctx, action: AuditAction, id: string, linkId: string | null, step: Step): Promise<FirewallLinkView> {
  requireCloudAccess(ctx)
  return await change(ctx, action, async tx => {
    const source = await lockRow(tx, { ...ctx, ifMatch: null }, dynamicIpRows, id)
    const links = await linksOf(tx, [id])
    const link = linkId === null ? null : links.find(one => one.id === linkId)
    if (link === undefined) throw notFound('firewall link')
    const after = await step(tx, source, links, link)
    const named = await ctx.hub.firewallRules.nameSource(tx, ctx.hub, entriesFor(ctx, after, entriesOf(after)))
    const isFollowing = source.status !== 'paused' && source.status !== 'held'
    const driven = isFollowing ? await driveLinks(tx, ctx.hub, source, [after]) : null
    const [stored] = await tx.select().from(dynamicIpLinks).where(eq(dynamicIpLinks.id, after.id))
    const view = linkView(stored!)
    return {
      result: view,
      target: targetOf(dynamicIpRows, source),
      before: link && linkView(link),
      after: view,
      ...joinedEffects(named, driven?.effects),
    }
  })
}

const entriesFor = ({ workspaceId, actor }: Ctx, { firewallId, ruleId, sourceId }: LinkRow, entries: string[]) => ({
  ...{ workspaceId, firewallId, ruleId, sourceId, entries },
  by: actor,
})

function requireCloudAccess(ctx: Ctx): void {
  if (!ctx.permissions.has('cloud.write')) throw permissionMissing('cloud.write')
}

/** @throws Problem 404, 422 */
async function requireRule(
  tx: Tx,
  ctx: Ctx,
  { firewall_id, rule_id }: Pick<FirewallLinkInput, 'firewall_id' | 'rule_id'>,
): Promise<void> {
  const rule = await ctx.hub.firewallRules.find(tx, ctx.workspaceId, firewall_id, rule_id)
  if (!rule) throw notFound('firewall rule')
  if (rule.direction === 'outbound' || !rule.hasSources)
    throw invalid([
      { pointer: '#/rule_id', code: 'not_allowed', detail: 'must be an inbound rule with a list of source addresses.' },
    ])
}
