import { and, desc, eq, isNull, lt } from 'drizzle-orm'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Reader, Tx } from '../../../core/db/transaction'
import { conflict, invalid, permissionMissing, Problem, type FieldProblem } from '../../../core/problem'
import { canAccess } from '../../../core/resource-access'
import { findRow, lockRow, targetOf } from '../../../core/rows'
import { getAction } from '../../actions/actions'
import { openActionIds } from '../../actions/open-actions'
import type { ActionView } from '../../actions/shapes'
import { startAction } from '../../actions/start'
import { linkedNetworks, linkKey, lockSources, networksOfSources } from '../../dynamic-ips/rule-links'
import { cloudAccounts } from '../accounts/tables'
import { cloudKindOf } from '../clouds'
import { adoptedRules } from './adopted-rules'
import { applyKind } from './apply'
import { blockedBy, stageRules, type NewVersion } from './change-rules'
import { plainRules } from './enforce'
import { overfull, overfullServers } from './entry-limit'
import { blockingKinds, unsupportedProtocols } from './possible-rules'
import { type GuardReason } from './guards'
import {
  blockingRules,
  canonicalRules,
  dynamicSourceOf,
  namedSources,
  resolvedRules,
  ruleChanges,
  ruleProblems,
  type FirewallRule,
  type PlainRule,
  type RuleSet,
  type GuardCode,
} from './rules'
import type { FirewallAdopt, FirewallRuleInput, FirewallRulesInput, FirewallRulesPreview, FirewallView } from './shapes'
import { firewallAttachments, firewalls, firewallVersions } from './tables'
import { firewallRows, firewallViewOf, type FirewallRow } from './view'

const defaultConfirmSeconds = 60
const minConfirmSeconds = 10

/** @throws Problem 403 `permission_missing`, 422 that names each wrong field */
export async function validRules(
  ctx: Ctx,
  { rules: input = [], blocks = [] }: { rules?: readonly FirewallRuleInput[]; blocks?: string[] },
): Promise<RuleSet> {
  const ids = new Set(input.flatMap(one => one.id ?? []))
  let next = 1
  const unused = () => {
    while (ids.has(`r${next}`)) next++
    return `r${next++}`
  }
  const rules: FirewallRule[] = input.map(one => ({
    id: one.id ?? unused(),
    direction: one.direction,
    protocol: one.protocol,
    ports: one.ports ?? [],
    sources: one.sources ?? [],
    destinations: one.destinations ?? [],
    description: one.description ?? '',
  }))
  const problems = ruleProblems({ rules, blocks })
  if (problems.length > 0) throw invalid(problems)
  await requireSources(ctx, rules)
  return canonicalRules({ rules, blocks })
}

/** @throws Problem 403 without access to dynamic IP sources, 422 for unknown ones */
async function requireSources(ctx: Ctx, rules: readonly FirewallRule[]): Promise<void> {
  const ids = namedSources(rules)
  if (ids.length === 0) return
  if (!ctx.permissions.has('dynamic_ip.read')) throw permissionMissing('dynamic_ip.read')
  const known = await networksOfSources(ctx.hub.read, ctx.workspaceId, ids)
  const problems = rules.flatMap((rule, at) =>
    rule.sources.flatMap((text, n): FieldProblem[] => {
      const id = text.split('/')[0]!
      if (!ids.includes(id) || (known.has(id) && canAccess(ctx, id))) return []
      return [
        {
          pointer: `#/rules/${at}/sources/${n}`,
          code: 'not_found',
          detail: `There is no dynamic IP source with the ID ${id}.`,
        },
      ]
    }),
  )
  if (problems.length > 0) throw invalid(problems)
}

/**
 * Replaces the rules of a firewall. The previous ones are restored unless the change is confirmed in time.
 * @throws Problem 403 `permission_missing`, 404, 409 `plan_blocked`, `resource_locked`, 412, 422
 */
