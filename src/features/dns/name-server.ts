import type { Hub } from '../../core/hub'
import { tally } from '../../core/tally'
import { topicsOf } from '../../core/topics'
import { readDeltas } from './history/deltas'
import {
  findZone,
  lastZoneChange,
  listPublishedZones,
  readPublishedChanges,
  readPublishedZone,
  zoneChangesAfter,
  zonesTopic,
  type PublishedZone,
} from './publish'
import type { HubAnswers, HubQuestion } from './server/messages'
import { NameServer } from './server/name-server'
import type { ServedZone } from './server/served-zone'
import { ZoneFeed, type ZoneSource } from './server/zone-feed'
import { notifyKeysOf } from './sync/notify-keys'
import { readTargetsSoon } from './sync/sync-zone'
import { isCatalog, listCatalogs, readCatalog } from './transfers/catalog'
import { readRights, rightsNumber } from './transfers/rights'
import { TransferLog } from './transfers/transfer-log'

/** A name server that answers for the zones of this installation. */
export interface RunningNameServer {
  host: string
  port: number
  stop(): Promise<void>
}

interface Running {
  server: NameServer
  feed: ZoneFeed
  log: TransferLog
}

const running = new WeakMap<Hub, Running>()

/**
 * Starts the built-in name server where the settings say. Zones are given to it as they are now, and again whenever one
 * changes: at once in this process, by `readChangedZones` in the others.
 * @param entry the file of its thread
 * @returns null when the settings turn it off
 * @throws BadSetting when its port cannot be had
 */
export async function startNameServer(hub: Hub, entry: string): Promise<RunningNameServer | null> {
  const { dnsListen, dnsResponsesPerSecond } = hub.config
  if (!dnsListen) return null
  const server = new NameServer(
    { ...dnsListen, responsesPerSecond: dnsResponsesPerSecond || null, limitLoopback: false },
    {
      entry,
      clock: hub.clock,
      log: hub.log,
      counted({ queries, answers, held, transfers, notifies }) {
        for (const [kind, n] of Object.entries(queries)) tally(hub, 'dns_queries', kind, n)
        for (const [kind, n] of Object.entries(answers)) tally(hub, 'dns_answers', kind, n)
        for (const [kind, n] of Object.entries(held)) tally(hub, 'dns_held_back', kind, n)
        for (const [kind, n] of Object.entries(transfers)) tally(hub, 'dns_transfers', kind, n)
        for (const [kind, n] of Object.entries(notifies)) tally(hub, 'dns_notifies_received', kind, n)
      },
      answer: question => answerTo(hub, question),
      transferred: transfer => log.add(transfer),
      empty: () => void feed.refill(),
    },
  )
  const feed = new ZoneFeed(publishedZones(hub), server, hub.log)
  const log = new TransferLog(hub)
  await server.start()
  running.set(hub, { server, feed, log })
  const off = topicsOf(hub).on(zonesTopic, () => void feed.look())
  return {
    ...server.address!,
    async stop() {
      off()
      running.delete(hub)
      await feed.stop()
      await server.stop()
      await log.flush()
    },
  }
}

/** Tells the name server of zones that another hub has changed. */
export async function readChangedZones(hub: Hub): Promise<void> {
  await running.get(hub)?.feed.look()
}

/** Resolves when the name server of this hub, if it has one, answers with all that was committed before. */
export async function nameServerCaughtUp(hub: Hub): Promise<void> {
  const here = running.get(hub)
  await here?.feed.look()
  await here?.server.settled()
}

/** Where the name server of this hub answers; null when it runs none. */
export const nameServerAddress = (hub: Hub): { host: string; port: number } | null =>
  running.get(hub)?.server.address ?? hub.config.dnsListen

/** Writes down what has been transferred since the last time. */
export async function writeTransfers(hub: Hub): Promise<void> {
  await running.get(hub)?.log.flush()
}

/** Answers what the thread of the name server asks. */
async function answerTo(hub: Hub, question: HubQuestion): Promise<HubAnswers[HubQuestion['kind']]> {
  if (question.kind === 'notified') return await readTargetsSoon(hub, question.zone)
  if (question.kind === 'notify_keys') return await notifyKeysOf(hub, question.zone, question.key)
  const zone = await findZone(hub.read, question.zone)
  const deltas = zone && (await readDeltas(hub.read, zone.id, question.from, question.most))
  return deltas && deltas.map(one => ({ ...one, removed: one.removed.map(withOwnOctets), added: one.added.map(withOwnOctets) }))
}

/** Octets that are a view of more would take all of it along to the thread. */
const withOwnOctets = <R extends { rdata: Uint8Array }>(record: R): R => ({ ...record, rdata: Uint8Array.from(record.rdata) })

const publishedZones = (hub: Hub): ZoneSource => ({
  lastChange: () => lastZoneChange(hub.read),
  list: async () => [...(await listPublishedZones(hub.read)), ...(await listCatalogs(hub.read))],
  changesAfter: async number =>
    (await zoneChangesAfter(hub.read, number)).map(one => ({ ...one, id: one.zoneId, hidden: isCatalog(one.zoneId) })),
  read: async id => (isCatalog(id) ? await readCatalog(hub.read, id) : served(await readPublishedZone(hub.read, id))),
  readChanges: async (id, after) => served(await readPublishedChanges(hub.read, id, after)),
  rightsNumber: () => rightsNumber(hub),
  rights: () => readRights(hub),
})

function served(zone: PublishedZone | null): ServedZone | null {
  if (!zone) return null
  const { name, workspaceId, soa, rrsets } = zone
  return { name, owner: workspaceId, rrsets: [{ name, type: 'SOA', ttl: soa.ttl, rdata: [soa.rdata] }, ...rrsets] }
}
