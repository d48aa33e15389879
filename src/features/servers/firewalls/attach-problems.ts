import { inArray } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import type { FieldProblem } from '../../../core/problem'
import { cloudAccounts } from '../accounts/tables'
import { cloudKindOf } from '../clouds'
import type { ServerRow } from '../view'
import { overfull, overfullServers } from './entry-limit'
import { blockingKinds, unsupportedProtocols } from './possible-rules'
import { maxAttached } from './shapes'
import { firewallAttachments } from './tables'
import type { FirewallRow } from './view'

const maxPerServer = 5

/** Why servers can't have a firewall. @param count of the servers that it has */
export async function attachProblems(
  tx: Tx,
  row: FirewallRow,
  chosen: readonly ServerRow[],
  count: number,
): Promise<FieldProblem[]> {
  const accounts = await tx
    .select()
    .from(cloudAccounts)
    .where(
      inArray(
        cloudAccounts.id,
        chosen.flatMap(one => one.accountId ?? []),
      ),
    )
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
  return chosen.flatMap((server, at): FieldProblem[] => {
    const problem = (code: string, detail: string) => [
      { pointer: `#/server_ids/${at}`, code, detail: `${server.name} ${detail}` },
    ]
    const account = accounts.find(one => one.id === server.accountId)
    const kind = account && cloudKindOf(account.kind)
    if (!kind || kind.capabilities.firewallProtocols.length === 0)
      return problem(
        'unsupported',
        kind ? `can’t have firewalls: ${kind.title} has none.` : 'can’t have firewalls: it has no cloud account.',
      )
    if (server.providerRef === null) return problem('conflict', 'does not exist at its cloud yet.')
    const [unsupported] = unsupportedProtocols(account.kind, row.rules)
    if (unsupported)
      return problem(
        'unsupported',
        `can’t have the rule ${unsupported.rule.id}: ${kind.title} can’t filter ${unsupported.rule.protocol}.`,
      )
    if (row.blocks.length > 0 && !kind.capabilities.firewallBlocks)
      return problem('unsupported', `can’t have the blocks of the firewall: ${kind.title} can’t enforce them. ${blockingKinds()}`)
    const own = others.filter(one => one.serverId === server.id && one.firewallId !== row.id)
    if (own.length >= maxPerServer) return problem('too_many', `has ${maxPerServer} firewalls already, the maximum.`)
    if (full.has(server.id)) return problem('too_many', `${overfull(full.get(server.id)!.count)}.`)
    if (count + chosen.length > maxAttached)
      return problem('too_many', `can’t be added: a firewall can have ${maxAttached} servers.`)
    return []
  })
}
