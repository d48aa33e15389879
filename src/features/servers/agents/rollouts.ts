import { and, asc, eq, gte, isNotNull, isNull, ne, sql } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { systemContext } from '../../../access/system-context'
import { change, record } from '../../../core/change'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { conflict, Problem } from '../../../core/problem'
import { version } from '../../../core/version'
import { isNewerVersion } from '../../../wire/agent-version'
import { performServerAction } from '../actions/start'
import { verbRules } from '../actions/verbs'
import { servers } from '../tables'
import { agentPrograms } from './agent-files'
import { serversInMaintenance } from './maintenance'
import { nextStage, type RolloutCounts } from './rollout-stage'
import { agentRollouts } from './rollout-tables'
import type { AgentUpdatesPatch, AgentUpdatesView } from './shapes'
import { agents, isUpdatedAutomatically } from './tables'
import { touchAgent } from './touch-agents'

type RolloutRow = typeof agentRollouts.$inferSelect

const task = 'update-agents'
/** An agent that could not be updated is tried again after this time (ms). */
const retryMs = 3_600_000

const none = (workspaceId: string): RolloutRow => ({
  workspaceId,
  policy: 'manual',
  ...{ version: null, since: null, firstCount: null, restAt: null, busyUntil: null },
  ...{ stoppedBy: null, stoppedAt: null, stoppedDetail: null },
})

async function rolloutOf(read: Reader, workspaceId: string): Promise<RolloutRow> {
  const [row] = await read.select().from(agentRollouts).where(eq(agentRollouts.workspaceId, workspaceId))
  return row ?? none(workspaceId)
}

/** Locks the rollout of a workspace until the transaction ends, and creates its row if necessary. */
async function lockRollout(tx: Tx, workspaceId: string): Promise<RolloutRow> {
  await tx.insert(agentRollouts).values(none(workspaceId)).onConflictDoNothing()
  const own = eq(agentRollouts.workspaceId, workspaceId)
  const [row] = await forUpdate(tx.select().from(agentRollouts).where(own))
  return row!
}

/** Returns how the agents of a workspace are updated. */
export const getAgentUpdates = async (ctx: Ctx): Promise<AgentUpdatesView> =>
  await withPrograms(ctx, await viewOf(ctx.hub.read, ctx.hub.clock.now(), await rolloutOf(ctx.hub.read, ctx.workspaceId)))

/** Sets the policy of all agents that have none of their own. */
export async function updateAgentUpdates(ctx: Ctx, { policy }: AgentUpdatesPatch): Promise<AgentUpdatesView> {
  const progress = await change(ctx, 'cloud.agent_updates.update', async tx => {
    const row = await lockRollout(tx, ctx.workspaceId)
    const before = await viewOf(tx, ctx.hub.clock.now(), row)
    const target = await workspaceTarget(tx, ctx)
    if (policy === undefined || policy === row.policy) return { result: before, target, unchanged: true }
    return { ...(await saved(tx, ctx, row, { policy })), before, target }
  })
  return await withPrograms(ctx, progress)
}

/** Continues a rollout that a rollback has stopped, beginning with the first agents. @throws Problem 409 if it has not stopped */
export async function retryAgentUpdates(ctx: Ctx): Promise<AgentUpdatesView> {
  const progress = await change(ctx, 'cloud.agent_updates.retry', async tx => {
    const row = await lockRollout(tx, ctx.workspaceId)
    if (row.stoppedAt === null) throw conflict('The rollout has not stopped.')
    const before = await viewOf(tx, ctx.hub.clock.now(), row)
    const columns = { ...begun(ctx.hub.clock.now()), ...{ stoppedBy: null, stoppedAt: null, stoppedDetail: null } }
    return { ...(await saved(tx, ctx, row, columns)), before, target: await workspaceTarget(tx, ctx) }
  })
  return await withPrograms(ctx, progress)
}

type RolloutProgress = Omit<AgentUpdatesView, 'programs'>

/** Outside of transactions, because files are read. */
const withPrograms = async ({ hub }: Ctx, progress: RolloutProgress): Promise<AgentUpdatesView> => ({
  ...progress,
  programs: await agentPrograms(hub),
})

const begun = (since: number) => ({ since, firstCount: null, restAt: null })

