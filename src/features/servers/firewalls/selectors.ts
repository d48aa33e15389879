import { isDeepStrictEqual } from 'node:util'
import { and, asc, eq, inArray, isNotNull, isNull } from 'drizzle-orm'
import { lockLimit } from '../../../access/plans'
import { jobContext, record, systemActor } from '../../../core/change'
import type { AuditDraft } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import { insertRows } from '../../../core/db/insert-rows'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/draft'
import { targetOf } from '../../../core/rows'
import type { CloudAccountRow } from '../accounts/view'
import { matchesSelector, parseSelector } from '../labels'
import { servers } from '../tables'
import { labelsOf, type ServerRow } from '../view'
import { attachProblems, enforcingAccounts } from './attach-problems'
import type { AttachmentChange } from './change-rules'
import { enforcementJobs, hint } from './enforce'
import { firewallAttachments, firewallRefusals, firewalls } from './tables'
import { firewallRows, type AttachmentRow, type FirewallRow } from './view'

/** What a label selector changes at a firewall. */
interface SelectorChange {
  firewall: FirewallRow
  attach: ServerRow[]
  /** Ids of servers. */
  detach: string[]
}

/** Whether a label selector selects a server. Only servers that exist at a cloud can be selected. */
const selects = (selector: ReturnType<typeof parseSelector> | null, server: ServerRow): boolean =>
  selector !== null &&
  server.accountId !== null &&
  server.providerRef !== null &&
  server.deletedAt === null &&
  matchesSelector(selector, labelsOf(server))

/** Compares what the selectors of firewalls select of some servers with what is attached by them. */
export async function selectorChanges(
  tx: Tx,
  rows: readonly FirewallRow[],
  some: readonly ServerRow[],
): Promise<SelectorChange[]> {
  if (rows.length === 0 || some.length === 0) return []
  const attached = await tx
    .select({ firewallId: firewallAttachments.firewallId, serverId: firewallAttachments.serverId })
    .from(firewallAttachments)
    .where(
      and(
        inArray(
          firewallAttachments.firewallId,
          rows.map(one => one.id),
        ),
        inArray(
          firewallAttachments.serverId,
          some.map(one => one.id),
        ),
        eq(firewallAttachments.isSelected, true),
      ),
    )
  const isAttached = new Set(attached.map(one => `${one.firewallId} ${one.serverId}`))
  return rows.flatMap(firewall => {
    const has = (server: ServerRow) => isAttached.has(`${firewall.id} ${server.id}`)
    const selector = firewall.labelSelector === null ? null : parseSelector(firewall.labelSelector)
    const attach = some.filter(one => selects(selector, one) && !has(one))
    const detach = some.filter(one => !selects(selector, one) && has(one)).map(one => one.id)
    return attach.length + detach.length === 0 ? [] : [{ firewall, attach, detach }]
  })
}

/**
 * Makes changes of labels and of selectors in a workspace wait for each other: of two at the same time, neither would see what the other
 * changes. Taken before firewalls are locked, and before labels are read that are not locked.
 */
export const lockSelectors = (tx: Tx, workspaceId: string): Promise<void> => lockLimit(tx, 'firewalls', workspaceId)

/** The firewalls of a workspace that select servers by labels, locked in id order, to avoid deadlocks. */
const selectingFirewalls = (tx: Tx, workspaceId: string): Promise<FirewallRow[]> =>
  forUpdate(
    tx
      .select()
      .from(firewalls)
      .where(and(eq(firewalls.workspaceId, workspaceId), isNotNull(firewalls.labelSelector)))
      .orderBy(asc(firewalls.id)),
  )

/** What follows from labels that select servers. */
export interface Followed {
  /** They attach and detach. */
  jobs: JobDraft[]
  audits: AuditDraft[]
}

/**
 * Attaches and detaches servers. Those that can't have the firewall are stored with the reason.
 * @param guard called with what was changed; throws to prevent it
 */
