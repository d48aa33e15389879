import type { Hub } from '../../../core/hub'
import { DnsFormatError } from '../../../dns/format-error'
import { incrementCounter } from '../../../core/metric-counters'
import { topicsOf } from '../../../core/topics'
import { readDeltas } from '../history/deltas'
import {
  findZone,
  lastZoneChange,
  listPublishedZones,
  readPublishedChanges,
  soaSetOf,
  zoneChangesAfter,
  zonesTopic,
  type PublishedZone,
} from './published-zones'
import { readPackedZone } from './packed-zones'
import type { HubResponses, HubRequest } from '../server/messages'
import { NameServer } from '../server/name-server'
import type { ServedZone } from '../server/served-zone'
import type { PackedZone } from '../server/packed-zone'
import { ZoneFeed, type ZoneSource } from '../server/zone-feed'
import { notifyKeysOf } from '../targets/notify-keys'
import { queueTargetRead } from '../sync/sync-zone'
import { isCatalog, listCatalogs, readCatalog } from '../transfers/catalog'
import { readRights, rightsVersion } from '../transfers/rights'
import { TransferLog } from '../transfers/transfer-log'

/** The running built-in name server. */
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
 * Starts the built-in name server on the configured address. Changed zones are reloaded right away if the change was made in this
 * process, and by `readChangedZones` otherwise.
 * @param entry file of its threads
 * @returns null if it is disabled
 * @throws InvalidSetting if the port is unavailable
 */
export async function startNameServer(hub: Hub, entry: string): Promise<RunningNameServer | null> {
  const { dnsListen, dnsResponsesPerSecond, dnsThreads, names } = hub.config
  if (!dnsListen) return null
  const server = new NameServer(
    { ...dnsListen, setting: names.dnsListen, responsesPerSecond: dnsResponsesPerSecond || null, limitLoopback: false },
    {
      entry,
      clock: hub.clock,
      log: hub.log,
      onCounts({ queries, answers, limited, transfers, notifies }) {
        for (const [kind, n] of Object.entries(queries)) incrementCounter(hub, 'dns_queries', kind, n)
        for (const [kind, n] of Object.entries(answers)) incrementCounter(hub, 'dns_answers', kind, n)
        for (const [kind, n] of Object.entries(limited)) incrementCounter(hub, 'dns_queries_limited', kind, n)
        for (const [kind, n] of Object.entries(transfers)) incrementCounter(hub, 'dns_transfers', kind, n)
        for (const [kind, n] of Object.entries(notifies)) incrementCounter(hub, 'dns_notifies_received', kind, n)
      },
      onRequest: question => answerTo(hub, question),
      onTransferred: transfer => log.add(transfer),
      onEmpty: () => void feed.refill(),
    },
    dnsThreads,
  )
  const feed = new ZoneFeed(publishedZones(hub), server, hub.log)
  const log = new TransferLog(hub)
  await server.start()
  running.set(hub, { server, feed, log })
  const off = topicsOf(hub).on(zonesTopic, () => void feed.poll())
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

/** Reloads zones that another hub changed. */
export async function readChangedZones(hub: Hub): Promise<void> {
  await running.get(hub)?.feed.poll()
}

/** Resolves when the name server of this hub, if any, serves everything committed before the call. */
export async function nameServerSynced(hub: Hub): Promise<void> {
  const here = running.get(hub)
  await here?.feed.poll()
  await here?.server.synced()
}

/** Address of the name server of this hub; null if it is disabled. */
export const nameServerAddress = (hub: Hub): { host: string; port: number } | null =>
  running.get(hub)?.server.address ?? hub.config.dnsListen

/** Stores zone transfers logged since the last call. */
export async function writeTransfers(hub: Hub): Promise<void> {
  await running.get(hub)?.log.flush()
}

/** Answers a request of the name server thread. */
async function answerTo(hub: Hub, question: HubRequest): Promise<HubResponses[HubRequest['kind']]> {
  if (question.kind === 'notified') return await queueTargetRead(hub, question.zone)
  if (question.kind === 'notify_keys') return await notifyKeysOf(hub, question.zone, question.key)
  const zone = await findZone(hub.read, question.zone)
  const deltas = zone && (await readDeltas(hub.read, zone.id, question.from, question.maxRecords))
  return (
    deltas && deltas.map(one => ({ ...one, removed: one.removed.map(withCopiedRdata), added: one.added.map(withCopiedRdata) }))
  )
}

/** Copies the rdata: posting a view to the thread would copy its whole underlying buffer. */
const withCopiedRdata = <R extends { rdata: Uint8Array }>(record: R): R => ({ ...record, rdata: Uint8Array.from(record.rdata) })

const publishedZones = (hub: Hub): ZoneSource => ({
  lastChange: () => lastZoneChange(hub.read),
  list: async () => [...(await listPublishedZones(hub.read)), ...(await listCatalogs(hub.read))],
  changesAfter: async number =>
    (await zoneChangesAfter(hub.read, number)).map(one => ({ ...one, id: one.zoneId, hidden: isCatalog(one.zoneId) })),
  read: async id => (isCatalog(id) ? await readCatalog(hub.read, id) : await readZone(hub, id)),
  readChanges: async (id, after) => served(await readPublishedChanges(hub.read, id, after)),
  rightsVersion: () => rightsVersion(hub),
  rights: () => readRights(hub),
})

function served(zone: PublishedZone | null): ServedZone | null {
  if (!zone) return null
  return { name: zone.name, owner: zone.workspaceId, rrsets: [soaSetOf(zone.name, zone.soa), ...zone.rrsets] }
}

/** An invalid zone must not keep others from being served. */
async function readZone(hub: Hub, id: string): Promise<PackedZone | null> {
  try {
    return await readPackedZone(hub.read, id)
  } catch (error) {
    if (!(error instanceof DnsFormatError)) throw error
    hub.log.error({ zone: id, reason: error.message }, 'zone is invalid and can’t be served')
    return null
  }
}
