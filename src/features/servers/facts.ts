import { isDeepStrictEqual } from 'node:util'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { findRow } from '../../core/rows'
import { onePage, type Page } from '../../core/shapes'
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
  return onePage(factsOf(row, account, controllers))
}

function factsOf(row: ServerRow, account: AccountState | null, controllers: readonly ControllerState[]): ServerFactView[] {
  const sources = [...controllers.flatMap(controllerSource), ...sourcesOf(row, account)]
  const names = [...new Set(sources.flatMap(one => Object.keys(one.values).filter(name => one.values[name] != null)))]
  return names.map(fact => {
    const [best, ...others] = sources.filter(one => one.values[fact] != null) as [Source, ...Source[]]
    return {
      fact,
      value: best.values[fact],
      source: best.source,
      observed_at: instant(best.at),
      stale: best.stale,
      others: others.map(one => ({ source: one.source, value: one.values[fact], observed_at: instant(one.at) })),
      agree: others.every(one => isDeepStrictEqual(one.values[fact], best.values[fact])),
    }
  })
}

/** What a controller measures. What it no longer measures is unknown. */
const controllerSource = ({ power, powerAt }: ControllerState): Source[] =>
  power === 'unknown' ? [] : [{ source: 'controller', at: powerAt, stale: false, values: { power } }]

/** The other sources, the most trusted one first. */
function sourcesOf(row: ServerRow, account: AccountState | null): Source[] {
  const { cloud } = row
  const seen: Source[] = cloud
    ? [
        {
          source: 'cloud',
          at: confirmedAt(row, account),
          stale: isStale(account),
          values: {
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
          },
        },
      ]
    : []
  const entered: Source = {
    source: 'manual',
    at: row.updatedAt,
    stale: false,
    values: {
      ...(cloud === null && { name: row.name, location: row.location }),
      ...(row.manualAddresses.length > 0 && { addresses: row.manualAddresses.map(one => one.address) }),
      ...(cloud === null && Object.keys(row.labels).length > 0 && { labels: row.labels }),
    },
  }
  return [...seen, entered]
}
