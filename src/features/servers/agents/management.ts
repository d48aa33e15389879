import { Type } from '@sinclair/typebox'
import { eq } from 'drizzle-orm'
import { newIngestToken, tokenHint } from '../../../access/token-format'
import { change, isUnchanged } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import { sha256Hex } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { listingOf, listPage } from '../../../core/list'
import { containsFilter, searchFilter, textFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { conflict, invalid } from '../../../core/problem'
import { canAccess } from '../../../core/resource-access'
import { changedRow, findRow, lockRow, targetOf } from '../../../core/rows'
import { lockServer, serverRows, type ServerRow } from '../view'
import { enrolmentKeys } from '../enrolment-keys/tables'
import { addServerForAgent } from './add-server'
import { concludeFromAgent, concludeWithoutAgent } from './conclude'
import { linkColumns, revoke, revokeAgentOf } from './link'
import { agentRows, type AnyAgentRow } from './rows'
import {
  agentStates,
  agentUpdateStates,
  defaultGraceSeconds,
  type AgentApproval,
  type AgentPatch,
  type AgentTokenRotation,
  type AgentView,
  type AgentWithTokenView,
} from './shapes'
import { agents } from './tables'
import { agentView } from './view'

export const agentListing = listingOf('agents', agents, {
  filters: {
    state: wordsFilter(agents.state, agentStates, 'Only agents in these states.'),
    version: textFilter(agents.version, 'Only agents with this version.', { maxLength: 64 }),
    update_state: wordsFilter(agents.updateState, agentUpdateStates, 'Only agents whose last update is in these states.'),
    server_id: textFilter(agents.serverId, 'Only the agent that reports about this server.'),
    allow: containsFilter(
      agents.allow,
      Type.String({ maxLength: 210, description: 'Only agents that are allowed to do this, such as `reboot`.' }),
    ),
    q: searchFilter([agents.name], 'Only agents whose name contains all words of this text.'),
    ...timeFilters('created_at', agents.createdAt),
  },
  sorts: ['name', 'created_at'],
  accessColumn: agents.serverId,
})

export const listAgents = (ctx: Ctx, query: Record<string, unknown>) => listPage(ctx, agentListing, query, agentView)

/** @throws Problem 404 */
export const getAgent = async (ctx: Ctx, id: string): Promise<AgentView> =>
  agentView(await findRow(ctx.hub.read, ctx, agentRows, id))

/** Updates the settings that the agent gets with its next report, and how it is updated. @throws Problem 404 */
export const updateAgent = (ctx: Ctx, id: string, { config = {}, update: { policy } = {} }: AgentPatch): Promise<AgentView> =>
  change(ctx, 'cloud.agent.update', async tx => {
    const row = await lockRow(tx, ctx, agentRows, id)
    const columns = { config: { ...row.config, ...config }, ...(policy !== undefined && { updatePolicy: policy }) }
    return await saved(tx, row, columns)
  })

/** Deletes an agent, with its token. @throws Problem 404 */
export const deleteAgent = (ctx: Ctx, id: string): Promise<void> =>
  change(ctx, 'cloud.agent.delete', async tx => {
    const { row, server } = await lockWithServer(tx, ctx, id)
    const { jobs } = await revoke(tx, row, ctx.hub.clock.now())
    await tx.delete(agents).where(eq(agents.id, id))
    const concluded = server ? await concludeWithoutAgent(tx, ctx.hub, server) : {}
    return { result: undefined, target: targetOf(agentRows, row), before: agentView(row), jobs, ...concluded }
  })

/** Refuses everything that the agent sends from now on. @throws Problem 404 */
export const revokeAgent = (ctx: Ctx, id: string): Promise<AgentView> =>
  change(ctx, 'cloud.agent.revoke', async tx => {
    const { row, server } = await lockWithServer(tx, ctx, id)
    if (row.state === 'revoked') return await changedRow(agentRows, row, row, agentView)
    const { after, jobs } = await revoke(tx, row, ctx.hub.clock.now())
    const concluded = server ? await concludeWithoutAgent(tx, ctx.hub, server) : {}
    return { ...(await changedRow(agentRows, row, after, agentView)), jobs, ...concluded }
  })

/** Refuses an agent that awaits approval. @throws Problem 404, 409 if it doesn’t */
export const rejectAgent = (ctx: Ctx, id: string): Promise<AgentView> =>
  change(ctx, 'cloud.agent.reject', async tx => {
    const row = await lockAwaiting(tx, ctx, id)
    return await changedRow(agentRows, row, (await revoke(tx, row, ctx.hub.clock.now())).after, agentView)
  })

/**
 * Lets an agent that awaits approval report about a server. It gets its token when it asks again, within ten seconds.
 * @throws Problem 403 `plan_limit_reached`, 404, 409 if it doesn’t await approval or its key was deleted, 422
 */
export async function approveAgent(ctx: Ctx, id: string, { server_id }: AgentApproval): Promise<AgentView> {
  const view = await change(ctx, 'cloud.agent.approve', async tx => {
    const { otherServerId } = await findRow(tx, ctx, agentRows, id)
    const wanted = server_id === undefined ? otherServerId : server_id
    const server = wanted === null ? null : await serverOf(tx, ctx, wanted)
    const replaced = await revokeAgentOf(tx, ctx, server?.id ?? null)
    const row = await lockAwaiting(tx, ctx, id)
    if (row.enrolmentKeyId === null)
      throw conflict('The enrolment key of this agent was deleted, so it can’t be approved. Enroll it again with another key.')
    const added = server ? null : await addServerOf(tx, ctx, row, row.enrolmentKeyId)
    const linked = server ?? added!.row
    const done = await saved(tx, row, linkColumns(linked.id, ctx.hub.clock.now()))
    return {
      ...done,
      target: [targetOf(agentRows, row), targetOf(serverRows, linked)],
      audits: [...(added?.effects.audits ?? []), ...(replaced.audits ?? [])],
      jobs: [...(added?.effects.jobs ?? []), ...(replaced.jobs ?? [])],
      events: added?.effects.events ?? [],
      notices: added?.effects.notices ?? [],
      wakeTopics: added?.effects.wakeTopics ?? [],
    }
  })
  await concludeFromAgent(ctx.hub, id)
  return view
}

/** @throws Problem 422 */
async function serverOf(tx: Tx, ctx: Ctx, id: string): Promise<ServerRow> {
  const row = await lockServer(tx, id)
  if (row && row.workspaceId === ctx.workspaceId && row.deletedAt === null && canAccess(ctx, id)) return row
  throw invalid([{ pointer: '#/server_id', code: 'not_found', detail: 'There is no server with this ID.' }])
}

async function addServerOf(tx: Tx, ctx: Ctx, row: AnyAgentRow, keyId: string) {
  const [key] = await tx.select().from(enrolmentKeys).where(eq(enrolmentKeys.id, keyId))
  return await addServerForAgent(tx, ctx, { name: row.name, facts: row.facts ?? {}, labels: key!.labels, monitor: key!.monitor })
}

/**
 * Replaces the token of an agent. The old one stays valid for the grace period, so that the new one can be stored on the server.
 * @throws Problem 404, 409 if it is not linked to a server
 */
export async function rotateAgentToken(
  ctx: Ctx,
  id: string,
  { grace_seconds = defaultGraceSeconds }: AgentTokenRotation,
): Promise<AgentWithTokenView> {
  const token = newIngestToken('agent')
  return await change(ctx, 'cloud.agent.rotate', async tx => {
    const row = await lockRow(tx, ctx, agentRows, id)
    if (row.tokenHash === null || row.serverId === null) throw conflict('This agent has no token that is in use.')
    const now = ctx.hub.clock.now()
    const done = await saved(tx, row, {
      tokenHash: sha256Hex(token),
      tokenHint: tokenHint(token),
      previousTokenHash: grace_seconds > 0 ? row.tokenHash : null,
      previousValidUntil: grace_seconds > 0 ? now + grace_seconds * 1000 : null,
    })
    return { ...done, result: { ...done.result, token } }
  })
}

async function saved(tx: Tx, row: AnyAgentRow, columns: Partial<AnyAgentRow>): Promise<ChangeResult<AgentView>> {
  if (isUnchanged(row, columns)) return await changedRow(agentRows, row, row, agentView)
  const [after] = await tx.update(agents).set(columns).where(eq(agents.id, row.id)).returning()
  return await changedRow(agentRows, row, after!, agentView)
}

/** Locks an agent and its server, which is locked first everywhere. @throws Problem 404, 409 */
async function lockWithServer(tx: Tx, ctx: Ctx, id: string): Promise<{ row: AnyAgentRow; server: ServerRow | undefined }> {
  const { serverId } = await findRow(tx, ctx, agentRows, id)
  const server = serverId === null ? undefined : await lockServer(tx, serverId)
  const row = await lockRow(tx, ctx, agentRows, id)
  if (row.serverId !== serverId) throw conflict('The agent was changed at the same time. Try again.')
  return { row, server }
}

/** @throws Problem 404, 409 */
async function lockAwaiting(tx: Tx, ctx: Ctx, id: string): Promise<AnyAgentRow> {
  const row = await lockRow(tx, ctx, agentRows, id)
  if (row.state !== 'awaiting_approval') throw conflict('The agent does not await approval.')
  return row
}