export async function followSelectors(
  tx: Tx,
  changes: readonly SelectorChange[],
  guard: (affected: readonly AttachmentChange[]) => Promise<void> = async () => {},
): Promise<Followed> {
  const jobs: JobDraft[] = []
  const audits: AuditDraft[] = []
  const affected: AttachmentChange[] = []
  for (const { firewall, attach, detach } of changes) {
    const ofFirewall = eq(firewallAttachments.firewallId, firewall.id)
    const enforced: Pick<AttachmentRow, 'accountId' | 'serverId'>[] = []
    const accounts = await enforcingAccounts(tx, attach)
    const touched = [...attach.map(one => one.id), ...detach]
    const ofTouched = and(eq(firewallRefusals.firewallId, firewall.id), inArray(firewallRefusals.serverId, touched))
    const refusedBefore = await tx.select().from(firewallRefusals).where(ofTouched)
    const there = await tx.select().from(firewallAttachments).where(ofFirewall)
    const problems = attach.length === 0 ? [] : await attachProblems(tx, firewall, attach, there.length)
    const refusals = attach.flatMap((one, at) => {
      const found = problems.find(problem => problem.pointer === `#/server_ids/${at}`)
      const isThere = there.some(each => each.serverId === one.id)
      return found && !isThere ? [{ firewallId: firewall.id, serverId: one.id, reason: found.detail }] : []
    })
    const isSame = isDeepStrictEqual(sorted(refusedBefore), sorted(refusals))
    if (!isSame) {
      await tx.delete(firewallRefusals).where(ofTouched)
      await insertRows(tx, firewallRefusals, refusals)
    }
    for (const { id } of attach) {
      if (refusals.some(one => one.serverId === id)) continue
      const known = there.find(one => one.serverId === id)
      if (known && known.state !== 'detaching') {
        await tx
          .update(firewallAttachments)
          .set({ isSelected: true })
          .where(and(ofFirewall, eq(firewallAttachments.serverId, id)))
        continue
      }
      const one = { serverId: id, accountId: accounts.get(id)?.id ?? null }
      enforced.push(one)
      affected.push({ serverId: id, firewallId: firewall.id, isAttached: true })
      await tx
        .insert(firewallAttachments)
        .values({ ...newAttachment(firewall.id, one), isSelected: true })
        .onConflictDoUpdate({
          target: [firewallAttachments.firewallId, firewallAttachments.serverId],
          set: { state: 'applying', isSelected: true, accountId: one.accountId },
        })
    }
    for (const serverId of detach) {
      const known = there.find(one => one.serverId === serverId)
      if (!known) continue
      if (!known.isDirect) {
        enforced.push(known)
        affected.push({ serverId, firewallId: firewall.id, isAttached: false })
      }
      await tx
        .update(firewallAttachments)
        .set({ isSelected: false, ...(!known.isDirect && { state: 'detaching' as const, drift: null, error: null }) })
        .where(and(ofFirewall, eq(firewallAttachments.serverId, serverId)))
    }
    // Refused servers are looked at again and again.
    if (!isSame || refusals.length < touched.length) hint(tx, firewall)
    jobs.push(...(await enforcementJobs(tx, firewall.id, enforced)))
    audits.push(...auditsOf(firewall, affected))
  }
  if (affected.length > 0) await guard(affected)
  return { jobs, audits }
}

/** Nobody named these servers, so the label selector is the reason. */
function auditsOf(firewall: FirewallRow, affected: readonly AttachmentChange[]): AuditDraft[] {
  const { id, workspaceId, labelSelector } = firewall
  const [attached, detached] = [true, false].map(isAttached =>
    affected.filter(one => one.firewallId === id && one.isAttached === isAttached).map(one => one.serverId),
  ) as [string[], string[]]
  const base = { workspaceId, actor: systemActor('firewall.label_selector'), context: jobContext, before: {} }
  const targets = [targetOf(firewallRows, firewall)]
  const named = labelSelector === null ? {} : { label_selector: labelSelector }
  const noLonger =
    labelSelector === null
      ? 'The firewall no longer has a label selector.'
      : `The label selector ${labelSelector} no longer selects the servers.`
  return [
    ...(attached.length === 0
      ? []
      : [
          {
            ...{ ...base, targets, action: 'cloud.firewall.attach' as const, after: { attached, ...named } },
            reason: `The label selector ${labelSelector} selects the servers.`,
          },
        ]),
    ...(detached.length === 0
      ? []
      : [{ ...base, targets, action: 'cloud.firewall.detach' as const, after: { detached, ...named }, reason: noLonger }]),
  ]
}

const sorted = <T extends { serverId: string }>(refusals: readonly T[]): T[] =>
  refusals.toSorted((a, b) => (a.serverId < b.serverId ? -1 : 1))

/** Servers of an account that could not have firewalls that select them get them once that is possible. */
export async function retryRefused(hub: Hub, { id, workspaceId }: Pick<CloudAccountRow, 'id' | 'workspaceId'>): Promise<void> {
  const refused = await hub.read
    .selectDistinct({ id: servers.id })
    .from(firewallRefusals)
    .innerJoin(servers, eq(servers.id, firewallRefusals.serverId))
    .where(and(eq(servers.accountId, id), isNull(servers.deletedAt)))
  if (refused.length === 0) return
  const ids = refused.map(one => one.id)
  await record(hub, async tx => {
    await lockSelectors(tx, workspaceId)
    const rows = await tx.select().from(servers).where(inArray(servers.id, ids))
    return { result: undefined, ...(await followLabels(tx, workspaceId, rows)) }
  })
}

/** A server that gets a firewall. */
export const newAttachment = (firewallId: string, { serverId, accountId }: Pick<AttachmentRow, 'accountId' | 'serverId'>) => ({
  ...{ firewallId, serverId, accountId, state: 'applying' as const, isDirect: false, isSelected: false },
  ...{ rulesVersion: null, appliedAt: null, error: null, warning: null, drift: null },
})

/** Lets firewalls follow the labels that servers have now. @param some of one workspace @param guard as in {@link followSelectors} */
export async function followLabels(
  tx: Tx,
  workspaceId: string,
  some: readonly ServerRow[],
  guard?: Parameters<typeof followSelectors>[2],
): Promise<Followed> {
  if (some.length === 0) return { jobs: [], audits: [] }
  await lockSelectors(tx, workspaceId)
  return await followSelectors(tx, await selectorChanges(tx, await selectingFirewalls(tx, workspaceId), some), guard)
}

/** All servers that a selector can select. */
export const selectableServers = (read: Reader, workspaceId: string): Promise<ServerRow[]> =>
  read
    .select()
    .from(servers)
    .where(
      and(
        eq(servers.workspaceId, workspaceId),
        isNotNull(servers.accountId),
        isNotNull(servers.providerRef),
        isNull(servers.deletedAt),
      ),
    )
