import { inArray } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import type { FieldProblem } from '../../../core/problem'
import { cloudAccounts } from '../accounts/tables'
import type { CloudAccountRow } from '../accounts/view'
import { agentsOf } from '../agents/rows'
import { cloudKindOf } from '../clouds'
import type { ServerRow } from '../view'
import { overfull, overfullServers } from './entry-limit'
import { blockingKinds, unsupportedProtocols } from './possible-rules'
import { maxAttached } from './shapes'
import { firewallAttachments } from './tables'
import type { FirewallRow } from './view'

const maxPerServer = 5

/** The accounts whose clouds can enforce firewalls of servers, by server. The agents of the others enforce them. */
export async function enforcingAccounts(tx: Tx, chosen: readonly ServerRow[]): Promise<Map<string, CloudAccountRow>> {
  const ids = chosen.flatMap(one => one.accountId ?? [])
  const accounts = await tx.select().from(cloudAccounts).where(inArray(cloudAccounts.id, ids))
  const able = accounts.filter(one => (cloudKindOf(one.kind)?.capabilities.firewallProtocols.length ?? 0) > 0)
  return new Map(
    chosen.flatMap(server => {
      const account = able.find(one => one.id === server.accountId)
      return account ? [[server.id, account] as const] : []
    }),
  )
}

/**
 * Why servers can't have a firewall. Those that it has already don't count twice.
 * @param count of the servers that it has
 */
export async function attachProblems(
  tx: Tx,
  row: FirewallRow,
  chosen: readonly ServerRow[],
  count: number,
): Promise<FieldProblem[]> {
  const accounts = await enforcingAccounts(tx, chosen)
  const agents = await agentsOf(tx, chosen)
  const others = await tx
    .select({ firewallId: firewallAttachments.firewallId, serverId: firewallAttachments.serverId })
    .from(firewallAttachments)
    .where(
      inArray(
        firewallAttachments.serverId,
        chosen.map(one => one.id),
      ),
    )
  const full = await overfullServers(
    tx,
    chosen.map(one => one.id),
    row,
  )
  let free = maxAttached - count
  return chosen.flatMap((server, at): FieldProblem[] => {
    const problem = (code: string, detail: string) => [
      { pointer: `#/server_ids/${at}`, code, detail: `The server ${server.name} ${detail}` },
    ]
    const account = accounts.get(server.id)
    if (!account && !agents.get(server.id)?.allow.includes('firewall'))
      return problem(
        'unsupported',
        'can’t have firewalls. It needs a cloud with firewalls, or an agent that may change its firewall.',
      )
    if (account) {
      const kind = cloudKindOf(account.kind)!
      if (server.providerRef === null) return problem('conflict', 'does not exist at its cloud yet.')
      const [unsupported] = unsupportedProtocols(account.kind, row.rules)
      if (unsupported)
        return problem(
          'unsupported',
          `can’t have the rule ${unsupported.rule.id}, because ${kind.title} can’t filter ${unsupported.rule.protocol}.`,
        )
      if (row.blocks.length > 0 && !kind.capabilities.firewallBlocks)
        return problem(
          'unsupported',
          `can’t have the blocks of the firewall, because ${kind.title} can’t enforce them. ${blockingKinds()}`,
        )
    }
    const own = others.filter(one => one.serverId === server.id && one.firewallId !== row.id)
    if (own.length >= maxPerServer) return problem('too_many', `already has ${maxPerServer} firewalls, the maximum.`)
    if (full.has(server.id)) return problem('too_many', `${overfull(full.get(server.id)!.count)}.`)
    const isThere = others.some(one => one.serverId === server.id && one.firewallId === row.id)
    if (!isThere && free-- <= 0)
      return problem('too_many', `can’t be added, because a firewall can be attached to at most ${maxAttached} servers.`)
    return []
  })
}
