import { and, eq } from 'drizzle-orm'
import type { AuditTarget } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { targetOf } from '../../core/rows'
import { minLinkPrefix } from './addresses'
import type { DriveBy } from './drive-hosts'
import { joinedEffects, type Effects } from './effects'
import { removeOldSources } from './retry-queue'
import { dynamicIpLinks } from './tables'
import { dynamicIpRows, type LinkRow, type SourceRow } from './view'

/** What updating the firewalls of a source did, for the change that it is part of. */
interface LinkEffects {
  /** The firewalls that changed, each once. */
  firewalls: AuditTarget[]
  effects: Effects
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
  const done: LinkEffects = { firewalls: [], effects: joinedEffects() }
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
    const recent = link.changes.filter(at => at > now - changeWindowMs)
    if (add.length > 0 && recent.length >= maxChanges) {
      await pause(tx, source, link, done)
      continue
    }
    const graceMs = link.graceSeconds * 1000
    const isAtOnce = removesAll || graceMs === 0
    const remove = isAtOnce ? [...leaving, ...pending.map(one => one.cidr)] : []
    const { firewallId, ruleId } = link
    const { workspaceId } = source
    const staged = await hub.firewallRules.stageSources(tx, hub, { workspaceId, firewallId, ruleId, add, remove })
    if (!staged) {
      await fail(tx, link, 'rule_gone', 'The rule or its firewall was deleted.')
      continue
    }
    const pendingRemoval = isAtOnce ? [] : [...pending, ...leaving.map(cidr => ({ cidr, at: now + graceMs }))]
    await tx
      .update(dynamicIpLinks)
      .set({
        // What was there already belongs to someone else. It is neither removed later, nor counted as a change.
        applied: [...link.applied.filter(one => !isAtOnce || wanted.includes(one)), ...staged.added],
        pendingRemoval,
        status: staged.isApplied ? 'active' : 'pending',
        changes: staged.added.length > 0 ? [...recent, now] : recent,
      })
      .where(eq(dynamicIpLinks.id, link.id))
    const isNew = !done.firewalls.some(one => one.id === firewallId)
    if (isNew && (staged.added.length > 0 || remove.length > 0)) done.firewalls.push(staged.firewall)
    done.effects = joinedEffects(done.effects, staged.effects)
    if (pendingRemoval.length > 0) done.effects.jobs.push(removeOldSources(link, Math.min(...pendingRemoval.map(one => one.at))))
  }
  return done
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

/**
 * Removes networks whose grace period is over, unless they came back.
 * @param by actor of the audit event
 * @returns when the next ones are due (ms UTC)
 */
export async function removeDue(
  tx: Tx,
  hub: Hub,
  source: SourceRow,
  link: LinkRow,
  by: DriveBy,
): Promise<LinkEffects & { nextAt: number | null }> {
  const done: LinkEffects = { firewalls: [], effects: joinedEffects() }
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
    done.firewalls.push(staged.firewall)
    done.effects = joinedEffects(done.effects, staged.effects)
    done.effects.audits.push({
      workspaceId: source.workspaceId,
      action: 'dynamic_ip.firewall_link.expire',
      ...by,
      targets: [targetOf(dynamicIpRows, source), staged.firewall],
      before: { rule_id: ruleId, networks: remove },
      after: { rule_id: ruleId, networks: [] },
    })
  }
  return { ...done, nextAt: staged ? nextAt : null }
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
