import { and, eq } from 'drizzle-orm'
import { change } from '../../core/change'
import type { RecordResult } from '../../core/change-result'
import type { Ctx } from '../../core/ctx'
import type { AuditAction } from '../../core/audit-actions'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import { inputColumns, patchColumns } from '../../core/members'
import { conflict, invalid, notFound, permissionMissing } from '../../core/problem'
import { findRow, lockRow, targetOf } from '../../core/rows'
import { onePage, type Page } from '../../core/shapes'
import { minLinkPrefix } from './addresses'
import { removeOldSources } from './retry-queue'
import { linkMembers, maxLinks, type FirewallLinkInput, type FirewallLinkPatch, type FirewallLinkView } from './shapes'
import { dynamicIpLinks } from './tables'
import { dynamicIpRows, linksOf, linkView, type LinkRow, type SourceRow } from './view'

/** What updating the firewalls of a source did, for the change that it is part of. */
interface LinkEffects {
  /** IDs of the firewalls that changed. */
  firewalls: string[]
  effects: Required<Pick<RecordResult<unknown>, 'audits' | 'events' | 'jobs' | 'notices' | 'wakeTopics'>>
}

const keyOf = ({ firewallId, ruleId }: LinkRow): string => `${firewallId} ${ruleId}`

const maxChanges = 4
const changeWindowMs = 600_000

/** The networks that a rule should allow. */
function wantedNetworks(source: SourceRow, link: LinkRow): string[] {
  if (source.status === 'stale' && link.onStale === 'remove') return []
  const families = link.families.filter(one => source.families.includes(one))
  const ipv4 = families.includes('ipv4') && source.ipv4 ? [`${source.ipv4}/32`] : []
  if (!families.includes('ipv6')) return ipv4
  const ipv6 = link.ipv6 === 'prefix' ? source.prefix6 : source.ipv6 && `${source.ipv6}/128`
  return ipv6 ? [...ipv4, ipv6] : ipv4
}

/**
 * Adds the current networks of a source to the rules that it is linked to. Old ones are removed after the grace period of the link,
 * so that connections in both directions survive a change.
 * @param source locked, with the new addresses
 * @param options.removesAll removes its networks at once
 */
export async function driveLinks(
  tx: Tx,
  hub: Hub,
  source: SourceRow,
  links: readonly LinkRow[],
  { removesAll = false }: { removesAll?: boolean } = {},
): Promise<LinkEffects> {
  const done: LinkEffects = { firewalls: [], effects: { audits: [], events: [], jobs: [], notices: [], wakeTopics: [] } }
  const now = hub.clock.now()
  // In a fixed order, because the firewalls may lock what they change.
  for (const link of links.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))) {
    if (link.status === 'paused' || link.status === 'failed') continue
    const wanted = removesAll ? [] : wantedNetworks(source, link)
    const tooWide = wanted.find(one => one.includes(':') && Number(one.split('/')[1]) < minLinkPrefix)
    if (tooWide) {
      await fail(tx, link, 'too_wide', `The prefix ${tooWide} is larger than /${minLinkPrefix}.`)
      continue
    }
    const add = wanted.filter(one => !link.applied.includes(one))
    const old = link.applied.filter(one => !wanted.includes(one))
    // A network that came back stays.
    const pending = link.pendingRemoval.filter(one => !wanted.includes(one.cidr))
    const leaving = old.filter(one => !pending.some(other => other.cidr === one))
    const isSame = add.length === 0 && leaving.length === 0 && pending.length === link.pendingRemoval.length
    if (isSame) continue
    const changes = add.length > 0 ? [...link.changes.filter(at => at > now - changeWindowMs), now] : link.changes
    if (changes.length > maxChanges) {
      await pause(tx, source, link, done)
      continue
    }
    const graceMs = link.graceSeconds * 1000
    const isAtOnce = removesAll || graceMs === 0
    const staged = await hub.firewallRules.stageSources(tx, hub, {
      workspaceId: source.workspaceId,
      firewallId: link.firewallId,
      ruleId: link.ruleId,
      add,
      remove: isAtOnce ? [...leaving, ...pending.map(one => one.cidr)] : [],
    })
    if (!staged) {
      await fail(tx, link, 'rule_gone', 'The rule or its firewall was deleted.')
      continue
    }
    const pendingRemoval = isAtOnce ? [] : [...pending, ...leaving.map(cidr => ({ cidr, at: now + graceMs }))]
    await tx
      .update(dynamicIpLinks)
      .set({
        // What was there already belongs to someone else.
        applied: [...link.applied.filter(one => !isAtOnce || wanted.includes(one)), ...staged.added],
        pendingRemoval,
        status: staged.isApplied ? 'active' : 'pending',
        changes,
      })
      .where(eq(dynamicIpLinks.id, link.id))
    done.firewalls.push(link.firewallId)
    merge(done, staged.effects)
    if (pendingRemoval.length > 0) done.effects.jobs.push(removeOldSources(link, Math.min(...pendingRemoval.map(one => one.at))))
  }
  return done
}