export async function replaceRules(
  ctx: Ctx,
  id: string,
  input: FirewallRulesInput,
  { dry_run: isDryRun = false }: { dry_run?: boolean },
): Promise<ActionView | FirewallRulesPreview> {
  const found = await findRow(ctx.hub.read, ctx, firewallRows, id)
  const set = await validRules(ctx, { rules: input.rules, blocks: input.blocks ?? found.blocks })
  await requirePossible(ctx, found.id, set)
  if (isDryRun) return await preview(ctx, found, set)
  const seconds = input.confirm_within_seconds
  if (seconds !== undefined && seconds > 0 && seconds < minConfirmSeconds)
    throw invalid([
      {
        pointer: '#/confirm_within_seconds',
        code: 'out_of_range',
        detail: `must be 0, or between ${minConfirmSeconds} and 600.`,
      },
    ])
  return await startChange(ctx, found, set, async (tx, row) => {
    if (input.blocks === undefined && row.rulesVersion !== found.rulesVersion) throw changedMeanwhile()
    const allowed = requireAllowed(await blockedRules(tx, ctx, id, set), input)
    const isByAgent = await isEnforcedByAgent(tx, id)
    if (seconds === 0 && isByAgent)
      throw invalid([
        {
          pointer: '#/confirm_within_seconds',
          code: 'out_of_range',
          detail: `must be between ${minConfirmSeconds} and 600, because an agent enforces the firewall.`,
        },
      ])
    return {
      version: { reason: 'changed', note: input.note ?? null, allowed, by: ctx.actor },
      ...confirmationOf(allowed, isByAgent, input),
    }
  })
}

/** Whether an agent enforces a firewall at one of its servers. A change that cuts the server off can then only be reverted by itself. */
const isEnforcedByAgent = async (read: Reader, firewallId: string): Promise<boolean> =>
  (
    await read
      .select({ id: firewallAttachments.serverId })
      .from(firewallAttachments)
      .where(and(eq(firewallAttachments.firewallId, firewallId), isNull(firewallAttachments.accountId)))
      .limit(1)
  ).length > 0

/** How a change has to be confirmed. If only an agent makes it necessary, it is enough that the agent still reaches the hub. */
const confirmationOf = (
  allowed: readonly GuardCode[],
  isByAgent: boolean,
  { confirm, confirm_within_seconds: seconds }: Pick<FirewallRulesInput, 'confirm' | 'confirm_within_seconds'> = {},
): Pick<PlannedChange, 'confirm' | 'confirmSeconds'> => ({
  confirm: confirm ?? (isByAgent && allowed.length === 0 && seconds === undefined ? 'auto' : 'manual'),
  confirmSeconds: seconds ?? (allowed.length > 0 || isByAgent ? defaultConfirmSeconds : 0),
})

interface PlannedChange {
  version: NewVersion
  confirm: FirewallRulesInput['confirm']
  confirmSeconds: number
}

/** Gives a firewall other rules, and starts the action that applies them. */
async function startChange(
  ctx: Ctx,
  found: FirewallRow,
  set: RuleSet,
  plan: (tx: Tx, row: FirewallRow) => Promise<PlannedChange>,
): Promise<ActionView> {
  return await change(ctx, 'cloud.firewall.apply', async tx => {
    const sources = await lockSources(tx, ctx.workspaceId, namedSources([...found.rules, ...set.rules]))
    const row = await lockRow(tx, ctx, firewallRows, found.id)
    const { version, confirm, confirmSeconds } = await plan(tx, row)
    const before = row.rulesVersion
    const { action, job } = await startAction(tx, ctx, applyKind, {
      resources: [{ type: 'firewall', id: row.id }],
      input: { rules_version: before + 1, confirm_seconds: confirmSeconds },
    })
    const pending =
      confirmSeconds === 0
        ? null
        : {
            ...{
              rulesVersion: before + 1,
              restoreVersion: before,
              confirm: confirm ?? 'manual',
              confirmSeconds,
              expiresAt: null,
            },
            ...{ isConfirmed: false, isTakenBack: false, changedBy: ctx.actor },
          }
    const { row: after, effects } = await stageRules(tx, ctx.hub, row, set, sources, version, { actionId: action.id, pending })
    return {
      result: action,
      target: targetOf(firewallRows, row),
      before: { rules_version: before, rules: row.rules, blocks: row.blocks },
      after: { rules_version: after.rulesVersion, rules: after.rules, blocks: after.blocks, allowed: version.allowed },
      reason: version.note,
      ...effects,
      jobs: [job, ...(effects.jobs ?? [])],
    }
  })
}

/** The rules with the networks that their sources have now. */
async function rulesNow(read: Reader, workspaceId: string, { rules, blocks }: RuleSet): Promise<PlainRule[]> {
  const networks = await networksOfSources(read, workspaceId, namedSources(rules))
  return [
    ...resolvedRules(rules, ({ sourceId, isPrefix }) => networks.get(sourceId)?.[isPrefix ? 'prefix' : 'addresses'] ?? []),
    ...blockingRules(blocks),
  ]
}

