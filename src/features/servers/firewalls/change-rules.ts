import { and, eq, inArray, isNull, lte } from 'drizzle-orm'
import type { RecordResult } from '../../../core/change-result'
import type { AuditActor } from '../../../core/db/tables'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { saveRow } from '../../../core/rows'
import { followRules, linkedNetworks, type NamedSource } from '../../dynamic-ips/rule-links'
import { monitorChecksOf } from '../../monitors/statuses'
import { servers } from '../tables'
import { plainRules, stageEnforcement } from './enforce'
import { guardReasons, type GuardedServer, type GuardReason } from './guards'
import { dynamicSourceOf, type FirewallRule, type GuardCode, type PlainRule, type RuleSet } from './rules'
import type { FirewallVersionView } from './shapes'
import { firewallAttachments, firewalls, firewallVersions } from './tables'
import { firewallRows, type FirewallRow } from './view'

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

/** The servers that a change affects, with what all their firewalls allow before and after it. */
async function guardedServers(
  read: Reader,
  workspaceId: string,
  { firewallId, rules, attach = [], detach = [] }: Change,
): Promise<GuardedServer[]> {
  const own = await attachedTo(read, eq(firewallAttachments.firewallId, firewallId))
  const affected = [
    ...new Set([
      ...(rules ? own.map(one => one.serverId) : []),
      ...attach,
      ...detach.filter(id => own.some(one => one.serverId === id)),
    ]),
  ]
  if (affected.length === 0) return []
  const rows = await read
    .select({ id: servers.id, name: servers.name, healthMonitorIds: servers.healthMonitorIds })
    .from(servers)
    .where(and(inArray(servers.id, affected), isNull(servers.deletedAt)))
  const attached = await attachedTo(read, inArray(firewallAttachments.serverId, affected))
  const ids = [...new Set([firewallId, ...attached.map(one => one.firewallId)])]
  const all = await read.select().from(firewalls).where(inArray(firewalls.id, ids))
  const networks = await linkedNetworks(read, ids)
  const plain = new Map(all.map(one => [one.id, plainRules(one, networks)]))
  const after = [...(rules ?? plain.get(firewallId)!)]
  const shared = new Map<string, PlainRule[]>()
  const union = (firewallIds: readonly string[], time: 'before' | 'after') => {
    if (firewallIds.length === 0) return null
    const key = `${time} ${firewallIds.toSorted().join()}`
    if (!shared.has(key))
      shared.set(
        key,
        firewallIds.flatMap(id => (time === 'after' && id === firewallId ? after : plain.get(id)!)),
      )
    return shared.get(key)!
  }
  const idsOf = Map.groupBy(attached, one => one.serverId)
  return await Promise.all(
    rows.map(async row => {
      const before = (idsOf.get(row.id) ?? []).map(one => one.firewallId)
      const others = before.filter(id => id !== firewallId)
      const isAttached = !detach.includes(row.id) && (before.includes(firewallId) || attach.includes(row.id))
      return {
        name: row.name,
        before: union(before, 'before'),
        after: union(isAttached ? [...others, firewallId] : others, 'after'),
        monitors: (await monitorChecksOf(read, workspaceId, row.healthMonitorIds))
          .filter(one => one.status === 'up')
          .flatMap(({ name, target }) => {
            const port = portOf(target)
            return port === null ? [] : [{ name, port }]
          }),
      }
    }),
  )
}

const attachedTo = (read: Reader, condition: ReturnType<typeof eq>) =>
  read
    .select({
      firewallId: firewallAttachments.firewallId,
      serverId: firewallAttachments.serverId,
      state: firewallAttachments.state,
    })
    .from(firewallAttachments)
    .where(condition)
    .then(rows => rows.filter(one => one.state !== 'detaching'))

/** The TCP port that a monitor connects to, if its target tells. */
function portOf(target: string): number | null {
  const [, host] = /^[\w.[\]:-]+:(\d{1,5})$/.exec(target) ?? []
  if (host !== undefined) return Number(host)
  if (!URL.canParse(target)) return null
  const { protocol, port } = new URL(target)
  return port !== '' ? Number(port) : protocol === 'https:' ? 443 : protocol === 'http:' ? 80 : null
}

/** Why a change has to be allowed first. */
export const blockedBy = async (
  read: Reader,
  workspaceId: string,
  caller: string | null,
  change: Change,
): Promise<GuardReason[]> => await guardReasons(await guardedServers(read, workspaceId, change), caller)
