import { isDeepStrictEqual } from 'node:util'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { findRow } from '../../core/rows'
import { onePage, type Page } from '../../core/shapes'
import { agentsOf, type AgentRow } from './agents/rows'
import { accountStates, controllerStates } from './states'
import type { FactSource, ServerFactView } from './shapes'
import { confirmedAt, isStale, serverRows, type ControllerState, type ServerRow } from './view'
import type { AccountState } from './accounts/view'

interface Source {
  source: FactSource
  at: number | null
  stale: boolean
  /** Values by the name of the fact; undefined if the source doesn’t know it. */
  values: Record<string, unknown>
}

/** Lists what is known about a server, and where it comes from. @throws Problem 404 */
export async function listFacts(ctx: Ctx, id: string): Promise<Page<ServerFactView>> {
  const row = await findRow(ctx.hub.read, ctx, serverRows, id)
  const account = row.accountId === null ? null : ((await accountStates(ctx.hub.read, [row])).get(row.accountId) ?? null)
  const controllers = (await controllerStates(ctx.hub.read, [row])).get(id) ?? []
  const agent = (await agentsOf(ctx.hub.read, [row])).get(id)
  return onePage(factsOf(row, account, controllers, agent))
}

/** The addresses that the system has are more accurate than those that a cloud assigned to it, while its agent reports them. */
const bestSources: Readonly<Record<string, FactSource>> = { addresses: 'agent' }

function factsOf(
  row: ServerRow,
  account: AccountState | null,
  controllers: readonly ControllerState[],
  agent: AgentRow | undefined,
): ServerFactView[] {
  const sources = [
    ...controllers.flatMap(controllerSource),
    ...cloudSource(row, account),
    ...(agent ? [agentSource(agent)] : []),
    enteredSource(row),
  ]
  const names = [...new Set(sources.flatMap(one => Object.keys(one.values).filter(name => one.values[name] != null)))]
  return names.map(fact => {
    const isBest = (one: Source) => one.source === bestSources[fact] && !one.stale
    const [best, ...others] = sources
      .filter(one => one.values[fact] != null)
      .sort((a, b) => Number(isBest(b)) - Number(isBest(a))) as [Source, ...Source[]]
    return {
      fact,
      value: best.values[fact],
      source: best.source,
      observed_at: instant(best.at),
      stale: best.stale,
      others: others.map(one => ({ source: one.source, value: one.values[fact], observed_at: instant(one.at) })),
      agree: others.every(one => isSame(fact, one.values[fact], best.values[fact])),
    }
  })
}

/** What a controller measures. What it no longer measures is unknown. */
const controllerSource = ({ power, powerAt }: ControllerState): Source[] =>
  power === 'unknown' ? [] : [{ source: 'controller', at: powerAt, stale: false, values: { power } }]

function cloudSource(row: ServerRow, account: AccountState | null): Source[] {
  const { cloud } = row
  if (!cloud) return []
  const values = {
    name: cloud.name,
    status: cloud.statusText,
    power: cloud.power === 'unknown' ? null : cloud.power,
    location: cloud.location,
    size: cloud.size,
    cores: cloud.resources.cores,
    memory_bytes: cloud.resources.memoryBytes,
    disk_bytes: cloud.resources.diskBytes,
    image: cloud.image,
    addresses: cloud.addresses.map(one => one.address),
    labels: cloud.labels,
  }
  return [{ source: 'cloud', at: confirmedAt(row, account), stale: isStale(account), values }]
}

/** What an agent reports. What it reported before it stopped may be outdated. */
const agentSource = ({ facts, factsAt, state, lastSeenAt }: AgentRow): Source => ({
  source: 'agent',
  at: state === 'reporting' ? lastSeenAt : factsAt,
  stale: state !== 'reporting',
  values: { ...facts, ...(state === 'reporting' && { power: 'on' }) },
})

const enteredSource = (row: ServerRow): Source => ({
  source: 'manual',
  at: row.updatedAt,
  stale: false,
  values: {
    ...(row.cloud === null && { name: row.name, location: row.location }),
    ...(row.manualAddresses.length > 0 && { addresses: row.manualAddresses.map(one => one.address) }),
    ...(row.cloud === null && Object.keys(row.labels).length > 0 && { labels: row.labels }),
  },
})

/** The order of addresses doesn’t matter. A system sees a little less memory and disk than its cloud provides. */
function isSame(fact: string, one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) return isDeepStrictEqual(one.toSorted(), other.toSorted())
  if (fact.endsWith('_bytes'))
    return Math.abs((one as number) - (other as number)) <= 0.1 * Math.max(one as number, other as number)
  return isDeepStrictEqual(one, other)
}
