import { readSent } from '../../../../api/compressed-body'
import { and, desc, eq, isNotNull, isNull, like, ne, sql } from 'drizzle-orm'
import { withChallenge } from '../../../../access/authenticate'
import { countRequest } from '../../../../access/limiter'
import { newIngestToken, tokenHint } from '../../../../access/token-format'
import { planOf } from '../../../../access/workspaces'
import { auditDrafts, record } from '../../../../core/change'
import type { Consequences, RecordResult } from '../../../../core/change-result'
import { sha256Hex } from '../../../../core/crypto'
import type { Ctx } from '../../../../core/ctx'
import { forUpdate } from '../../../../core/db/dialect'
import type { Reader, Tx } from '../../../../core/db/transaction'
import { newId } from '../../../../core/ids'
import { classOf, formatAddress, parseAddress } from '../../../../core/net/address'
import type { NoticeDraft } from '../../../../core/notices'
import { conflict, invalid, Problem } from '../../../../core/problem'
import { targetOf } from '../../../../core/rows'
import { AgentEnrolment, type AwaitingApproval, type EnrolmentAnswer } from '../../../../wire/agent'
import type { AgentPermission } from '../../../../wire/agent-permissions'
import { keyState, type EnrolmentKeyRow } from '../../enrolment-keys/enrolment-keys'
import { enrolmentKeys } from '../../enrolment-keys/tables'
import { servers } from '../../tables'
import { lockServer, serverRows } from '../../view'
import { addServerForAgent } from '../add-server'
import { concludeFromAgent } from '../conclude'
import { decideEnrolment, type Candidate, type Decision } from '../enrolment'
import { hubPublicKey } from '../hub-key'
import { linkColumns, revokeAgentOf } from '../link'
import { agentRows, isLinked, type AgentRow, type AnyAgentRow } from '../rows'
import { defaultConfig } from '../shapes'
import { silenceLimitMs } from '../silence'
import { agents } from '../tables'
import { touchAgent } from '../touch-agents'
import { agentView } from '../view'
import { bearerOf, readSignature, refused } from './authenticate'
import { readMessage } from './message'
import { permissionProblems } from './rules'

/** Size of the message. */
const maxBytes = { compressed: 64 * 1024, decompressed: 256 * 1024 }
/** Agents that await approval ask again every ten seconds. */
const requestsPerMinute = 1200
/** A workspace has at most this many agents that await approval. */
const maxAwaiting = 100

/**
 * Enrolls the agent that sends a request. The same agent can repeat it until its first report, in case the answer was lost.
 * @throws Problem 401, 403 `plan_limit_reached`, 409, 422, 429
 */
export async function enrollAgent(
  { hub, context }: Pick<Ctx, 'hub' | 'context'>,
  { request, ip }: { request: Request; ip: string },
): Promise<EnrolmentAnswer | AwaitingApproval> {
  const secret = bearerOf(request, 'enrol')
  if (secret === null) throw refused(hub, ip, 'The Authorization header must have the form: Bearer bw_enrol_…')
  const keyHash = sha256Hex(secret)
  countRequest(hub, [{ name: 'enrolment', key: keyHash, quota: requestsPerMinute, windowSeconds: 60 }])
  const [key] = await hub.read.select().from(enrolmentKeys).where(eq(enrolmentKeys.keyHash, keyHash))
  if (!key) throw refused(hub, ip, 'This enrolment key does not exist. Create another one.')
  const sent = await readSent(request, maxBytes.compressed)
  const message = await readMessage(AgentEnrolment, sent, maxBytes.decompressed)
  const problems = permissionProblems(message.allow)
  if (problems.length > 0) throw invalid(problems)
  if (message.public_key !== undefined) {
    const signature = readSignature(hub, message.public_key, request, sent.bytes)
    if (typeof signature === 'string') throw refused(hub, ip, signature)
  }

  const { workspaceId } = key
  const ctx: Ctx = {
    ...{ hub, workspaceId, context, sessionId: null, resourceIds: null, operator: false, ifMatch: null, idempotency: null },
    ...(await planOf(hub.read, workspaceId)),
    actor: { type: 'ingest', id: key.id, name: key.name, hint: key.hint },
    permissions: new Set(key.monitor ? ['cloud.read', 'monitoring.write'] : ['cloud.read']),
  }
  const token = newIngestToken('agent')
  const enrolled = await record(hub, tx => enroll(tx, ctx, key.id, message, ip, token))
  if (!isLinked(enrolled)) return { state: 'awaiting_approval' }
  await concludeFromAgent(hub, enrolled.id)
  return {
    agent_id: enrolled.id,
    server_id: enrolled.serverId,
    token,
    hub_key: hubPublicKey(hub),
    config: enrolled.config,
  }
}

