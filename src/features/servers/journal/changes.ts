import { and, count, eq, gte, ne, type SQL } from 'drizzle-orm'
import type { EventDraft } from '../../../core/change-result'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { Reader, Tx } from '../../../core/db/transaction'
import { newId } from '../../../core/ids'
import { listingOf, listPage } from '../../../core/list'
import { textFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { classOf, parseAddress } from '../../../core/net/address'
import { findRow } from '../../../core/rows'
import type { Page } from '../../../core/shapes'
import type { AgentFacts, AgentReport } from '../../../wire/agent'
import { servers } from '../tables'
import { addressesOf, serverRows, type ServerRow } from '../view'
import { socketName, type InventoryChange } from './compare'
import { keepNewest } from './keep-newest'
import { changeKinds, changeWords, type InventoryChangeView } from './shapes'
import { inventoryChanges } from './tables'

/**
 * At most this many changes of a report, of a day, and of a server are kept. Packages have limits of their own, because an update changes
 * hundreds of them, which must not hide the changes of ports.
 */
const limits: Readonly<Record<'packages' | 'others', Limits>> = {
  packages: { ofKind: eq(inventoryChanges.kind, 'package'), perReport: 500, perDay: 2000, perServer: 5000 },
  others: { ofKind: ne(inventoryChanges.kind, 'package'), perReport: 100, perDay: 1000, perServer: 5000 },
}
interface Limits {
  ofKind: SQL
  perReport: number
  perDay: number
  perServer: number
}
/** At most this many events are sent for a report, and for the ports of a server that were opened in a day. */
const maxEvents = 20
const maxEventsPerDay = 50
const dayMs = 86_400_000

type Socket = NonNullable<AgentReport['sockets']>[number]

/**
 * Stores what has changed in the inventory of a server.
 * @param facts current facts of the server
 * @returns events about ports that were opened
 */
export async function recordChanges(
  tx: Tx,
  serverId: string,
  changes: readonly InventoryChange[],
  facts: AgentFacts | null,
  at: number,
): Promise<EventDraft[]> {
  if (changes.length === 0) return []
  const [server] = await tx.select().from(servers).where(eq(servers.id, serverId))
  if (!server) return []
  const { packages = [], others = [] } = Object.groupBy(changes, one => (one.kind === 'package' ? 'packages' : 'others'))
  const kept = await withinLimits(tx, server.id, others, limits.others, at)
  const opened = await newlyOpened(tx, server, kept, facts, at)
  await store(tx, server.id, kept, limits.others, at)
  await store(tx, server.id, await withinLimits(tx, server.id, packages, limits.packages, at), limits.packages, at)
  return opened.map(socket => ({
    workspaceId: server.workspaceId,
    kind: 'port.opened',
    resource: { type: 'server', id: server.id },
    data: { server: { id: server.id, name: server.name }, socket, opened_at: instant(at) },
  }))
}

/** The first of some changes, as many as may still be stored. */
async function withinLimits(
  read: Reader,
  serverId: string,
  changes: readonly InventoryChange[],
  { ofKind, perReport, perDay }: Limits,
  at: number,
): Promise<readonly InventoryChange[]> {
  if (changes.length === 0) return []
  const today = and(eq(inventoryChanges.serverId, serverId), gte(inventoryChanges.at, at - dayMs), ofKind)
  const [{ stored }] = (await read.select({ stored: count() }).from(inventoryChanges).where(today)) as [{ stored: number }]
  return changes.slice(0, Math.max(0, Math.min(perReport, perDay - stored)))
}

async function store(
  tx: Tx,
  serverId: string,
  changes: readonly InventoryChange[],
  { ofKind, perServer }: Limits,
  at: number,
): Promise<void> {
  if (changes.length === 0) return
  await tx.insert(inventoryChanges).values(changes.map(one => ({ id: newId('ichg'), serverId, at, ...one })))
  await keepNewest(tx, inventoryChanges, serverId, perServer, ofKind)
}

/**
 * Ports on public addresses that were opened, except those that were closed a short time ago, such as by a restart.
 * @param changes that are stored: later reports find only those
 */
async function newlyOpened(
  read: Reader,
  server: ServerRow,
  changes: readonly InventoryChange[],
  facts: AgentFacts | null,
  at: number,
): Promise<Socket[]> {
  const added = changes.filter(one => one.kind === 'port' && one.change === 'added')
  const own = [...(facts?.addresses ?? []), ...addressesOf(server).map(one => one.address)]
  const sockets = added.map(socketOf).filter(one => isPublic(one.address, own))
  if (sockets.length === 0) return []
  const { name, change, after } = inventoryChanges
  const ofPorts = and(eq(inventoryChanges.serverId, server.id), eq(inventoryChanges.kind, 'port'))
  const recent = await read
    .select({ name, change, after })
    .from(inventoryChanges)
    .where(and(ofPorts, gte(inventoryChanges.at, at - dayMs)))
    .limit(limits.others.perDay)
  const known = new Set(recent.map(one => one.name))
  const opened = recent.filter(one => one.change === 'added' && isPublic(socketOf(one).address, own))
  // Each port once: one that is closed and opened all the time must not use up the events of the others.
  const left = Math.max(0, maxEventsPerDay - new Set(opened.map(one => one.name)).size)
  return sockets.filter(one => !known.has(socketName(one))).slice(0, Math.min(maxEvents, left))
}

/** The socket of a change of the kind `port`, which is stored as it was reported. */
const socketOf = ({ after }: Pick<InventoryChange, 'after'>): Socket => after as unknown as Socket

/** Whether others on the internet can reach an address that a program listens on. @param own addresses of the server */
function isPublic(address: string, own: readonly string[]): boolean {
  const parsed = parseAddress(address)
  if (parsed === null) return false
  if (classOf(parsed) !== 'unspecified') return classOf(parsed) === 'public'
  // A socket on all IPv6 addresses also accepts connections over IPv4.
  return own.some(one => {
    const other = parseAddress(one)
    return other !== null && classOf(other) === 'public' && (address.includes(':') || other.kind() === 'ipv4')
  })
}

export const changeListing = listingOf('inventory-changes', inventoryChanges, {
  owner: inventoryChanges.serverId,
  accessColumn: inventoryChanges.serverId,
  isSmall: true,
  filters: {
    kind: wordsFilter(inventoryChanges.kind, changeKinds, 'Only changes of these kinds.'),
    change: wordsFilter(inventoryChanges.change, changeWords, 'Only additions, removals, or changes.'),
    name: textFilter(inventoryChanges.name, 'Only changes to the item with this name, such as `0.0.0.0:443/tcp`.', {
      maxLength: 300,
    }),
    ...timeFilters('at', inventoryChanges.at),
  },
  sorts: ['at'],
  defaultSort: '-at',
})

/** Lists what has changed in the inventory of a server, newest first. @throws Problem 404 */
export async function listChanges(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<InventoryChangeView>> {
  await findRow(ctx.hub.read, ctx, serverRows, id)
  return await listPage(
    ctx,
    changeListing,
    query,
    ({ id: changeId, at, kind, change, name, before, after }) => ({
      ...{ id: changeId, at: instant(at) },
      kind,
      change,
      name,
      before,
      after,
    }),
    id,
  )
}
