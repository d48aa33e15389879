import { workspacePolicy } from '../../../access/network-policy'
import type { Hub } from '../../../core/hub'
import { EgressRefused, type NetworkPolicy } from '../../../core/net/egress'
import { egressOf } from '../../../core/net/hub-egress'
import { systemResolvers } from '../../../core/net/resolvers'
import { QueryFailed } from '../../../dns/client/failure'
import { queryServer } from '../../../dns/client/query-server'
import type { ServerAddress } from '../../../dns/client/server'
import { CLASS, message, RCODE, type Message } from '../../../dns/message'
import { lowerName, sameName } from '../../../dns/name'
import { textOf, txtValue } from '../../../dns/rdata'
import { originOf } from '../zones/names'
import { areChallengesSynced, nameOfPlace, type ChallengeValue } from './challenges'

const timeoutMs = 3000
const maxNameServers = 16
const atOnce = 8

/**
 * Why a validator could still see other values: a provider has not been updated, or one of the name servers that the zone is delegated to
 * does not respond with them. Zones without a public delegation are only compared with their providers.
 * @returns null if all values are visible
 */
export async function missingChallenge(hub: Hub, workspaceId: string, values: readonly ChallengeValue[]): Promise<string | null> {
  if (!(await areChallengesSynced(hub.read, values))) return 'The records have not been sent to all DNS providers yet.'
  const policy = await workspacePolicy(hub.read, workspaceId, false)
  for (const [zoneName, ofZone] of Map.groupBy(values, one => one.zoneName)) {
    for (const nameServer of await delegatedTo(hub, zoneName)) {
      const at = await addressOf(hub, nameServer, policy)
      if (at && !(await showsAll(hub, at, ofZone)))
        return `The name server ${nameServer.replace(/\.$/, '')} does not respond with the new records yet.`
    }
  }
  return null
}

/** The name servers of a zone according to the resolvers; empty without a delegation, or if no resolver responds. */
async function delegatedTo(hub: Hub, zoneName: string): Promise<string[]> {
  const name = originOf(zoneName)
  for (const at of hub.config.dnsResolvers ?? (await systemResolvers())) {
    const answer = await ask(hub, at, name, 'NS', true)
    if (!answer) continue
    const found = answer.answer.filter(one => one.type === 'NS' && sameName(one.name, name))
    return found.map(one => lowerName(textOf('NS', one.rdata))).slice(0, maxNameServers)
  }
  return []
}

/** Null if the network policy of the workspace doesn’t allow the name server, or it has no address. */
async function addressOf(hub: Hub, nameServer: string, policy: NetworkPolicy): Promise<ServerAddress | null> {
  try {
    return await egressOf(hub).vetHost(nameServer, 53, policy, 'dns_query')
  } catch (error) {
    if (error instanceof EgressRefused) return null
    throw error
  }
}

async function showsAll(hub: Hub, at: ServerAddress, values: readonly ChallengeValue[]): Promise<boolean> {
  const byName = [...Map.groupBy(values, nameOfPlace)]
  for (let first = 0; first < byName.length; first += atOnce) {
    const shown = await Promise.all(
      byName.slice(first, first + atOnce).map(async ([name, wanted]) => {
        const answer = await ask(hub, at, `${name}.`, 'TXT', false)
        const texts = answer?.answer.flatMap(one =>
          one.type === 'TXT' ? [Buffer.from(txtValue(one.rdata)).toString('latin1')] : [],
        )
        return wanted.every(one => texts?.includes(one.value))
      }),
    )
    if (shown.includes(false)) return false
  }
  return true
}

async function ask(hub: Hub, at: ServerAddress, name: string, type: string, rd: boolean): Promise<Message | null> {
  try {
    const question = message({ id: 0, flags: { rd }, question: [{ name, type, class: CLASS.IN }] })
    const answer = await queryServer({ at, key: null, now: () => hub.clock.now() }, question, { timeoutMs })
    return answer.rcode === RCODE.NOERROR ? answer : null
  } catch (error) {
    if (error instanceof QueryFailed) return null
    throw error
  }
}
