import { isDeepStrictEqual } from 'node:util'
import { and, asc, eq, inArray, isNotNull, ne } from 'drizzle-orm'
import { addChangeHint } from '../../../core/change-hints'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/draft'
import type { Finish, JobKind } from '../../../core/jobs/job'
import { sequentialLanes } from '../../../core/jobs/lanes'
import { confirmLinks } from '../../dynamic-ips/drive-links'
import { linkedNetworks, linkKey } from '../../dynamic-ips/rule-links'
import { openCloud } from '../accounts/open'
import { cloudAccounts } from '../accounts/tables'
import { CloudError, type FirewallOutcome } from '../clouds/cloud'
import { servers } from '../tables'
import { hostFirewalls } from './host-tables'
import { enforceHostJobFor } from './host-job'
import { blockingRules, dynamicSourceOf, resolvedRules, type PlainRule, type RuleSet } from './rules'
import { firewallAttachments, firewalls } from './tables'
import type { AttachmentRow, FirewallRow } from './view'

const enforceKind = 'cloud.enforce-firewall'

/** Pause between two looks at what the cloud is working on. */
const pollMs = 1000
const retryMs = 10_000

/** Job that makes a firewall at a cloud account what it should be. Firewalls of an account are changed one after another. */
export const enforceJobFor = (firewallId: string, accountId: string): JobDraft => ({
  kind: enforceKind,
  payload: { firewall_id: firewallId, cloud_account_id: accountId },
  lane: accountId,
  uniqueKey: `${firewallId} ${accountId}`,
  replaces: true,
})

/** The rules of a firewall with the current networks of dynamic IP sources. */
export const plainRules = (
  { id, rules, blocks }: RuleSet & { id: string },
  networks: ReadonlyMap<string, readonly string[]>,
): PlainRule[] => [
  ...resolvedRules(rules, ({ sourceId }, ruleId) => networks.get(linkKey(id, ruleId, sourceId)) ?? []),
  ...blockingRules(blocks),
]

/** An attachment with the state of its server. */
interface Attached {
  attachment: AttachmentRow
  ref: string | null
  deletedAt: number | null
}

/** What a firewall should be at an account. */
interface Desired {
  firewall: FirewallRow
  rules: PlainRule[]
  wanted: Attached[]
  /** It is to be removed from these servers once others that select them are applied, so that they are never open in between. */
  staying: Attached[]
  detaching: (Attached & { hasOthers: boolean })[]
}

/** @returns null if there is nothing to enforce */
export async function desiredAt(read: Reader, firewallId: string, accountId: string): Promise<Desired | null> {
  const [firewall] = await read.select().from(firewalls).where(eq(firewalls.id, firewallId))
  const attached = await read
    .select({ attachment: firewallAttachments, ref: servers.providerRef, deletedAt: servers.deletedAt })
    .from(firewallAttachments)
    .innerJoin(servers, eq(servers.id, firewallAttachments.serverId))
    .where(and(eq(firewallAttachments.firewallId, firewallId), eq(firewallAttachments.accountId, accountId)))
    .orderBy(asc(firewallAttachments.serverId))
  if (!firewall || attached.length === 0) return null
  const isDetaching = ({ attachment, deletedAt }: (typeof attached)[number]) =>
    attachment.state === 'detaching' || deletedAt !== null
  const leaving = attached.filter(isDetaching)
  const others = leaving.length === 0 ? [] : await othersOf(read, firewallId, leaving)
  const has = (some: typeof others, { attachment }: Attached) => some.some(one => one.serverId === attachment.serverId)
  const replacing = others.filter(one => one.isSelected && one.rulesVersion === null && one.state !== 'detaching')
  const isStaying = (one: Attached) => one.deletedAt === null && one.ref !== null && has(replacing, one)
  return {
    firewall,
    rules: plainRules(firewall, await linkedNetworks(read, [firewallId])),
    wanted: attached.filter(one => !isDetaching(one) && one.ref !== null),
    staying: leaving.filter(isStaying),
    detaching: leaving.filter(one => !isStaying(one)).map(one => ({ ...one, hasOthers: has(others, one) })),
  }
}

