import { and, eq, inArray, isNull } from 'drizzle-orm'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { invalid } from '../../../core/problem'
import { canAccess } from '../../../core/resource-access'
import { findRow, lockRow, targetOf } from '../../../core/rows'
import type { ActionView } from '../../actions/shapes'
import { startAction } from '../../actions/start'
import { servers } from '../tables'
import type { ServerRow } from '../view'
import { applyKind } from './apply'
import { attachProblems, enforcingAccounts } from './attach-problems'
import { blockedBy } from './change-rules'
import { enforcementJobs } from './enforce'
import type { FirewallAttach } from './shapes'
import { firewallAttachments, firewalls } from './tables'
import { firewallRows, type AttachmentRow, type FirewallRow } from './view'
import { requireAllowed } from './rule-operations'
import { newAttachment } from './selectors'

/** Attaches a firewall to servers. @throws Problem 404, 409 `plan_blocked`, `resource_locked`; 412; 422 */
export async function attachFirewall(ctx: Ctx, id: string, input: FirewallAttach): Promise<ActionView> {
  await findRow(ctx.hub.read, ctx, firewallRows, id)
  return await change(ctx, 'cloud.firewall.attach', async tx => {
    const row = await lockRow(tx, ctx, firewallRows, id)
    const attached = await tx.select().from(firewallAttachments).where(eq(firewallAttachments.firewallId, id))
    const chosen = await chosenServers(tx, ctx, input.server_ids)
    const problems = await attachProblems(tx, row, chosen, attached.length)
    if (problems.length > 0) throw invalid(problems)
    await tx
      .update(firewallAttachments)
      .set({ isDirect: true })
      .where(and(eq(firewallAttachments.firewallId, id), inArray(firewallAttachments.serverId, input.server_ids)))
    const added = chosen.filter(one => !attached.some(each => each.serverId === one.id && each.state !== 'detaching'))
    const ids = added.map(one => one.id)
    const allowed = requireAllowed(await blockedBy(tx, ctx, { firewallId: id, attach: ids }), input)
    const accounts = await enforcingAccounts(tx, added)
    const enforced = added.map(one => ({ serverId: one.id, accountId: accounts.get(one.id)?.id ?? null }))
    for (const one of enforced) {
      await tx
        .insert(firewallAttachments)
        .values({ ...newAttachment(id, one), isDirect: true })
        .onConflictDoUpdate({
          target: [firewallAttachments.firewallId, firewallAttachments.serverId],
          set: { state: 'applying', accountId: one.accountId, error: null },
        })
    }
    return await startApplying(tx, ctx, row, { attached: ids, allowed }, input.note ?? null, enforced)
  })
}

/** Detaches a firewall from servers. @throws Problem 404, 409 `plan_blocked`, `resource_locked`; 412; 422 */
export async function detachFirewall(ctx: Ctx, id: string, input: FirewallAttach): Promise<ActionView> {
  await findRow(ctx.hub.read, ctx, firewallRows, id)
  return await change(ctx, 'cloud.firewall.detach', async tx => {
    const row = await lockRow(tx, ctx, firewallRows, id)
    const chosen = await chosenServers(tx, ctx, input.server_ids)
    const ofFirewall = and(eq(firewallAttachments.firewallId, id), inArray(firewallAttachments.serverId, input.server_ids))
    const selected = await tx
      .select({ serverId: firewallAttachments.serverId })
      .from(firewallAttachments)
      .where(and(ofFirewall, eq(firewallAttachments.isSelected, true), eq(firewallAttachments.isDirect, false)))
    if (selected.length > 0)
      throw invalid(
        selected.map(one => ({
          pointer: `#/server_ids/${input.server_ids.indexOf(one.serverId)}`,
          code: 'selected',
          detail: 'The label selector of the firewall selects this server. Change the labels of the server, or the selector.',
        })),
      )
    await tx.update(firewallAttachments).set({ isDirect: false }).where(ofFirewall)
    const kept = await tx
      .select({ serverId: firewallAttachments.serverId })
      .from(firewallAttachments)
      .where(and(ofFirewall, eq(firewallAttachments.isSelected, true)))
    const ids = chosen.map(one => one.id).filter(one => !kept.some(each => each.serverId === one))
    const allowed = requireAllowed(await blockedBy(tx, ctx, { firewallId: id, detach: ids }), input)
    const detached = await tx
      .update(firewallAttachments)
      .set({ state: 'detaching', drift: null, error: null })
      .where(and(eq(firewallAttachments.firewallId, id), inArray(firewallAttachments.serverId, ids)))
      .returning()
    return await startApplying(tx, ctx, row, { detached: ids, allowed }, input.note ?? null, detached, ids)
  })
}

async function startApplying(
  tx: Tx,
  ctx: Ctx,
  row: FirewallRow,
  after: object,
  note: string | null,
  changed: readonly Pick<AttachmentRow, 'accountId' | 'serverId'>[],
  detached: string[] = [],
) {
  const { action, job } = await startAction(tx, ctx, applyKind, {
    resources: [{ type: 'firewall', id: row.id }],
    input: { rules_version: row.rulesVersion, confirm_seconds: 0, detached },
  })
  await tx.update(firewalls).set({ actionId: action.id }).where(eq(firewalls.id, row.id))
  // The action would fail because of them.
  const retried = await tx
    .update(firewallAttachments)
    .set({ state: 'applying', error: null })
    .where(and(eq(firewallAttachments.firewallId, row.id), eq(firewallAttachments.state, 'failed')))
    .returning()
  return {
    result: action,
    target: targetOf(firewallRows, row),
    after,
    reason: note,
    jobs: [job, ...(await enforcementJobs(tx, row.id, [...changed, ...retried]))],
  }
}

/** The servers that a request names. @throws Problem 422 for those that don’t exist */
async function chosenServers(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<ServerRow[]> {
  const rows = await tx
    .select()
    .from(servers)
    .where(and(eq(servers.workspaceId, ctx.workspaceId), inArray(servers.id, [...ids]), isNull(servers.deletedAt)))
  const problems = ids.flatMap((id, at) =>
    rows.some(one => one.id === id) && canAccess(ctx, id)
      ? []
      : [{ pointer: `#/server_ids/${at}`, code: 'not_found', detail: 'There is no server with this ID.' }],
  )
  if (problems.length > 0) throw invalid(problems)
  return ids.map(id => rows.find(one => one.id === id)!)
}
