import { and, eq, inArray, isNull, lte, type SQL } from 'drizzle-orm'
import type { RecordResult } from '../../../core/change-result'
import type { AuditActor } from '../../../core/db/tables'
import type { Ctx } from '../../../core/ctx'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { parseAddress } from '../../../core/net/address'
import { saveRow } from '../../../core/rows'
import { followRules, linkedNetworks, type NamedSource } from '../../dynamic-ips/rule-links'
import { monitorChecksOf } from '../../monitors/statuses'
import { agentsOf } from '../agents/rows'
import { servers } from '../tables'
import { addressesOf } from '../view'
import { plainRules, stageEnforcement } from './enforce'
import { addressFamilies, guardReasons, type AddressFamily, type GuardedServer, type GuardReason } from './guards'
import { hubAddress } from './hub-address'
import { dynamicSourceOf, type FirewallRule, type GuardCode, type PlainRule, type RuleSet } from './rules'
import type { FirewallVersionView } from './shapes'
import { firewallAttachments, firewalls, firewallVersions } from './tables'
import { firewallRows, type AttachmentRow, type FirewallRow } from './view'

type Sources = Parameters<typeof followRules>[4]
type Effects = Pick<RecordResult<unknown>, 'audits' | 'events' | 'jobs' | 'notices' | 'wakeTopics'>

const maxVersions = 100

/** Why the rules of a firewall have a new version. */
export interface NewVersion {
  reason: FirewallVersionView['reason']
  note: string | null
  allowed: GuardCode[]
  by: AuditActor
}

/** The sources that rules name, by rule. */
const namedBy = (rules: readonly FirewallRule[]): NamedSource[] =>
  rules.flatMap(rule =>
    [
      ...Map.groupBy(
        rule.sources.flatMap(one => dynamicSourceOf(one) ?? []),
        one => one.sourceId,
      ),
    ].map(([sourceId, entries]) => ({
      ruleId: rule.id,
      sourceId,
      hasAddresses: entries.some(one => !one.isPrefix),
      hasPrefix: entries.some(one => one.isPrefix),
    })),
  )

/**
 * Gives a firewall other rules, and starts applying them.
 * @param row locked
 * @param sources that the rules name, locked before
 * @param columns other columns to save
 */
export async function stageRules(
  tx: Tx,
  hub: Hub,
  row: FirewallRow,
  { rules, blocks }: RuleSet,
  sources: Sources,
  version: NewVersion,
  columns: Partial<FirewallRow> = {},
): Promise<{ row: FirewallRow; effects: Effects }> {
  const rulesVersion = row.rulesVersion + 1
  const after = await saveRow(tx, { hub }, firewallRows, row, { ...columns, rules, blocks, rulesVersion })
  return { row: after, effects: await followVersion(tx, hub, after, sources, version) }
}

/** What follows from a new version of the rules: its place in the history, links of dynamic IP sources, and jobs. */
export async function followVersion(tx: Tx, hub: Hub, row: FirewallRow, sources: Sources, version: NewVersion): Promise<Effects> {
  await insertVersion(tx, hub, row, version)
  const effects = await followRules(tx, hub, row.id, namedBy(row.rules), sources)
  return { ...effects, jobs: [...effects.jobs, ...(await stageEnforcement(tx, row.id))] }
}

export async function insertVersion(
  tx: Tx,
  hub: Hub,
  { id, rules, blocks, rulesVersion }: FirewallRow,
  { reason, note, allowed, by }: NewVersion,
): Promise<void> {
  await tx.insert(firewallVersions).values({
    ...{ id: newId('fwv'), firewallId: id, rulesVersion, rules, blocks, reason, note, allowed, actor: by },
    createdAt: hub.clock.now(),
  })
  await tx
    .delete(firewallVersions)
    .where(and(eq(firewallVersions.firewallId, id), lte(firewallVersions.rulesVersion, rulesVersion - maxVersions)))
}

/** A change of the rules of a firewall, or of the servers that have it. Absent members stay the same. */
interface Change {
  firewallId: string
  /** The rules afterwards. */
  rules?: readonly PlainRule[]
  attach?: readonly string[]
  detach?: readonly string[]
}

/** The firewalls of a server before and after a change. */
type FirewallsOf = ReadonlyMap<string, { before: readonly string[]; after: readonly string[] }>

/** Whether a server has a firewall after a change. */
export interface AttachmentChange {
  serverId: string
  firewallId: string
  isAttached: boolean
}

/** The servers that a change affects, with the firewalls that they have before and after it. */
async function affectedBy(read: Reader, { firewallId, rules, attach = [], detach = [] }: Change): Promise<FirewallsOf> {
  const own = (await attachmentsBy(read, eq(firewallAttachments.firewallId, firewallId)))
    .filter(one => one.state !== 'detaching')
    .map(one => one.serverId)
  const ids = [...new Set([...(rules ? own : []), ...attach, ...detach.filter(id => own.includes(id))])]
  const attached = Map.groupBy(await attachmentsBy(read, inArray(firewallAttachments.serverId, ids)), one => one.serverId)
  return new Map(
    ids.map(id => {
      const before = idsOf((attached.get(id) ?? []).filter(one => one.state !== 'detaching' && isInForce(one)))
      const others = before.filter(one => one !== firewallId)
      const isAttached = !detach.includes(id) && (own.includes(id) || attach.includes(id))
      return [id, { before, after: isAttached ? [...others, firewallId] : others }]
    }),
  )
}

type Attachment = Pick<AttachmentRow, 'firewallId' | 'serverId' | 'state' | 'rulesVersion'>

