import { and, eq, inArray, isNull, ne } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import { servers } from '../tables'
import { entryCount, maxServerEntries, type RuleSet } from './rules'
import { firewallAttachments, firewalls } from './tables'

/** Servers whose firewalls would have too many entries together, by id, with how many. */
export async function overfullServers(
  read: Reader,
  serverIds: readonly string[],
  firewall: RuleSet & { id: string },
): Promise<Map<string, { name: string; count: number }>> {
  const others = await read
    .select({ serverId: servers.id, name: servers.name, rules: firewalls.rules, blocks: firewalls.blocks })
    .from(firewallAttachments)
    .innerJoin(firewalls, eq(firewalls.id, firewallAttachments.firewallId))
    .innerJoin(servers, eq(servers.id, firewallAttachments.serverId))
    .where(
      and(
        inArray(firewallAttachments.serverId, [...serverIds]),
        ne(firewallAttachments.firewallId, firewall.id),
        isNull(servers.deletedAt),
      ),
    )
  const own = entryCount(firewall)
  const counted = [...Map.groupBy(others, one => one.serverId)].map(([id, some]) => {
    const count = some.reduce((sum, one) => sum + entryCount(one), own)
    return [id, { name: some[0]!.name, count }] as const
  })
  return new Map(counted.filter(([, { count }]) => count > maxServerEntries))
}

export const overfull = (count: number): string =>
  `would have ${count} entries (networks × ports) in its firewalls, more than the maximum of ${maxServerEntries}`
