import { and, eq, isNull } from 'drizzle-orm'
import { target } from '../../../core/audit'
import { jobContext, systemActor } from '../../../core/change'
import { instant } from '../../../core/clock'
import type { RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import type { AuditActor } from '../../../core/db/tables'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import { targetOf } from '../../../core/rows'
import type { ActionKind, CommitChunk, Next } from '../../actions/kind'
import { lockSources } from '../../dynamic-ips/rule-links'
import { agentsOf } from '../agents/rows'
import { passChecks } from '../../monitors/check-now'
import { monitorChecksOf } from '../../monitors/statuses'
import { servers } from '../tables'
import { stageRules } from './change-rules'
import { hint } from './enforce'
import { enforceHostJobFor, notReporting } from './host-job'
import { namedSources } from './rules'
import { firewallAttachments, firewalls, firewallVersions } from './tables'
import { attachmentsOf, firewallRows, type AttachmentRow, type FirewallRow } from './view'

type Input = {
  rules_version: number
  /** 0: the change needs no confirmation. */
  confirm_seconds: number
  /** Servers that are detached. Others that are being detached are not waited for, and neither are those that can’t be reached. */
  detached?: string[]
}
type State = {
  phase: 'applying' | 'confirming' | 'restoring'
  /** When the phase ends (ms UTC). */
  until: number
  /** Why the previous rules are restored. */
  reason: 'expired' | 'requested' | 'failed' | null
  /** Health monitors that could not fall anymore when the change began: those that were down, paused, or in maintenance. */
  ignored: string[]
  /** When the others were checked last (ms UTC). */
  checkedAt: number
}

// Only authenticated callers can change firewalls.
type PersonType = Exclude<AuditActor['type'], 'anonymous'>

/** How long clouds may take to apply the rules, in milliseconds. */
const applyMs = 5 * 60_000
const pauseMs = 1000
/** How long a cloud is waited for that can’t be reached, in milliseconds. */
const patienceMs = 30_000
/** Pause between two checks of the health monitors, and how long results are waited for, in milliseconds. */
const checkEachMs = 10_000

/** Applies the rules of a firewall, and restores the previous ones if the change is not confirmed in time. */
export const applyKind: ActionKind<Input, State> = {
  type: 'firewall.apply',
  area: 'cloud',
  audit: 'cloud.firewall.apply',
  cancelable: false,
  resumable: true,
  concurrency: 32,
  leaseMs: 60_000,
  async run(hub, { actionId, input, resources, state: stored }) {
    const { id } = resources[0]!
    const now = hub.clock.now()
    const [row] = await hub.read.select().from(firewalls).where(eq(firewalls.id, id))
    if (!row) return async () => ({ result: { failed: new Problem('conflict', 'The firewall was deleted.') } })
    const state: State = stored ?? {
      ...{ phase: 'applying', until: now + applyMs, reason: null, checkedAt: 0 },
      ignored: (await boundMonitors(hub.read, row)).flatMap(one => (watched.has(one.status) ? [] : one.id)),
    }
    const isPatient = state.phase !== 'confirming' && now < state.until - applyMs + patienceMs
    const { attached, left } = await awaitedOf(hub.read, id, input.detached ?? [], isPatient)
    const isConfirmed = row.pending?.isConfirmed === true
    if (state.phase !== 'restoring' && row.pending?.isTakenBack && !isConfirmed)
      return restore(hub, id, actionId, state, 'requested')
    if (state.phase === 'confirming') {
      const isDue = row.pending?.confirm === 'auto' && now >= state.checkedAt + checkEachMs && now < state.until
      if (row.pending === null || isConfirmed || (isDue && (await isProven(hub, row, attached, state))))
        return end(id, actionId, { rules_version: input.rules_version })
      if (now >= state.until) return restore(hub, id, actionId, state, 'expired')
      if (attached.some(one => one.state === 'failed')) return restore(hub, id, actionId, state, 'failed')
      return again(hub, isDue ? { ...state, checkedAt: now } : state)
    }
    const failed = attached.find(one => one.state === 'failed')
    const isOver = failed !== undefined || now >= state.until
    const isApplied = attached.every(one => one.state === 'applied' || one.state === 'drifted')
    if (state.phase === 'restoring') {
      if (!isApplied && !isOver) return again(hub, state)
      return isApplied ? ended(hub, id, actionId, state) : fail(id, actionId, failed, 'The previous rules could not be restored')
    }
    if (isApplied && row.pending !== null && attached.length > 0) return await confirming(hub, id, input, state, attached)
    if (isApplied && left) return fail(id, actionId, left, 'The firewall has not been detached from all servers yet')
    if (isApplied) return end(id, actionId, { rules_version: input.rules_version })
    if (!isOver) return again(hub, state)
    return row.pending === null || isConfirmed
      ? fail(id, actionId, failed, 'The rules could not be applied')
      : restore(hub, id, actionId, state, 'failed')
  },
}

/**
 * The attachments that a change waits for, and one of those to detach that are left for later. Servers that can't be reached get the rules,
 * or lose them, once they can, so that one of them doesn’t hold up the others. If none can be reached that is to have the rules, all of
 * those are waited for.
 */
async function awaitedOf(
  read: Reader,
  id: string,
  detached: readonly string[],
  isPatient: boolean,
): Promise<{ attached: AttachmentRow[]; left: { error: string | null } | undefined }> {
  const all = (await attachmentsOf(read, [id])).map(one => one.attachment)
  const concerned = all.filter(one => one.state !== 'detaching' || detached.includes(one.serverId))
  const agents = await agentsOf(
    read,
    concerned.flatMap(one => (one.accountId === null ? { id: one.serverId } : [])),
  )
  const isHeard = ({ accountId, serverId }: AttachmentRow) => accountId !== null || agents.get(serverId)?.state === 'reporting'
  const isUnreached = (one: AttachmentRow) =>
    (one.state === 'applying' || one.state === 'detaching') && (!isHeard(one) || (one.error !== null && !isPatient))
  const reached = concerned.filter(one => !isUnreached(one))
  const left = concerned.find(one => one.state === 'detaching' && isUnreached(one))
  return {
    attached: reached.length > 0 ? reached : concerned.filter(one => one.state !== 'detaching'),
    left: left && { error: isHeard(left) ? left.error : notReporting },
  }
}

const again =
  (hub: Hub, state: State): CommitChunk<State> =>
  async () => ({ result: { state, at: hub.clock.now() + pauseMs } })

const lock = async (tx: Tx, id: string): Promise<FirewallRow | undefined> =>
  (await forUpdate(tx.select().from(firewalls).where(eq(firewalls.id, id))))[0]

const confirming =
  async (hub: Hub, id: string, input: Input, state: State, attached: readonly AttachmentRow[]): Promise<CommitChunk<State>> =>
  async tx => {
    const row = await lock(tx, id)
    // A host reverts an unconfirmed change itself. Its time starts when it has the rules, not when all servers have them.
    const hosts = attached.flatMap(one => (one.accountId === null && one.appliedAt !== null ? one.appliedAt : []))
    const until = Math.min(hub.clock.now(), ...hosts) + input.confirm_seconds * 1000
    if (row?.pending) {
      await tx
        .update(firewalls)
        .set({ pending: { ...row.pending, expiresAt: until } })
        .where(eq(firewalls.id, id))
      hint(tx, row)
    }
    return {
      result: {
        state: { ...state, phase: 'confirming', until },
        at: hub.clock.now() + pauseMs,
        detail: 'Waiting for the confirmation',
      },
    }
  }

/** Statuses of monitors that can fall. */
const watched: ReadonlySet<string> = new Set(['new', 'up', 'degraded', 'unknown'])

/** The health monitors of the servers that have a firewall. */
async function boundMonitors(read: Reader, row: FirewallRow) {
  const bound = await read
    .select({ ids: servers.healthMonitorIds })
    .from(firewallAttachments)
    .innerJoin(servers, eq(servers.id, firewallAttachments.serverId))
    .where(and(eq(firewallAttachments.firewallId, row.id), isNull(servers.deletedAt)))
  return await monitorChecksOf(read, row.workspaceId, [...new Set(bound.flatMap(one => one.ids))])
}

/**
 * Whether agents that enforce the rules reached the hub since they were applied, and no monitor of the servers fell: those that are not
 * ignored are checked now, whatever their interval. Rules count as applied by an agent once it reports that over a new connection.
 */
async function isProven(
  hub: Hub,
  row: FirewallRow,
  attached: readonly AttachmentRow[],
  { ignored, until }: State,
): Promise<boolean> {
  const found = await boundMonitors(hub.read, row)
  const concerned = found.filter(one => !ignored.includes(one.id))
  const isReached = attached.some(one => one.accountId === null)
  return (isReached || concerned.length > 0) && (await passChecks(hub, concerned, Math.min(checkEachMs, until - hub.clock.now())))
}

/** Ends the action successfully. */
const end =
  (id: string, actionId: string, result: Record<string, unknown>): CommitChunk<State> =>
  async tx => {
    await release(tx, id, actionId)
    // Hosts keep the rules now.
    const attached = await tx.select().from(firewallAttachments).where(eq(firewallAttachments.firewallId, id))
    const jobs = attached.flatMap(one => (one.accountId === null ? enforceHostJobFor(one.serverId) : []))
    return { result: { done: result }, jobs }
  }

const fail =
  (id: string, actionId: string, failed: Pick<AttachmentRow, 'error'> | undefined, what: string): CommitChunk<State> =>
  async tx => {
    await release(tx, id, actionId)
    return { result: { failed: new Problem('provider_failed', failed ? `${what}: ${failed.error}` : `${what} in time.`) } }
  }

async function release(tx: Tx, id: string, actionId: string): Promise<void> {
  const row = await lock(tx, id)
  if (!row || row.actionId !== actionId) return
  await tx.update(firewalls).set({ actionId: null, pending: null }).where(eq(firewalls.id, id))
  hint(tx, row)
}

/** Gives the firewall the rules that it had before the change. */
const restore =
  (hub: Hub, id: string, actionId: string, state: State, reason: NonNullable<State['reason']>): CommitChunk<State> =>
  async tx => {
    const [found] = await tx.select().from(firewalls).where(eq(firewalls.id, id))
    const [previous] = found?.pending
      ? await tx
          .select()
          .from(firewallVersions)
          .where(and(eq(firewallVersions.firewallId, id), eq(firewallVersions.rulesVersion, found.pending.restoreVersion)))
      : []
    const sources = await lockSources(
      tx,
      found?.workspaceId ?? '',
      namedSources([...(found?.rules ?? []), ...(previous?.rules ?? [])]),
    )
    const row = await lock(tx, id)
    if (!row?.pending || !previous) {
      await release(tx, id, actionId)
      return { result: { failed: new Problem('conflict', 'There are no previous rules.') } }
    }
    // It was confirmed at the last moment.
    if (row.pending.isConfirmed) return { result: { state, at: hub.clock.now() + pauseMs } }
    const by = systemActor('firewall.apply')
    const note = reasons[reason]
    const { row: after, effects } = await stageRules(
      tx,
      hub,
      row,
      previous,
      sources,
      { reason: 'reverted', note, allowed: [], by },
      // It can't be confirmed any longer.
      { pending: { ...row.pending, isTakenBack: true } },
    )
    const next: Next<State> = {
      state: { ...state, phase: 'restoring', until: hub.clock.now() + applyMs, reason },
      at: hub.clock.now() + pauseMs,
      detail: note,
    }
    return {
      ...effects,
      result: next,
      audits: [
        ...(effects.audits ?? []),
        {
          workspaceId: row.workspaceId,
          action: 'cloud.firewall.revert',
          actor: by,
          context: jobContext,
          targets: [targetOf(firewallRows, row)],
          before: { rules_version: row.rulesVersion, rules: row.rules, blocks: row.blocks },
          after: { rules_version: after.rulesVersion, rules: after.rules, blocks: after.blocks },
          reason: note,
        },
      ],
    }
  }

const reasons = {
  expired: 'The change was not confirmed in time.',
  requested: 'The change was reverted.',
  failed: 'The rules could not be applied to all servers.',
} as const

/** The previous rules are back. */
const ended =
  (hub: Hub, id: string, actionId: string, { reason }: State): CommitChunk<State> =>
  async (tx): Promise<RecordResult<Next<State>>> => {
    const row = await lock(tx, id)
    if (!row?.pending) return { result: { done: null } }
    const { rulesVersion, restoreVersion, changedBy } = row.pending
    const affected = await tx
      .select({ id: servers.id, name: servers.name })
      .from(firewallAttachments)
      .innerJoin(servers, eq(servers.id, firewallAttachments.serverId))
      .where(and(eq(firewallAttachments.firewallId, id), isNull(servers.deletedAt)))
    await release(tx, id, actionId)
    const because = reasons[reason ?? 'expired']
    return {
      result: { done: { reverted: true, reason, restored_version: restoreVersion } },
      events: [
        {
          workspaceId: row.workspaceId,
          kind: 'firewall.reverted',
          resource: { type: 'firewall', id },
          data: {
            firewall: { id, name: row.name },
            servers: affected,
            reason: reason ?? 'expired',
            rules_version: rulesVersion,
            restored_version: restoreVersion,
            changed_by: { type: changedBy.type as PersonType, id: changedBy.id, name: changedBy.name },
            reverted_at: instant(hub.clock.now()),
          },
        },
      ],
      notices: [
        {
          workspaceId: row.workspaceId,
          kind: 'firewall.reverted',
          resource: target('firewall', row),
          text: `The previous rules of the firewall ${row.name} were restored. ${because}`,
          details: { rules_version: rulesVersion, restored_version: restoreVersion, reason },
          dedupKey: `${id} ${rulesVersion}`,
        },
      ],
    }
  }