/** The other firewalls of servers that a firewall has. */
const othersOf = (read: Reader, firewallId: string, attached: readonly Attached[]): Promise<AttachmentRow[]> =>
  read
    .select()
    .from(firewallAttachments)
    .where(
      and(
        inArray(
          firewallAttachments.serverId,
          attached.map(one => one.attachment.serverId),
        ),
        ne(firewallAttachments.firewallId, firewallId),
      ),
    )

export const enforceFirewallJob: JobKind<{ firewall_id: string; cloud_account_id: string }> = {
  kind: enforceKind,
  concurrency: 16,
  lanes: sequentialLanes,
  leaseMs: 5 * 60_000,
  retryAfter: attempts => Math.min(1000 * 2 ** (attempts - 1), 60_000),
  async run(hub, { payload: { firewall_id: id, cloud_account_id: accountId } }) {
    const desired = await desiredAt(hub.read, id, accountId)
    const [account] = await hub.read.select().from(cloudAccounts).where(eq(cloudAccounts.id, accountId))
    if (!desired || !account) return undefined
    try {
      const cloud = await openCloud(hub, account, true)
      const outcome = await carryOut(desired)
      return tx => finish(tx, hub, desired, accountId, outcome)

      async function carryOut({ firewall, rules, wanted, staying, detaching }: Desired): Promise<FirewallOutcome> {
        // A ref that is used again belongs to another server.
        const detach = detaching.flatMap(({ ref, deletedAt, hasOthers }) =>
          ref === null || (deletedAt !== null && cloud.reserveRef) ? [] : [{ ref, hasOthers }],
        )
        const refs = [...wanted, ...staying].map(one => one.ref!)
        if (refs.length === 0) return { ...(await cloud.removeFirewall!(id, detach)), refused: [], warnings: [] }
        const effective = wanted.filter(({ attachment }) => attachment.rulesVersion !== null && attachment.warning === null)
        const effectiveOn = effective.map(one => one.ref!)
        return await cloud.setFirewall!({ id, name: firewall.name, rules, refs, detach, effectiveOn })
      }
    } catch (error) {
      if (!(error instanceof CloudError)) throw error
      return failed(hub, desired, error as CloudError)
    }
  },
}

const isFinal: ReadonlySet<string> = new Set([
  'unauthorized',
  'refused',
  'not_found',
  'already_exists',
  'protected',
  'quota',
  'invalid',
])

function failed(hub: Hub, { firewall, wanted, staying, detaching }: Desired, error: CloudError): Finish {
  return async tx => {
    const isOver = isFinal.has(error.failure)
    for (const { attachment } of [...wanted, ...staying, ...detaching])
      await updateAttachment(tx, attachment, {
        error: error.message,
        ...(isOver && attachment.state !== 'detaching' && { state: 'failed' }),
      })
    hint(tx, firewall)
    return { result: isOver ? undefined : { again: hub.clock.now() + Math.max(retryMs, error.retryAfterMs ?? 0) } }
  }
}

async function finish(
  tx: Tx,
  hub: Hub,
  done: Desired,
  accountId: string,
  { state, refused, warnings, unreached = [] }: FirewallOutcome,
) {
  const { firewall } = done
  await forUpdate(tx.select().from(firewalls).where(eq(firewalls.id, firewall.id)))
  const now = hub.clock.now()
  if (state === 'applying') return { result: { again: now + pollMs } }
  const current = await desiredAt(tx, firewall.id, accountId)
  // It was changed meanwhile.
  if (!current || !isDeepStrictEqual(targetOf(current), targetOf(done))) return { result: current ? { again: now } : undefined }
  const detailOf = (ref: string | null, some: FirewallOutcome['refused']) => some.find(one => one.ref === ref)?.detail ?? null
  for (const { attachment, ref } of current.wanted) {
    const later = detailOf(ref, unreached)
    if (later !== null) {
      // The next reading of the account tries it again.
      await updateAttachment(tx, attachment, { state: 'applying', error: later })
      continue
    }
    const error = detailOf(ref, refused)
    await updateAttachment(
      tx,
      attachment,
      error === null
        ? {
            ...{ state: 'applied', rulesVersion: firewall.rulesVersion, appliedAt: now },
            ...{ error: null, warning: detailOf(ref, warnings), drift: null },
          }
        : { state: 'failed', error },
    )
  }
  for (const { attachment } of current.staying) await updateAttachment(tx, attachment, { error: null, warning: stays })
  for (const { attachment, ref } of current.detaching) {
    const later = detailOf(ref, unreached)
    if (later === null) await tx.delete(firewallAttachments).where(isOne(attachment))
    else await updateAttachment(tx, attachment, { error: later })
  }
  const isReached = ({ ref }: Attached) => detailOf(ref, unreached) === null
  const isNew = ({ attachment, ref }: Attached) => attachment.rulesVersion === null && detailOf(ref, refused) === null
  const changed = [...current.wanted.filter(isNew), ...current.detaching].filter(isReached)
  const waiting = changed.length === 0 ? [] : await othersOf(tx, firewall.id, changed)
  for (const rule of current.firewall.rules)
    if (rule.sources.some(dynamicSourceOf)) await confirmLinks(tx, { firewallId: firewall.id, ruleId: rule.id })
  hint(tx, firewall)
  const next = new Set(waiting.filter(one => one.state === 'detaching').map(one => one.firewallId))
  return { result: undefined, jobs: [...next].map(id => enforceJobFor(id, accountId)) }
}

