import { createHash } from 'node:crypto'
import { and, asc, eq, inArray, isNull } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import { sequentialLanes } from '../../../core/jobs/lanes'
import { maxCommandBytes } from '../../../wire/agent-command'
import { confirmLinks } from '../../dynamic-ips/drive-links'
import { linkedNetworks } from '../../dynamic-ips/rule-links'
import { agentsOf, lockAgent, type AgentRow } from '../agents/rows'
import { recordPackets } from '../metrics/recorder'
import { servers } from '../tables'
import { countRestoration, driftAudit, driftNotice } from './drift-effects'
import { hint, plainRules, updateAttachment } from './enforce'
import { applyAtHost, confirmAtHost } from './host-commands'
import { hostFirewalls } from './host-tables'
import { hubAddress } from './hub-address'
import { dynamicSourceOf } from './rules'
import { firewallAttachments, firewalls } from './tables'
import type { AttachmentRow, FirewallRow } from './view'
import { enforceHostJobFor, enforceHostKind, notReporting } from './host-job'
import { nftRuleset, noRuleset } from './host-ruleset'

type HostRow = typeof hostFirewalls.$inferSelect
type Effects = Pick<RecordResult<unknown>, 'audits' | 'jobs' | 'notices' | 'wakeTopics'>

/** How long a host waits for the confirmation of a change that nobody has to confirm: only the agent must reach the hub. */
const defaultConfirmSeconds = 60
/** A confirmation at the last moment must still arrive. */
const marginSeconds = 3
/** When a rule set that a host did not keep is sent again. */
const retryMs = 5 * 60_000
/** A rule set that a host doesn't report in this time was lost. */
const lostMs = 10 * 60_000

/** What a host reports about its firewall, right after a command and with each of its reports. */
interface HostReport {
  /** SHA-256 of the rule set in effect; null if there is none. Reported over a connection that was opened since it is in effect. */
  digest: string | null
  isConfirmed: boolean
  /** A rule set that could not be applied, and why. */
  failed?: { digest: string; detail: string }
  /** Packets that the rules of the rule set in effect counted, by their comments. */
  counters?: Readonly<Record<string, number>>
}

/** The firewalls that the agent of a server enforces. */
interface Attached {
  attachment: AttachmentRow
  firewall: FirewallRow
}

async function attachedTo(read: Reader, serverId: string): Promise<Attached[]> {
  return await read
    .select({ attachment: firewallAttachments, firewall: firewalls })
    .from(firewallAttachments)
    .innerJoin(firewalls, eq(firewalls.id, firewallAttachments.firewallId))
    .where(and(eq(firewallAttachments.serverId, serverId), isNull(firewallAttachments.accountId)))
    .orderBy(firewallAttachments.firewallId)
}

const lockHost = async (tx: Tx, serverId: string): Promise<HostRow | undefined> =>
  (await forUpdate(tx.select().from(hostFirewalls).where(eq(hostFirewalls.serverId, serverId))))[0]

const isDetaching = ({ attachment }: Attached): boolean => attachment.state === 'detaching'