const blockedRules = async (read: Reader, ctx: Ctx, firewallId: string, set: RuleSet): Promise<GuardReason[]> =>
  await blockedBy(read, ctx, { firewallId, rules: await rulesNow(read, ctx.workspaceId, set) })

/** @throws Problem 409 `plan_blocked`, 422 without a note */
export function requireAllowed(
  reasons: readonly GuardReason[],
  { allow = [], note }: { allow?: GuardCode[]; note?: string },
): GuardCode[] {
  const remaining = reasons.filter(one => !allow.includes(one.code))
  if (remaining.length > 0)
    throw new Problem(
      'plan_blocked',
      `${remaining.map(one => one.detail).join(' ')} Allow each reason by its code and add a note, or make a smaller change.`,
      { fields: { reasons: remaining } },
    )
  if (reasons.length > 0 && !note?.trim())
    throw invalid([
      { pointer: '#/note', code: 'required', detail: 'is required when you allow a reason. It is stored in the audit log.' },
    ])
  return reasons.map(one => one.code)
}

async function preview(ctx: Ctx, row: FirewallRow, set: RuleSet): Promise<FirewallRulesPreview> {
  const { read } = ctx.hub
  const before = plainRules(row, await linkedNetworks(read, [row.id]))
  return {
    ...ruleChanges(before, await rulesNow(read, ctx.workspaceId, set)),
    server_ids: (await firewallViewOf(read, row)).attached.map(one => one.server_id),
    blocked: await blockedRules(read, ctx, row.id, set),
  }
}

/** @throws Problem 422 for what a server can’t have: too many entries, or protocols and blocks that its cloud can’t enforce */
async function requirePossible(ctx: Ctx, firewallId: string, set: RuleSet): Promise<void> {
  const attached = await ctx.hub.read
    .select({ serverId: firewallAttachments.serverId, kind: cloudAccounts.kind })
    .from(firewallAttachments)
    .innerJoin(cloudAccounts, eq(cloudAccounts.id, firewallAttachments.accountId))
    .where(eq(firewallAttachments.firewallId, firewallId))
  const kinds = [...new Set(attached.map(one => one.kind))]
  const problems: FieldProblem[] = kinds.flatMap(kind =>
    unsupportedProtocols(kind, set.rules).map(({ at, rule }) => ({
      pointer: `#/rules/${at}/protocol`,
      code: 'unsupported',
      detail: `The rule ${rule.id} is for ${rule.protocol}, which ${cloudKindOf(kind)!.title} can’t filter. The firewall is attached to servers there.`,
    })),
  )
  if (set.blocks.length > 0)
    for (const kind of kinds)
      if (!cloudKindOf(kind)!.capabilities.firewallBlocks)
        problems.push({
          ...{ pointer: '#/blocks', code: 'unsupported' },
          detail: `${cloudKindOf(kind)!.title} can’t block networks, and the firewall is attached to servers there. ${blockingKinds()}`,
        })
  const ids = attached.map(one => one.serverId)
  const [full] = (await overfullServers(ctx.hub.read, ids, { id: firewallId, ...set })).values()
  if (full) problems.push({ pointer: '#/rules', code: 'too_many', detail: `The server ${full.name} ${overfull(full.count)}.` })
  if (problems.length > 0) throw invalid(problems)
}

/**
 * Restores the previous rules: those before a change that is not confirmed yet, or those of the version before.
 * @throws Problem 404, 409, 412, 422
 */
export async function revertRules(ctx: Ctx, id: string, input: { allow?: GuardCode[]; note?: string }): Promise<ActionView> {
  const found = await findRow(ctx.hub.read, ctx, firewallRows, id)
  const isOpen = found.actionId !== null && (await openActionIds(ctx.hub.read, [found.actionId])).has(found.actionId)
  if (found.pending && isOpen) {
    await change(ctx, 'cloud.firewall.revert', async tx => {
      const row = await lockRow(tx, ctx, firewallRows, id)
      if (!row.pending || row.pending.isConfirmed) throw conflict('The change was confirmed or reverted in the meantime.')
      await tx
        .update(firewalls)
        .set({ pending: { ...row.pending, isTakenBack: true } })
        .where(eq(firewalls.id, id))
      const { rulesVersion, restoreVersion } = row.pending
      return {
        result: undefined,
        target: targetOf(firewallRows, row),
        before: { rules_version: rulesVersion },
        after: { rules_version: restoreVersion },
      }
    })
    return await getAction(ctx, found.actionId!, null)
  }
  const [previous] = await ctx.hub.read
    .select()
    .from(firewallVersions)
    .where(and(eq(firewallVersions.firewallId, id), lt(firewallVersions.rulesVersion, found.rulesVersion)))
    .orderBy(desc(firewallVersions.rulesVersion))
    .limit(1)
  if (!previous) throw conflict('There is no earlier version of the rules.')
  const set = { rules: await existingSources(ctx, previous.rules), blocks: previous.blocks }
  await requireSources(ctx, set.rules)
  await requirePossible(ctx, id, set)
  return await startKnownChange(ctx, found, set, 'reverted', input)
}