async function saved(tx: Tx, { hub, workspaceId }: Ctx, row: RolloutRow, columns: Partial<RolloutRow>) {
  await tx.update(agentRollouts).set(columns).where(eq(agentRollouts.workspaceId, workspaceId))
  touchAgent(tx, { workspaceId, id: '*', serverId: null })
  const after = await viewOf(tx, hub.clock.now(), { ...row, ...columns })
  return { result: after, after }
}

async function workspaceTarget(tx: Tx, { workspaceId: id }: Ctx) {
  const [row] = await tx.select({ name: workspaces.name }).from(workspaces).where(eq(workspaces.id, id))
  return { type: 'workspace', id, name: row?.name ?? '' }
}

async function viewOf(read: Reader, now: number, row: RolloutRow): Promise<RolloutProgress> {
  const isCurrent = row.version === version
  const waiting = await candidatesOf(read, row)
  const { updating, updated } = await countsOf(read, row, 0)
  const isStopped = isCurrent && row.stoppedAt !== null
  return {
    policy: row.policy,
    version,
    state: isStopped ? 'stopped' : stateOf(row, isCurrent, waiting.length + updating, now),
    waiting: waiting.length,
    updating,
    updated,
    first_count: isCurrent ? row.firstCount : null,
    continues_at: isCurrent ? instant(row.restAt) : null,
    stopped: isStopped
      ? { agent_id: row.stoppedBy!, stopped_at: instant(row.stoppedAt!), detail: row.stoppedDetail ?? '' }
      : null,
  }
}

function stateOf({ restAt }: RolloutRow, isCurrent: boolean, left: number, now: number): AgentUpdatesView['state'] {
  if (left === 0) return 'idle'
  if (!isCurrent || restAt === null) return 'first'
  return now < restAt ? 'observing' : 'all'
}

/** Agents that are to be updated to the version of this hub. Those that don’t report count once they do. */
async function candidatesOf(read: Reader, { workspaceId, policy }: RolloutRow) {
  const isAutomatic = policy === 'auto' ? sql`coalesce(${agents.updatePolicy}, 'auto') = 'auto'` : isUpdatedAutomatically
  const rows = await read
    .select({
      ...{ id: agents.id, serverId: servers.id, status: servers.status, version: agents.version, allow: agents.allow },
      ...{ updateState: agents.updateState, updateVersion: agents.updateVersion, updateAt: agents.updateAt },
    })
    .from(agents)
    .innerJoin(servers, and(eq(servers.id, agents.serverId), isNull(servers.deletedAt)))
    .where(and(eq(agents.workspaceId, workspaceId), eq(agents.state, 'reporting'), ne(agents.version, version), isAutomatic))
    .orderBy(asc(agents.id))
  return rows.filter(
    row => row.allow.includes('update') && row.updateState !== 'updating' && isNewerVersion(version, row.version),
  )
}

type Candidate = Awaited<ReturnType<typeof candidatesOf>>[number]

/** Counts agents by the state of their update to the version of this hub, which began in this rollout. */
async function countsOf(read: Reader, { workspaceId, since, version: of }: RolloutRow, waiting: number): Promise<RolloutCounts> {
  if (since === null || of !== version) return { waiting, updating: 0, updated: 0, lastAt: null }
  const count = (state: string) => sql<number>`count(case when ${agents.updateState} = ${state} then 1 end)`.mapWith(Number)
  const [counts] = await read
    .select({
      updating: count('updating'),
      updated: count('updated'),
      lastAt: sql<number | null>`max(case when ${agents.updateState} = 'updated' then ${agents.updateAt} end)`,
    })
    .from(agents)
    // Agents that were revoked don’t report anymore: others take their place.
    .where(and(ofRollout(workspaceId, since), isNotNull(agents.serverId)))
  return { waiting, ...counts!, lastAt: counts!.lastAt === null ? null : Number(counts!.lastAt) }
}

const ofRollout = (workspaceId: string, since: number) =>
  and(eq(agents.workspaceId, workspaceId), eq(agents.updateVersion, version), gte(agents.updateAt, since))

/**
 * Updates agents that are to be updated automatically, while a maintenance window covers their servers: first a few of a workspace, and
 * the others an hour after those, unless an update was rolled back.
 */