function merge({ effects }: LinkEffects, more: Partial<LinkEffects['effects']>): void {
  effects.audits.push(...(more.audits ?? []))
  effects.events.push(...(more.events ?? []))
  effects.jobs.push(...(more.jobs ?? []))
  effects.notices.push(...(more.notices ?? []))
  effects.wakeTopics.push(...(more.wakeTopics ?? []))
}

async function fail(tx: Tx, link: LinkRow, code: string, detail: string): Promise<void> {
  await tx.update(dynamicIpLinks).set({ status: 'failed', reason: { code, detail } }).where(eq(dynamicIpLinks.id, link.id))
}

/** Stops following the source. The last networks stay allowed. */
async function pause(tx: Tx, source: SourceRow, link: LinkRow, done: LinkEffects): Promise<void> {
  const detail = `The address changed more than ${maxChanges} times in 10 minutes.`
  await tx
    .update(dynamicIpLinks)
    .set({ status: 'paused', reason: { code: 'flapping', detail } })
    .where(eq(dynamicIpLinks.id, link.id))
  done.effects.notices.push({
    workspaceId: source.workspaceId,
    kind: 'dynamic_ip.link_paused',
    resource: targetOf(dynamicIpRows, source),
    text: `The firewall rule ${link.ruleId} no longer follows the dynamic IP source “${source.name}”: ${detail} Its last networks stay allowed.`,
    details: { link_id: link.id, firewall_id: link.firewallId, rule_id: link.ruleId },
    dedupKey: link.id,
  })
}

/** Removes networks whose grace period is over, unless they came back. @returns when the next ones are due (ms UTC) */
export async function removeDue(
  tx: Tx,
  hub: Hub,
  source: SourceRow,
  link: LinkRow,
): Promise<LinkEffects & { nextAt: number | null }> {
  const done: LinkEffects = { firewalls: [], effects: { audits: [], events: [], jobs: [], notices: [], wakeTopics: [] } }
  const now = hub.clock.now()
  const due = link.pendingRemoval.filter(one => one.at <= now)
  const left = link.pendingRemoval.filter(one => one.at > now)
  const nextAt = left.length > 0 ? Math.min(...left.map(one => one.at)) : null
  if (due.length === 0) return { ...done, nextAt }
  const remove = due.map(one => one.cidr)
  const { firewallId, ruleId } = link
  const staged = await hub.firewallRules.stageSources(tx, hub, {
    workspaceId: source.workspaceId,
    firewallId,
    ruleId,
    add: [],
    remove,
  })
  if (!staged) await fail(tx, link, 'rule_gone', 'The rule or its firewall was deleted.')
  else {
    const applied = link.applied.filter(one => !remove.includes(one))
    await tx.update(dynamicIpLinks).set({ applied, pendingRemoval: left }).where(eq(dynamicIpLinks.id, link.id))
    done.firewalls.push(firewallId)
    merge(done, staged.effects)
  }
  return { ...done, nextAt: staged ? nextAt : null }
}

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
    return { result: undefined, target: targetOf(dynamicIpRows, source), before: linkView(link), ...effects }
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
    const isFollowing = source.status !== 'paused' && source.status !== 'held'
    const driven = isFollowing ? await driveLinks(tx, ctx.hub, source, [after]) : null
    const [stored] = await tx.select().from(dynamicIpLinks).where(eq(dynamicIpLinks.id, after.id))
    const view = linkView(stored!)
    return {
      result: view,
      target: targetOf(dynamicIpRows, source),
      before: link && linkView(link),
      after: view,
      ...driven?.effects,
    }
  })
}

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

/** Marks links as applied once the firewall has their networks. For the firewalls, in the transaction that records the result. */
export async function confirmLinks(tx: Tx, rule: { firewallId: string; ruleId: string }): Promise<void> {
  await tx
    .update(dynamicIpLinks)
    .set({ status: 'active' })
    .where(
      and(
        eq(dynamicIpLinks.firewallId, rule.firewallId),
        eq(dynamicIpLinks.ruleId, rule.ruleId),
        eq(dynamicIpLinks.status, 'pending'),
      ),
    )
}