async function enroll(
  tx: Tx,
  ctx: Ctx,
  keyId: string,
  message: AgentEnrolment,
  ip: string,
  token: string,
): Promise<RecordResult<AnyAgentRow>> {
  const [key] = await forUpdate(tx.select().from(enrolmentKeys).where(eq(enrolmentKeys.id, keyId)))
  if (!key) throw withChallenge(new Problem('invalid_token', 'This enrolment key was deleted. Create another one.'))
  const known = await sameAgent(tx, key, message)
  if (known) return await enrollAgain(tx, ctx, known, ip, token)
  requireUsable(key, ctx.hub.clock.now())
  const decision = decideEnrolment({
    machineIdHash: message.machine_id_hash,
    isManual: key.approve === 'manual',
    mayMatch: key.match,
    ofKey: key.serverId === null ? null : await candidate(tx, key.serverId),
    ofMachine: await ofMachine(tx, key.workspaceId, message.machine_id_hash),
    ofAddress: await ofAddress(tx, key.workspaceId, message, ip),
  })
  if (decision.needsApproval) await requireRoom(tx, key.workspaceId)
  const { agent, targets, ...effects } = await insertAgent(tx, ctx, key, message, ip, token, decision)
  const now = ctx.hub.clock.now()
  const used = key.used + 1
  const isUsedUp = key.uses !== null && used >= key.uses
  await tx
    .update(enrolmentKeys)
    .set({ used, lastUsedAt: now, usedUpAt: isUsedUp ? now : null })
    .where(eq(enrolmentKeys.id, key.id))
  const done = { result: agent, target: targets, before: null, after: agentView(agent) }
  return {
    ...effects,
    result: agent,
    audits: [...auditDrafts(ctx, 'cloud.agent.enroll', done), ...(effects.audits ?? [])],
    notices: [...(effects.notices ?? []), ...(decision.needsApproval ? [approvalNotice(agent, await nameOf(tx, decision))] : [])],
  }
}

/** The agent that sent the same request with this key before, and has not reported since. */
async function sameAgent(
  tx: Tx,
  { id }: EnrolmentKeyRow,
  { machine_id_hash, public_key }: AgentEnrolment,
): Promise<AnyAgentRow | undefined> {
  const [row] = await forUpdate(
    tx
      .select()
      .from(agents)
      .where(
        and(
          eq(agents.enrolmentKeyId, id),
          eq(agents.machineIdHash, machine_id_hash),
          public_key === undefined ? isNull(agents.publicKey) : eq(agents.publicKey, public_key),
          isNull(agents.lastReportAt),
        ),
      )
      .orderBy(desc(agents.id))
      .limit(1),
  )
  return row
}

async function enrollAgain(
  tx: Tx,
  { hub }: Ctx,
  row: AnyAgentRow,
  ip: string,
  token: string,
): Promise<RecordResult<AnyAgentRow>> {
  if (row.state === 'revoked')
    throw withChallenge(
      new Problem('token_revoked', 'The agent was rejected or revoked. To enroll it, use another enrolment key.'),
    )
  const now = hub.clock.now()
  const columns = isLinked(row) ? issuedColumns(row, token, now) : { lastSeenAt: now }
  const [after] = await tx
    .update(agents)
    .set({ ...columns, address: ip })
    .where(eq(agents.id, row.id))
    .returning()
  if (after!.state !== row.state) touchAgent(tx, after!)
  return { result: after! }
}

/** The columns of an agent that gets its token: it is alive, as it has just asked for it. */
const issuedColumns = (row: Pick<AgentRow, 'intervalSeconds'>, token: string, now: number) => ({
  tokenHash: sha256Hex(token),
  tokenHint: tokenHint(token),
  state: 'reporting' as const,
  lastSeenAt: now,
  dueAt: now + silenceLimitMs(row),
  pending: true,
})

/** @throws Problem 401 */
function requireUsable(key: EnrolmentKeyRow, now: number): void {
  const state = keyState(key, now)
  if (state === 'used_up')
    throw withChallenge(
      new Problem(
        'token_revoked',
        `This enrolment key is used up: it was for ${key.uses} enrolment${key.uses === 1 ? '' : 's'}. Create another one.`,
      ),
    )
  if (state === 'expired')
    throw withChallenge(new Problem('token_expired', 'This enrolment key has expired. Create another one.'))
}

async function candidate(tx: Tx, serverId: string): Promise<Candidate | null> {
  const server = await lockServer(tx, serverId)
  if (!server || server.deletedAt !== null) return null
  const [agent] = await tx.select().from(agents).where(eq(agents.serverId, serverId))
  return {
    serverId,
    agent: agent ? { machineIdHash: agent.machineIdHash, isReporting: agent.state === 'reporting' } : null,
  }
}

/** The server of the agent of this machine, the current one first. */
async function ofMachine(read: Reader, workspaceId: string, machineIdHash: string): Promise<{ serverId: string | null } | null> {
  const found = await read
    .select()
    .from(agents)
    .where(and(eq(agents.workspaceId, workspaceId), eq(agents.machineIdHash, machineIdHash)))
    .orderBy(desc(agents.id))
    .limit(20)
  const row = found.find(isLinked) ?? found.find(one => one.otherServerId !== null) ?? found[0]
  return row ? { serverId: row.serverId ?? row.otherServerId } : null
}