export async function updateAgents(hub: Hub): Promise<void> {
  const ofAgents = await hub.read.selectDistinct({ id: agents.workspaceId }).from(agents).where(isUpdatedAutomatically)
  const ofWorkspaces = await hub.read
    .select({ id: agentRollouts.workspaceId })
    .from(agentRollouts)
    .where(eq(agentRollouts.policy, 'auto'))
  for (const id of new Set([...ofAgents, ...ofWorkspaces].map(one => one.id)))
    try {
      await continueRollout(hub, id)
    } catch (error) {
      // The other workspaces must not wait for this one.
      hub.log.error({ err: error, workspace: id }, 'could not update the agents of a workspace')
    }
}

async function continueRollout(hub: Hub, workspaceId: string): Promise<void> {
  const candidates = await candidatesOf(hub.read, await rolloutOf(hub.read, workspaceId))
  if (candidates.length === 0) return
  const room = await record(hub, async tx => ({ result: await takeStage(tx, hub, workspaceId, candidates.length) }))
  if (room === 0) return
  const now = hub.clock.now()
  const hasFailed = (row: Candidate) =>
    row.updateState === 'failed' && row.updateVersion === version && row.updateAt! > now - retryMs
  // In other statuses, the action is refused, which mostly passes: those are looked at again in a minute.
  const isPossible = (row: Candidate) => verbRules.update_agent.possibleIn.includes(row.status)
  const ready = candidates.filter(row => isPossible(row) && !hasFailed(row))
  const inWindow = await serversInMaintenance(
    hub,
    workspaceId,
    ready.map(row => row.serverId),
  )
  let left = room
  for (const row of ready) {
    if (left === 0) return
    if (inWindow.has(row.serverId) && (await start(hub, workspaceId, row))) left--
  }
}

/** All hubs continue rollouts in the same second of each minute. Only the first one may, since its updates don’t count before they start. */
const busyMs = 55_000

/** Moves the rollout to its next stage, or stops it. @returns how many agents may be updated now */
async function takeStage(tx: Tx, hub: Hub, workspaceId: string, waiting: number): Promise<number> {
  const now = hub.clock.now()
  let row = await lockRollout(tx, workspaceId)
  // Another hub has a newer version already.
  if (row.version !== null && isNewerVersion(row.version, version)) return 0
  if (row.busyUntil !== null && now < row.busyUntil) return 0
  if (row.version !== version)
    row = { ...row, version, ...begun(now), ...{ stoppedBy: null, stoppedAt: null, stoppedDetail: null } }
  if (row.stoppedAt === null) {
    const isRolledBack = and(ofRollout(workspaceId, row.since!), eq(agents.updateState, 'rolled_back'))
    const [failed] = await tx.select().from(agents).where(isRolledBack).orderBy(asc(agents.updateAt)).limit(1)
    if (failed) row = { ...row, stoppedBy: failed.id, stoppedAt: failed.updateAt, stoppedDetail: failed.updateDetail }
  }
  const { room, ...stage } = nextStage(row, await countsOf(tx, row, waiting), now)
  const after = row.stoppedAt === null ? { ...row, ...stage } : row
  await tx
    .update(agentRollouts)
    .set({ ...after, busyUntil: now + busyMs })
    .where(eq(agentRollouts.workspaceId, workspaceId))
  return row.stoppedAt === null ? room : 0
}

/** Starts the update of an agent. @returns whether it was started */
async function start(hub: Hub, workspaceId: string, candidate: Candidate): Promise<boolean> {
  const ctx = await systemContext(hub, workspaceId, task)
  try {
    await performServerAction(ctx, candidate.serverId, { action: 'update_agent' }, null)
    return true
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    // Another action is working on the server: it is tried again in a minute.
    if (error.code !== 'resource_locked') await record(hub, tx => fail(tx, hub, candidate, error.detail))
    return false
  }
}

/** Records that an update could not be started, unless the agent has changed since, such as by an update that a user started. */
async function fail(tx: Tx, hub: Hub, { id, serverId, version: before, updateAt: at }: Candidate, updateDetail: string) {
  const isSame = at === null ? isNull(agents.updateAt) : eq(agents.updateAt, at)
  await tx
    .update(agents)
    .set({ updateState: 'failed', updateVersion: version, updateDetail, updateAt: hub.clock.now(), updateCommandId: null })
    .where(
      and(eq(agents.id, id), eq(agents.serverId, serverId), eq(agents.state, 'reporting'), eq(agents.version, before), isSame),
    )
  return { result: undefined }
}
