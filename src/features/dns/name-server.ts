import type { Hub } from '../../core/hub'
import { tally } from '../../core/tally'
import { topicsOf } from '../../core/topics'
import {
  lastZoneChange,
  listPublishedZones,
  readPublishedChanges,
  readPublishedZone,
  zoneChangesAfter,
  zonesTopic,
  type PublishedZone,
} from './publish'
import { NameServer } from './server/name-server'
import type { ServedZone } from './server/served-zone'
import { ZoneFeed, type ZoneSource } from './server/zone-feed'

/** A name server that answers for the zones of this installation. */
export interface RunningNameServer {
  host: string
  port: number
  stop(): Promise<void>
}

const feeds = new WeakMap<Hub, ZoneFeed>()

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
      counted({ queries, answers, held }) {
        for (const [kind, n] of Object.entries(queries)) tally(hub, 'dns_queries', kind, n)
        for (const [kind, n] of Object.entries(answers)) tally(hub, 'dns_answers', kind, n)
        for (const [kind, n] of Object.entries(held)) tally(hub, 'dns_held_back', kind, n)
      },
      empty: () => void feed.refill(),
    },
  )
  const feed = new ZoneFeed(publishedZones(hub), server, hub.log)
  await server.start()
  feeds.set(hub, feed)
  const off = topicsOf(hub).on(zonesTopic, () => void feed.look())
  return {
    ...server.address!,
    async stop() {
      off()
      feeds.delete(hub)
      await feed.stop()
      await server.stop()
    },
  }
}

/** Tells the name server of zones that another hub has changed. */
export async function readChangedZones(hub: Hub): Promise<void> {
  await feeds.get(hub)?.look()
}

const publishedZones = (hub: Hub): ZoneSource => ({
  lastChange: () => lastZoneChange(hub.read),
  list: () => listPublishedZones(hub.read),
  changesAfter: async number => (await zoneChangesAfter(hub.read, number)).map(one => ({ ...one, id: one.zoneId })),
  read: async id => served(await readPublishedZone(hub.read, id)),
  readChanges: async (id, after) => served(await readPublishedChanges(hub.read, id, after)),
})

function served(zone: PublishedZone | null): ServedZone | null {
  if (!zone) return null
  const { name, soa, rrsets } = zone
  return { name, rrsets: [{ name, type: 'SOA', ttl: soa.ttl, rdata: [soa.rdata] }, ...rrsets] }
}