/** Sends the agent what its host should have, or lets it keep what it has. Can run at any time. */
export const enforceHostJob: JobKind<{ server_id: string }> = {
  kind: enforceHostKind,
  concurrency: 8,
  lanes: sequentialLanes,
  leaseMs: 60_000,
  retryAfter: attempts => Math.min(1000 * 2 ** (attempts - 1), 60_000),
  async run(hub, { payload: { server_id: serverId } }) {
    return async tx => {
      const attached = await attachedTo(tx, serverId)
      const row = await lockHost(tx, serverId)
      if (attached.length === 0 && !row) return { result: undefined }
      const agent = (await agentsOf(tx, [{ id: serverId }])).get(serverId)
      if (!agent?.allow.includes('firewall'))
        return await giveUp(tx, row, attached, 'The server has no agent that may change its firewall.', agent !== undefined)
      const wanted = attached.filter(one => !isDetaching(one))
      const networks = await linkedNetworks(
        tx,
        wanted.map(one => one.firewall.id),
      )
      const rules = wanted.flatMap(({ firewall }) =>
        plainRules(firewall, networks).map(rule => ({ ...rule, firewallId: firewall.id })),
      )
      const uid = uidOf(agent)
      if (uid === null && rules.some(one => one.direction === 'out'))
        return await giveUp(tx, row, attached, 'The agent has not reported yet which user it runs as.')
      const { port: hubPort, address } = hubAddress(hub)
      const reaching = { uid, hubPort, isHubNamed: address === null }
      const ruleset = wanted.length === 0 ? noRuleset : nftRuleset({ rules, agent: reaching, uplinks: uplinksOf(agent) })
      if (Buffer.byteLength(JSON.stringify(ruleset)) > maxCommandBytes - envelopeBytes)
        return await giveUp(
          tx,
          row,
          attached,
          'The firewalls of the server have too many rules and sources to be sent to its agent.',
        )
      const digest = createHash('sha256').update(ruleset).digest('hex')
      const versions = Object.fromEntries(wanted.map(({ firewall }) => [firewall.id, firewall.rulesVersion]))
      // Someone still has to confirm the change, or took it back, and the previous rules have not been restored yet.
      const pending = wanted.flatMap(({ firewall: { pending, rulesVersion } }) =>
        pending && !pending.isConfirmed && pending.rulesVersion === rulesVersion ? [pending.confirmSeconds] : [],
      )
      if (row?.digest === digest && row.state !== 'outdated') {
        if (row.state !== 'applied' && row.state !== 'confirmed') return { result: undefined }
        await tx.update(hostFirewalls).set({ versions }).where(eq(hostFirewalls.serverId, serverId))
        await markApplied(
          tx,
          hub,
          // What was changed on the host still is.
          attached.filter(one => one.attachment.state !== 'drifted'),
          versions,
        )
        if (row.state === 'confirmed' || pending.length > 0) return { result: undefined }
        await tx.update(hostFirewalls).set({ state: 'confirmed' }).where(eq(hostFirewalls.serverId, serverId))
        return { result: undefined, ...(await confirmAtHost(tx, hub, { agentId: agent.id, digest })) }
      }
      const values = { digest, state: 'sent' as const, versions, sentAt: hub.clock.now() }
      await tx
        .insert(hostFirewalls)
        .values({ serverId, ...values })
        .onConflictDoUpdate({ target: hostFirewalls.serverId, set: values })
      if (agent.state !== 'reporting') await markWaiting(tx, attached)
      const revertAfterSeconds = Math.max(defaultConfirmSeconds, ...pending) + marginSeconds
      return {
        result: undefined,
        ...(await applyAtHost(tx, hub, { agentId: agent.id, ruleset, digest, revertAfterSeconds })),
      }
    }
  },
}

const maxUplinks = 32
/** What a command contains in addition to the rule set. */
const envelopeBytes = 4096

// What the agent reports becomes part of a rule set, so anything else is left out.
const uidOf = ({ facts }: AgentRow): number | null =>
  facts?.agent_uid !== undefined && Number.isSafeInteger(facts.agent_uid) ? facts.agent_uid : null
const uplinksOf = ({ facts }: AgentRow): string[] =>
  [...new Set(facts?.uplinks)]
    .filter(one => /^[\w.:@-]{1,15}$/.test(one))
    .toSorted()
    .slice(0, maxUplinks)

/**
 * The firewall of the host can't be changed. It keeps what it has until an agent that can change it reports.
 * @param hasAgent false if there may never be another one, so that what is detached is not waited for
 */
async function giveUp(
  tx: Tx,
  row: HostRow | undefined,
  attached: readonly Attached[],
  error: string,
  hasAgent = true,
): Promise<RecordResult<undefined>> {
  await markFailed(tx, attached, error)
  if (row) await tx.update(hostFirewalls).set({ state: 'outdated' }).where(eq(hostFirewalls.serverId, row.serverId))
  // Nothing was ever sent to the host, or nobody can tell it. The next agent of the server removes it there.
  if (!row || !hasAgent) await removeDetached(tx, attached)
  return { result: undefined }
}

