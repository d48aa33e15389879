import { and, count, eq, inArray, isNotNull, isNull, ne, or } from 'drizzle-orm'
import type { Ctx } from '../../../core/ctx'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { JobDraft } from '../../../core/jobs/draft'
import type { FieldProblem } from '../../../core/problem'
import { canAccess } from '../../../core/resource-access'
import { linkedNetworks } from '../../dynamic-ips/rule-links'
import type { CloudKind, OrderedFirewall } from '../clouds/cloud'
import { matchesSelector, parseSelector } from '../labels'
import type { ServerOrderView } from '../shapes'
import { servers } from '../tables'
import { labelsOf, type ServerRow } from '../view'
import { enforcementJobs, hint, plainRules } from './enforce'
import { overfull } from './entry-limit'
import { blockingKinds, unsupportedProtocols } from './possible-rules'
import { entryCount, maxServerEntries } from './rules'
import { followLabels, newAttachment, type Followed } from './selectors'
import { maxAttached } from './shapes'
import { firewallAttachments, firewalls } from './tables'
import type { FirewallRow } from './view'

/** What an order says about firewalls. */
export type OrderedFirewalls = Pick<ServerOrderView, 'firewall_ids' | 'start'>

/** Why a new server can't have the firewalls that its order names. */
export async function orderedFirewallProblems(
  ctx: Ctx,
  kind: CloudKind,
  { firewall_ids: ids, start }: OrderedFirewalls,
): Promise<FieldProblem[]> {
  if (ids.length === 0) return []
  const rows = await ctx.hub.read
    .select()
    .from(firewalls)
    .where(and(eq(firewalls.workspaceId, ctx.workspaceId), inArray(firewalls.id, [...ids])))
  const { firewallProtocols, firewallBlocks, firewallsOfNew } = kind.capabilities
  const tooMany = await limitProblems(ctx.hub.read, rows, null)
  return ids.flatMap((id, at): FieldProblem[] => {
    const problem = (code: string, detail: string) => [{ pointer: `#/firewall_ids/${at}`, code, detail }]
    const row = rows.find(one => one.id === id)
    if (!row || !canAccess(ctx, id)) return problem('not_found', 'There is no firewall with this ID.')
    if (firewallProtocols.length === 0) return problem('unsupported', `${kind.title} has no firewalls.`)
    if (row.blocks.length > 0 && !firewallBlocks)
      return problem('unsupported', `The firewall ${row.name} has blocks, which ${kind.title} can’t enforce. ${blockingKinds()}`)
    const [unsupported] = unsupportedProtocols(kind.kind, row.rules)
    if (unsupported) {
      const { id: ruleId, protocol } = unsupported.rule
      return problem('unsupported', `The firewall ${row.name} has the rule ${ruleId}: ${kind.title} can’t filter ${protocol}.`)
    }
    if (firewallsOfNew === 'running' && !start)
      return problem(
        'unsupported',
        `${kind.title} only sets firewalls of servers that run. Set \`start\` to true, or attach the firewall once the server runs.`,
      )
    const limit = tooMany.get(id)
    return limit === undefined ? [] : problem('too_many', limit)
  })
}

/** Why firewalls can't be attached to a server that has no others, by their id. @param serverId null if it does not exist yet */
async function limitProblems(read: Reader, rows: readonly FirewallRow[], serverId: string | null): Promise<Map<string, string>> {
  const ids = rows.map(one => one.id)
  const counts = await read
    .select({ id: firewallAttachments.firewallId, n: count() })
    .from(firewallAttachments)
    .where(
      and(
        inArray(firewallAttachments.firewallId, ids),
        serverId === null ? undefined : ne(firewallAttachments.serverId, serverId),
      ),
    )
    .groupBy(firewallAttachments.firewallId)
  let entries = 0
  return new Map(
    rows.flatMap((row): [string, string][] => {
      entries += entryCount(row)
      const attached = counts.find(one => one.id === row.id)?.n ?? 0
      if (entries > maxServerEntries) return [[row.id, `The server ${overfull(entries)}.`]]
      return attached < maxAttached
        ? []
        : [[row.id, `The firewall ${row.name} is attached to ${maxAttached} servers, the maximum.`]]
    }),
  )
}

/** The firewalls that a new server gets: those of its order, and those that select its labels. */
async function firewallsOf(read: Reader, server: ServerRow): Promise<FirewallRow[]> {
  const ids = server.order?.firewall_ids ?? []
  const rows = await read
    .select()
    .from(firewalls)
    .where(
      and(
        eq(firewalls.workspaceId, server.workspaceId),
        or(ids.length > 0 ? inArray(firewalls.id, ids) : undefined, isNotNull(firewalls.labelSelector)),
      ),
    )
  return rows.filter(
    one =>
      ids.includes(one.id) || (one.labelSelector !== null && matchesSelector(parseSelector(one.labelSelector), labelsOf(server))),
  )
}