/** The server of a cloud account whose public address the agent has and calls from. */
async function ofAddress(tx: Tx, workspaceId: string, { facts }: AgentEnrolment, ip: string): Promise<Candidate | null> {
  const parsed = parseAddress(ip)
  if (!parsed || classOf(parsed) !== 'public') return null
  const address = formatAddress(parsed)
  if (!facts.addresses?.some(one => canonical(one) === address)) return null
  const [found, ...others] = await tx
    .select({ id: servers.id })
    .from(servers)
    .where(
      and(
        eq(servers.workspaceId, workspaceId),
        isNotNull(servers.accountId),
        isNull(servers.deletedAt),
        ne(servers.status, 'missing'),
        like(sql`${servers.cloud}`, `%"address":"${address}"%`),
      ),
    )
    .limit(2)
  return found && others.length === 0 ? await candidate(tx, found.id) : null
}

const canonical = (text: string): string | null => {
  const parsed = parseAddress(text)
  return parsed && formatAddress(parsed)
}

/** @throws Problem 409 */
async function requireRoom(read: Reader, workspaceId: string): Promise<void> {
  const awaiting = await read
    .select({ id: agents.id })
    .from(agents)
    .where(and(eq(agents.workspaceId, workspaceId), eq(agents.state, 'awaiting_approval')))
    .limit(maxAwaiting)
  if (awaiting.length === maxAwaiting)
    throw conflict(`${maxAwaiting} agents await approval already. Approve or reject some of them first.`)
}

async function insertAgent(
  tx: Tx,
  ctx: Ctx,
  key: EnrolmentKeyRow,
  message: AgentEnrolment,
  ip: string,
  token: string,
  { serverId, needsApproval }: Decision,
): Promise<Consequences & { agent: AnyAgentRow; targets: ReturnType<typeof targetOf>[] }> {
  const now = ctx.hub.clock.now()
  const { facts } = message
  const name = facts.hostname ?? facts.fqdn ?? ip
  const id = newId('agent')
  const known = serverId === null ? undefined : await lockServer(tx, serverId)
  const replaced = known && !needsApproval ? await revokeAgentOf(tx, ctx, known.id) : {}
  const { labels, monitor } = key
  const added = known || needsApproval ? null : await addServerForAgent(tx, ctx, { name, facts, labels, monitor })
  const linked = needsApproval ? undefined : (known ?? added?.row)
  const [agent] = await tx
    .insert(agents)
    .values({
      ...{ id, name, workspaceId: key.workspaceId, enrolmentKeyId: key.id, address: ip },
      ...{ version: message.version, allow: message.allow as AgentPermission[], facts, factsAt: now },
      ...{ publicKey: message.public_key ?? null, machineIdHash: message.machine_id_hash },
      ...{ config: defaultConfig, intervalSeconds: defaultConfig.interval_seconds },
      ...{ runs: [], refusedRuns: [], clockOffsetMs: null, spooled: 0, dropped: 0, signedAt: null, lastReportAt: null },
      ...{ tokenHash: null, tokenHint: null, previousTokenHash: null, previousValidUntil: null },
      ...{ silentAt: null, disconnected: false, notified: false, stopReason: null, createdAt: now, lastSeenAt: now },
      ...(linked
        ? { ...linkColumns(linked.id, now), ...issuedColumns(defaultConfigRow, token, now) }
        : { serverId: null, otherServerId: serverId, state: 'awaiting_approval', dueAt: null, pending: false }),
    })
    .returning()
  const targets = [targetOf(agentRows, agent!), ...(linked ? [targetOf(serverRows, linked)] : [])]
  return {
    agent: agent!,
    targets,
    audits: [...(added?.effects.audits ?? []), ...(replaced.audits ?? [])],
    events: added?.effects.events ?? [],
    jobs: [...(added?.effects.jobs ?? []), ...(replaced.jobs ?? [])],
    notices: added?.effects.notices ?? [],
    wakeTopics: added?.effects.wakeTopics ?? [],
  }
}

const defaultConfigRow = { intervalSeconds: defaultConfig.interval_seconds }

async function nameOf(read: Reader, { serverId }: Decision): Promise<string | null> {
  if (serverId === null) return null
  const [row] = await read.select({ name: servers.name }).from(servers).where(eq(servers.id, serverId))
  return row?.name ?? null
}

const approvalNotice = (agent: AnyAgentRow, server: string | null): NoticeDraft => ({
  workspaceId: agent.workspaceId,
  kind: 'agent.approval',
  resource: targetOf(agentRows, agent),
  text: `The agent of ${agent.name} (${agent.address}) wants to report ${server === null ? 'as a new server' : `about the server ${server}`}. Approve or reject it.`,
  details: { agent_id: agent.id, server_id: agent.otherServerId, address: agent.address },
  dedupKey: agent.id,
})