/**
 * Records what a host reports about its firewall.
 * @returns false if there is no such agent
 */
export async function recordHostFirewall(hub: Hub, agentId: string, report: HostReport): Promise<boolean> {
  const counting = await record(hub, async tx => {
    const agent = await lockAgent(tx, agentId)
    if (!agent) return { result: null }
    await lockFirewallsOf(tx, agent.serverId, report)
    const row = await lockHost(tx, agent.serverId)
    const attached = await attachedTo(tx, agent.serverId)
    // The job decides what the host should have. If it had no agent that may change its firewall, this is the first report of one.
    if (!row || row.state === 'outdated') {
      const isNeeded = (row !== undefined || attached.length > 0) && agent.allow.includes('firewall')
      return { result: [], jobs: isNeeded ? [enforceHostJobFor(agent.serverId)] : [] }
    }
    const isOurs = report.digest === row.digest
    return { result: isOurs ? attached.map(one => one.attachment) : [], ...(await follow(tx, hub, row, attached, report)) }
  })
  for (const { firewallId, serverId } of counting ?? []) await countPackets(hub, firewallId, serverId, report)
  return counting !== null
}

/** Locks the firewalls of a host that reports something else than it should have, in the order of other changes, to avoid deadlocks. */
async function lockFirewallsOf(tx: Tx, serverId: string, { digest }: HostReport): Promise<void> {
  const [row] = await tx.select().from(hostFirewalls).where(eq(hostFirewalls.serverId, serverId))
  if (!row || row.digest === digest) return
  const ids = (await attachedTo(tx, serverId)).map(one => one.firewall.id)
  await forUpdate(tx.select().from(firewalls).where(inArray(firewalls.id, ids)).orderBy(asc(firewalls.id)))
}

async function countPackets(
  hub: Hub,
  firewallId: string,
  serverId: string,
  { digest, counters = {} }: HostReport,
): Promise<void> {
  if (digest === null || counters.default === undefined) return
  const own = `${firewallId}.`
  const accepted = Object.entries(counters).flatMap(([comment, packets]) =>
    comment.startsWith(own) ? [[comment.slice(own.length), packets] as const] : [],
  )
  const dropped = counters.default + (counters.blocks ?? 0)
  await recordPackets(hub, { firewallId, serverId, digest }, new Map(accepted), dropped)
}

async function follow(tx: Tx, hub: Hub, row: HostRow, attached: readonly Attached[], report: HostReport): Promise<Effects> {
  const now = hub.clock.now()
  const update = async (state: HostRow['state']) => {
    if (state !== row.state) await tx.update(hostFirewalls).set({ state }).where(eq(hostFirewalls.serverId, row.serverId))
  }
  const again: Effects = { jobs: [enforceHostJobFor(row.serverId)] }
  if (report.digest === row.digest) {
    if (report.isConfirmed && Object.keys(row.versions).length === 0 && attached.every(isDetaching)) {
      await tx.delete(hostFirewalls).where(eq(hostFirewalls.serverId, row.serverId))
      await removeDetached(tx, attached)
      return {}
    }
    await markApplied(tx, hub, attached, row.versions)
    if (row.state === 'confirmed') return {}
    await update(report.isConfirmed ? 'confirmed' : 'applied')
    return report.isConfirmed ? {} : again
  }
  if (report.failed?.digest === row.digest) {
    await update('failed')
    await markFailed(tx, attached, report.failed.detail)
    return {}
  }
  if (row.state === 'applied') {
    await update('reverted')
    await markFailed(tx, attached, 'The host restored the rules confirmed last, because the change was not confirmed in time.')
    return {}
  }
  // Something else on the host changed the table.
  if (row.state === 'confirmed') {
    const { isRestored, ...effects } = await followDrift(tx, hub, row.serverId, attached, report)
    if (!isRestored) return effects
    await update('outdated')
    return { ...effects, ...again }
  }
  // A command was lost.
  const isLost = now >= row.sentAt + (row.state === 'sent' ? lostMs : retryMs)
  if (!isLost) return {}
  await update('outdated')
  return again
}