/** Whether a new server gets firewalls, or its order names some. */
export const hasOrderedFirewalls = async (read: Reader, server: ServerRow): Promise<boolean> =>
  (server.order?.firewall_ids ?? []).length > 0 || (await firewallsOf(read, server)).length > 0

/** A server that is to be created with a firewall; undefined if there is none. */
export async function orderedBy(tx: Tx, { id, workspaceId }: FirewallRow): Promise<{ name: string } | undefined> {
  const orders = await tx
    .select({ name: servers.name, order: servers.order })
    .from(servers)
    .where(and(eq(servers.workspaceId, workspaceId), isNotNull(servers.order), isNull(servers.deletedAt)))
  return orders.find(one => one.order!.firewall_ids.includes(id))
}

/** The firewalls that a new server gets, for its order at the cloud. Those that its cloud can't enforce are left out. */
export async function orderedFirewalls(read: Reader, kind: CloudKind, server: ServerRow): Promise<OrderedFirewall[]> {
  const rows = (await firewallsOf(read, server)).filter(
    one =>
      kind.capabilities.firewallProtocols.length > 0 &&
      (one.blocks.length === 0 || kind.capabilities.firewallBlocks) &&
      unsupportedProtocols(kind.kind, one.rules).length === 0,
  )
  const networks = await linkedNetworks(
    read,
    rows.map(one => one.id),
  )
  return rows.map(one => ({ id: one.id, name: one.name, rules: plainRules(one, networks) }))
}

/** Attaches a server that was created to its firewalls. Returns what follows from it, and why the first can’t be attached. */
export async function attachOrdered(tx: Tx, server: ServerRow): Promise<Followed & { problem: string | null }> {
  const ids = server.order?.firewall_ids ?? []
  const rows = ids.length === 0 ? [] : await tx.select().from(firewalls).where(inArray(firewalls.id, ids))
  const jobs: JobDraft[] = []
  const tooMany = await limitProblems(tx, rows, server.id)
  for (const row of rows) {
    if (tooMany.has(row.id)) continue
    const attachment = newAttachment(row.id, { serverId: server.id, accountId: server.accountId })
    await tx
      .insert(firewallAttachments)
      .values({ ...attachment, isDirect: true })
      .onConflictDoNothing()
    jobs.push(...(await enforcementJobs(tx, row.id, [attachment])))
    hint(tx, row)
  }
  const missing = ids.find(id => !rows.some(one => one.id === id))
  const selected = await followLabels(tx, server.workspaceId, [server])
  return {
    jobs: [...jobs, ...selected.jobs],
    audits: selected.audits,
    problem: missing === undefined ? (tooMany.values().next().value ?? null) : `The firewall ${missing} no longer exists.`,
  }
}

/** Whether the cloud of a server enforces firewalls for it. */
export const hasCloudFirewalls = async (read: Reader, serverId: string): Promise<boolean> =>
  (await read.select({ id: firewallAttachments.firewallId }).from(firewallAttachments).where(enforcedFor(serverId)).limit(1))
    .length > 0

const enforcedFor = (serverId: string) =>
  and(
    eq(firewallAttachments.serverId, serverId),
    isNotNull(firewallAttachments.accountId),
    ne(firewallAttachments.state, 'detaching'),
  )

/**
 * How far the firewalls of a server are that its cloud enforces: the error of one that can’t be applied, or whether all are applied.
 * @param isNew whether one that has no effect is an error, too
 */
export async function orderedState(
  read: Reader,
  serverId: string,
  isNew: boolean,
): Promise<{ error: string | null; isApplied: boolean }> {
  const found = await read
    .select({
      state: firewallAttachments.state,
      error: firewallAttachments.error,
      warning: firewallAttachments.warning,
      name: firewalls.name,
    })
    .from(firewallAttachments)
    .innerJoin(firewalls, eq(firewalls.id, firewallAttachments.firewallId))
    .where(enforcedFor(serverId))
  const failed = found.find(one => one.state === 'failed')
  const open = found.find(one => isNew && one.warning !== null)
  return {
    error: failed
      ? `The firewall ${failed.name} could not be applied: ${failed.error}`
      : open
        ? `The firewall ${open.name} has no effect: ${open.warning}`
        : null,
    isApplied: found.every(one => one.state !== 'applying'),
  }
}
