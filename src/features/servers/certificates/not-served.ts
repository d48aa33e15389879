import { and, desc, eq } from 'drizzle-orm'
import type { EventDraft } from '../../../core/change-result'
import { instant } from '../../../core/clock'
import { events } from '../../../core/db/tables'
import type { Reader } from '../../../core/db/transaction'
import { servers } from '../tables'
import type { agentServedCertificates } from './tables'

type Row = Pick<typeof agentServedCertificates.$inferInsert, 'data' | 'newer'>

/** A certificate that a port still presents, although it was renewed in a file. */
interface NotServed {
  port: number
  process: string | null
  /** Server names for which the port presents it. */
  names: string[]
  sha256: string
  file: string
}

/** At most this many events are sent for a report, and for a server in a day. */
const maxEvents = 20
const maxEventsPerDay = 100
const dayMs = 86_400_000
const kind = 'server.certificate_not_served'
const maxNames = 20

/** The certificates that ports still present, although they were renewed: each certificate of a port once, by both. */
export function services(rows: readonly Row[]): Map<string, NotServed> {
  const found = new Map<string, NotServed>()
  for (const { data, newer } of rows) {
    const [sha256] = data.chain
    if (!newer || sha256 === undefined) continue
    const key = `${data.port} ${sha256}`
    const { port, process } = data
    const one = found.get(key) ?? { port, process, names: [], sha256, file: newer.path }
    if (data.sni !== null && one.names.length < maxNames) one.names.push(data.sni)
    found.set(key, one)
  }
  return found
}

/** Events about certificates that ports still present since this report, and about those that they no longer present. */
export async function eventsAbout(
  read: Reader,
  serverId: string,
  before: ReadonlyMap<string, NotServed>,
  after: ReadonlyMap<string, NotServed>,
  at: number,
): Promise<EventDraft[]> {
  const raised = [...after].filter(([key]) => !before.has(key)).map(([, one]) => ({ ...one, status: 'raised' as const }))
  const resolved = [...before]
    .filter(([key]) => !after.has(key))
    .map(([, one]) => ({ ...one, file: null, status: 'resolved' as const }))
  const changed = [...raised, ...resolved].slice(0, maxEvents)
  if (changed.length === 0) return []
  const { id, name, workspaceId } = servers
  const [server] = await read.select({ id, name, workspaceId }).from(servers).where(eq(id, serverId))
  if (!server) return []
  const left = maxEventsPerDay - (await countToday(read, serverId, at))
  return changed.slice(0, Math.max(0, left)).map(one => ({
    workspaceId: server.workspaceId,
    kind,
    resource: { type: 'server', id: server.id },
    data: { server: { id: server.id, name: server.name }, ...one, observed_at: instant(at) },
  }))
}

/** How many of these events were sent for a server in the last day, up to the limit. */
async function countToday(read: Reader, serverId: string, at: number): Promise<number> {
  const last = await read
    .select({ at: events.occurredAt })
    .from(events)
    .where(and(eq(events.resourceId, serverId), eq(events.kind, kind)))
    .orderBy(desc(events.sequence))
    .limit(maxEventsPerDay)
  return last.filter(one => one.at > at - dayMs).length
}