/** Records that the table of a host was changed there, and decides whether it is restored: it is, if one of its firewalls says so. */
async function followDrift(
  tx: Tx,
  hub: Hub,
  serverId: string,
  attached: readonly Attached[],
  { digest }: HostReport,
): Promise<Effects & { isRestored: boolean }> {
  // Firewalls that are being removed are not followed.
  if (attached.every(isDetaching)) return { isRestored: true }
  const [server] = await tx.select({ name: servers.name }).from(servers).where(eq(servers.id, serverId))
  const place = { where: `on the server ${server!.name}`, accountId: null }
  const effects: Required<Pick<Effects, 'audits' | 'notices'>> = { audits: [], notices: [] }
  let isRestored = false
  for (const { attachment, firewall } of attached) {
    if (attachment.state !== 'applied' && attachment.state !== 'drifted') continue
    // Agents don't report which rules there are.
    const isAttached = digest !== null
    const isNew = attachment.drift?.isAttached !== isAttached
    const drift = { detectedAt: hub.clock.now(), isAttached, changedDefaults: [], added: [], removed: [], rules: [] }
    if (isNew) {
      await updateAttachment(tx, attachment, { state: 'drifted', drift })
      hint(tx, firewall)
    }
    const isEnforced = firewall.driftPolicy === 'enforce' && (await countRestoration(tx, hub, firewall))
    isRestored ||= isEnforced
    if (isNew || isEnforced) effects.audits.push(driftAudit(firewall, place, 1, isEnforced, enforceHostKind))
    if (isNew) effects.notices.push(driftNotice(firewall, place, [serverId], isEnforced))
  }
  return { ...effects, isRestored }
}

async function markApplied(
  tx: Tx,
  hub: Hub,
  attached: readonly Attached[],
  versions: Readonly<Record<string, number>>,
): Promise<void> {
  for (const { attachment, firewall } of attached) {
    const rulesVersion = versions[firewall.id]
    if (rulesVersion === undefined || attachment.state === 'detaching') continue
    if (attachment.state === 'applied' && attachment.rulesVersion === rulesVersion) continue
    await updateAttachment(tx, attachment, {
      ...{ state: 'applied', rulesVersion, appliedAt: hub.clock.now() },
      ...{ error: null, warning: null, drift: null },
    })
    for (const rule of firewall.rules)
      if (rule.sources.some(dynamicSourceOf)) await confirmLinks(tx, { firewallId: firewall.id, ruleId: rule.id })
    hint(tx, firewall)
  }
  await removeDetached(
    tx,
    attached.filter(one => versions[one.firewall.id] === undefined),
  )
}

/** The host gets a change once its agent reports again. */
async function markWaiting(tx: Tx, attached: readonly Attached[]): Promise<void> {
  for (const { attachment, firewall } of attached) {
    if (attachment.state !== 'applying' && attachment.state !== 'detaching') continue
    await updateAttachment(tx, attachment, { error: notReporting })
    hint(tx, firewall)
  }
}

async function markFailed(tx: Tx, attached: readonly Attached[], error: string): Promise<void> {
  for (const { attachment, firewall } of attached) {
    const state = attachment.state === 'detaching' ? 'detaching' : 'failed'
    if (attachment.state === state && attachment.error === error) continue
    await updateAttachment(tx, attachment, { state, error })
    hint(tx, firewall)
  }
}

async function removeDetached(tx: Tx, attached: readonly Attached[]): Promise<void> {
  for (const { attachment, firewall } of attached.filter(isDetaching)) {
    await tx
      .delete(firewallAttachments)
      .where(
        and(eq(firewallAttachments.firewallId, attachment.firewallId), eq(firewallAttachments.serverId, attachment.serverId)),
      )
    hint(tx, firewall)
  }
}