/** Whether a server has rules of the firewall. Until it was applied once, it protects nothing. */
const isInForce = ({ rulesVersion }: Attachment): boolean => rulesVersion !== null

const idsOf = (some: readonly Attachment[]): string[] => some.map(one => one.firewallId).toSorted()

/** Servers with what all their firewalls allow before and after a change. @param changed new rules of a firewall */
async function guardedServers(
  read: Reader,
  { hub, workspaceId }: Pick<Ctx, 'hub' | 'workspaceId'>,
  affected: FirewallsOf,
  changed: { firewallId: string; rules: readonly PlainRule[] } | null,
): Promise<GuardedServer[]> {
  if (affected.size === 0) return []
  const rows = await read
    .select({
      ...{ id: servers.id, name: servers.name, accountId: servers.accountId, healthMonitorIds: servers.healthMonitorIds },
      ...{ cloud: servers.cloud, manualAddresses: servers.manualAddresses },
    })
    .from(servers)
    .where(and(inArray(servers.id, [...affected.keys()]), isNull(servers.deletedAt)))
  const agents = await agentsOf(read, rows)
  const ids = [...new Set([...affected.values()].flatMap(one => [...one.before, ...one.after]))]
  const all = await read.select().from(firewalls).where(inArray(firewalls.id, ids))
  const networks = await linkedNetworks(read, ids)
  const plain = new Map<string, readonly PlainRule[]>(all.map(one => [one.id, plainRules(one, networks)]))
  const shared = new Map<string, PlainRule[]>()
  const union = (firewallIds: readonly string[], time: 'before' | 'after') => {
    if (firewallIds.length === 0) return null
    const key = `${time} ${firewallIds.toSorted().join()}`
    const rulesOf = (id: string) => (time === 'after' && id === changed?.firewallId ? changed.rules : plain.get(id)!)
    if (!shared.has(key)) shared.set(key, firewallIds.flatMap(rulesOf))
    return shared.get(key)!
  }
  return await Promise.all(
    rows.map(async row => {
      const known = addressFamilies.filter(family => addressesOf(row).some(one => one.family === family))
      const families = known.length > 0 ? known : addressFamilies
      return {
        ...{ name: row.name, families },
        before: union(affected.get(row.id)!.before, 'before'),
        after: union(affected.get(row.id)!.after, 'after'),
        monitors: (await monitorChecksOf(read, workspaceId, row.healthMonitorIds))
          .filter(one => one.status === 'up')
          .flatMap(({ name, target, options }) => {
            const { host, port } = destinationOf(target) ?? {}
            if (host === undefined || port === undefined) return []
            const { ip_family } = options as { ip_family?: AddressFamily }
            const family = ip_family ?? familyOfAddress(host)
            return [{ name, port, families: family === null ? families : [family] }]
          }),
        hub: row.accountId !== null && agents.has(row.id) ? hubAddress(hub) : null,
      }
    }),
  )
}

const attachmentsBy = (read: Reader, condition: SQL): Promise<Attachment[]> =>
  read
    .select({
      firewallId: firewallAttachments.firewallId,
      serverId: firewallAttachments.serverId,
      state: firewallAttachments.state,
      rulesVersion: firewallAttachments.rulesVersion,
    })
    .from(firewallAttachments)
    .where(condition)

/** The host and TCP port that a monitor connects to, if its target tells. */
function destinationOf(target: string): { host: string; port: number } | null {
  const [, host, number] = /^([\w.[\]:-]+):(\d{1,5})$/.exec(target) ?? []
  if (host !== undefined) return { host, port: Number(number) }
  if (!URL.canParse(target)) return null
  const { protocol, hostname, port } = new URL(target)
  const used = port !== '' ? Number(port) : protocol === 'https:' ? 443 : protocol === 'http:' ? 80 : null
  return used === null ? null : { host: hostname, port: used }
}

/** Null for a name. */
function familyOfAddress(host: string): AddressFamily | null {
  const kind = parseAddress(host.replace(/^\[|\]$/g, ''))?.kind()
  return kind === undefined ? null : kind === 'ipv4' ? 4 : 6
}

/** Why a change has to be allowed first. */
export async function blockedBy(read: Reader, ctx: Ctx, change: Change): Promise<GuardReason[]> {
  const { firewallId, rules } = change
  const changed = rules ? { firewallId, rules } : null
  return await guardReasons(await guardedServers(read, ctx, await affectedBy(read, change), changed), ctx.context.ip)
}

/** Why changes that were made in this transaction have to be allowed. */
export async function blockedByAttachments(tx: Tx, ctx: Ctx, changes: readonly AttachmentChange[]): Promise<GuardReason[]> {
  const byServer = Map.groupBy(changes, one => one.serverId)
  const now = Map.groupBy(
    await attachmentsBy(tx, inArray(firewallAttachments.serverId, [...byServer.keys()])),
    one => one.serverId,
  )
  const affected = [...byServer].map(([id, some]) => {
    const rows = now.get(id) ?? []
    const changeOf = (row: Attachment) => some.find(one => one.firewallId === row.firewallId)
    const wasAttached = (row: Attachment) => !(changeOf(row)?.isAttached ?? row.state === 'detaching')
    const before = idsOf(rows.filter(row => wasAttached(row) && isInForce(row)))
    // What was attached by this change is applied before others are removed.
    const after = idsOf(rows.filter(row => row.state !== 'detaching' && (isInForce(row) || changeOf(row) !== undefined)))
    return [id, { before, after }] as const
  })
  return await guardReasons(await guardedServers(tx, ctx, new Map(affected), null), ctx.context.ip)
}