const stays = 'It stays until the other firewalls that select the server are applied.'

const targetOf = ({ firewall, rules, wanted, staying, detaching }: Desired) => ({
  version: firewall.rulesVersion,
  rules,
  wanted: wanted.map(one => one.ref),
  staying: staying.map(one => one.ref),
  detaching: detaching.map(one => one.attachment.serverId),
})

const isOne = ({ firewallId, serverId }: Pick<AttachmentRow, 'firewallId' | 'serverId'>) =>
  and(eq(firewallAttachments.firewallId, firewallId), eq(firewallAttachments.serverId, serverId))

export async function updateAttachment(tx: Tx, row: AttachmentRow, set: Partial<AttachmentRow>): Promise<void> {
  await tx.update(firewallAttachments).set(set).where(isOne(row))
}

/** Lets dashboards load a firewall again. */
export const hint = (tx: Tx, { id, workspaceId }: Pick<FirewallRow, 'id' | 'workspaceId'>): void =>
  addChangeHint(tx, { workspaceId, action: 'cloud.firewall.update', type: 'firewall', id, parentId: null })

/** The jobs that apply a change of a firewall at the given attachments. */
export async function enforcementJobs(
  tx: Tx,
  firewallId: string,
  attached: readonly Pick<AttachmentRow, 'accountId' | 'serverId'>[],
): Promise<JobDraft[]> {
  const hosts = attached.flatMap(one => (one.accountId === null ? one.serverId : []))
  // What hosts report until then is about the rules before.
  if (hosts.length > 0) await tx.update(hostFirewalls).set({ state: 'outdated' }).where(inArray(hostFirewalls.serverId, hosts))
  const accounts = new Set(attached.map(one => one.accountId))
  return [...[...accounts].flatMap(id => (id === null ? [] : enforceJobFor(firewallId, id))), ...hosts.map(enforceHostJobFor)]
}

/** Marks the servers of a firewall as not up to date. Returns the jobs that apply its rules. */
export async function stageEnforcement(tx: Tx, firewallId: string): Promise<JobDraft[]> {
  const ofFirewall = eq(firewallAttachments.firewallId, firewallId)
  await tx
    .update(firewallAttachments)
    .set({ state: 'applying', error: null })
    .where(and(ofFirewall, ne(firewallAttachments.state, 'detaching')))
  return await enforcementJobs(tx, firewallId, await tx.select().from(firewallAttachments).where(ofFirewall))
}

/** Marks the firewalls that a cloud enforces for a server as not up to date there. Returns the jobs that apply them again. */
export async function stageAtServer(tx: Tx, serverId: string): Promise<JobDraft[]> {
  const { accountId, state } = firewallAttachments
  const ofServer = and(eq(firewallAttachments.serverId, serverId), isNotNull(accountId), ne(state, 'detaching'))
  const attached = tx.select({ id: firewallAttachments.firewallId }).from(firewallAttachments).where(ofServer)
  // In id order, to avoid deadlocks.
  const rows = await forUpdate(tx.select().from(firewalls).where(inArray(firewalls.id, attached)).orderBy(asc(firewalls.id)))
  const staged = await tx.update(firewallAttachments).set({ state: 'applying', error: null }).where(ofServer).returning()
  for (const row of rows) hint(tx, row)
  return staged.map(one => enforceJobFor(one.firewallId, one.accountId!))
}