/** Gives a firewall rules that were found elsewhere. A change that had to be allowed must be confirmed. */
const startKnownChange = (
  ctx: Ctx,
  found: FirewallRow,
  set: RuleSet,
  reason: NewVersion['reason'],
  input: { allow?: GuardCode[]; note?: string },
): Promise<ActionView> =>
  startChange(ctx, found, set, async (tx, row) => {
    if (row.rulesVersion !== found.rulesVersion) throw changedMeanwhile()
    const allowed = requireAllowed(await blockedRules(tx, ctx, found.id, set), input)
    const version: NewVersion = { reason, note: input.note ?? null, allowed, by: ctx.actor }
    return { version, ...confirmationOf(allowed, await isEnforcedByAgent(tx, found.id)) }
  })

const changedMeanwhile = () => conflict('The rules were changed meanwhile.')

/** Old rules without sources that were deleted since. */
async function existingSources(ctx: Ctx, rules: readonly FirewallRule[]): Promise<FirewallRule[]> {
  const known = await networksOfSources(ctx.hub.read, ctx.workspaceId, namedSources(rules))
  return rules.map(rule => ({
    ...rule,
    sources: rule.sources.filter(one => {
      const named = dynamicSourceOf(one)
      return !named || known.has(named.sourceId)
    }),
  }))
}

/** Confirms a change, so that the previous rules are not restored. @throws Problem 404, 409, 412 */
export const confirmRules = (ctx: Ctx, id: string): Promise<FirewallView> =>
  change(ctx, 'cloud.firewall.confirm', async tx => {
    const row = await lockRow(tx, ctx, firewallRows, id)
    if (!row.pending || row.pending.isTakenBack) throw conflict('There is no change that has to be confirmed.')
    const pending = { ...row.pending, isConfirmed: true }
    await tx.update(firewalls).set({ pending }).where(eq(firewalls.id, id))
    return {
      result: await firewallViewOf(tx, { ...row, pending }),
      target: targetOf(firewallRows, row),
      after: { rules_version: row.pending.rulesVersion },
    }
  })

/** Takes over the rules that a server has at its cloud. @throws Problem 403, 404, 409 without drift, 409 `plan_blocked`, 412, 422 */
export async function adoptRules(ctx: Ctx, id: string, { server_id: serverId, ...input }: FirewallAdopt): Promise<ActionView> {
  const found = await findRow(ctx.hub.read, ctx, firewallRows, id)
  const [attachment] = await ctx.hub.read
    .select()
    .from(firewallAttachments)
    .where(and(eq(firewallAttachments.firewallId, id), eq(firewallAttachments.serverId, serverId)))
  const drift = attachment && canAccess(ctx, serverId) ? attachment.drift : null
  if (!drift || !drift.isAttached) throw conflict('The rules of this server were not changed at its cloud.')
  if (attachment!.accountId === null)
    throw conflict(
      'The agent only reports that the rules on the host were changed, not how. Apply the rules again to restore them.',
    )
  if (drift.added.length + drift.removed.length === 0)
    throw conflict('Only a default was changed at the cloud, and no rule. Apply the rules again to restore it.')
  const networks = await linkedNetworks(ctx.hub.read, [id])
  const set = adoptedRules(found.rules, drift.rules, (sourceId, ruleId) => networks.get(linkKey(id, ruleId, sourceId)) ?? [])
  const problems = ruleProblems(set)
  if (problems.length > 0) throw conflict(`The rules at the cloud can’t be adopted. ${problems[0]!.detail}`)
  await requireSources(ctx, set.rules)
  await requirePossible(ctx, id, set)
  return await startKnownChange(ctx, found, set, 'adopted', input)
}
