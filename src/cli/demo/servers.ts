import { authority, type Authority } from '../authority'
import { imap, LineServer, silent, smtp, ssh, type Talk } from './line-servers'
import { moodOf } from './moods'
import { isTaken, loopback, Ports } from './ports'
import { powerDns, type PowerDns } from './power-dns'
import { receiver } from './receiver'
import { domain, resolver } from './resolver'
import { webServer } from './web-servers'

const dayMs = 86_400_000
const lookMs = 500

/** Servers of lines, and what they say. `edge` stands before `db` and `cache`: when it is away, so are they. */
const lines = { mail: smtp, imap, bastion: ssh, edge: silent, db: silent, cache: silent, warehouse: silent } satisfies Record<
  string,
  Talk
>
const behind: Record<string, string> = { db: 'edge', cache: 'edge' }

type LineName = keyof typeof lines

/** What the monitors of the demo look at and the hub speaks with, all of it on loopback. */
export interface Servers {
  authority: Authority
  ports: Record<LineName | 'web' | 'legacy' | 'dns' | 'hooks' | 'powerDns', number>
  powerDns: PowerDns
  /** Their turns of doing well and badly begin now. */
  begin(): void
  stop(): void
}

/**
 * @param now ms UTC, as it is for the hub
 * @param random a share of 1
 */
export async function startServers(now: () => number, random: () => number): Promise<Servers> {
  for (let left = mostTries; ; left--) {
    try {
      return await open(now, random)
    } catch (error) {
      // Another demo may have taken a port a moment before.
      if (!isTaken(error) || left === 1) throw error
    }
  }
}

const mostTries = 5

async function open(now: () => number, random: () => number): Promise<Servers> {
  const own = authority('Kestrel internal CA', now())
  const given = new Ports()
  const [web, legacy, dns, hooks, dnsApi] = [
    await given.take(),
    await given.take(),
    await given.take(),
    await given.take(),
    await given.take(),
  ]
  const ports = { web, legacy, dns, hooks, powerDns: dnsApi } as Servers['ports']
  let began = 0
  const mood = (name: string) => moodOf(name, now() - began)
  const zones = powerDns('changeme-9f2c41', now)
  const stops: { stop(): void }[] = []
  const lineServers = new Map<string, LineServer>()
  const stop = () => {
    for (const one of stops) one.stop()
    for (const one of lineServers.values()) one.close()
  }
  try {
    const site = { moodOf: mood, random }
    const names: [string, ...string[]] = [domain, `*.${domain}`]
    stops.push(webServer(web, own.issue(names, now() - 20 * dayMs, now() + 340 * dayMs), site))
    // It has been two weeks from its end since this morning.
    stops.push(webServer(legacy, own.issue([`legacy.${domain}`], now() - 351.2 * dayMs, now() + 13.8 * dayMs), site))
    stops.push(await resolver(dns))
    stops.push(receiver(hooks, mood))
    const dnsServer = Bun.serve({
      hostname: loopback,
      port: dnsApi,
      fetch: async request => zones.answer(request, await request.text()),
    })
    stops.push({ stop: () => void dnsServer.stop(true) })
    for (const [name, talk] of Object.entries(lines) as [LineName, Talk][]) {
      const server = new LineServer((ports[name] = await given.take()), talk)
      lineServers.set(name, server)
      await server.open()
    }
    const look = async () => {
      for (const [name, server] of lineServers) {
        const isUp = mood(behind[name] ?? name) !== 'failing'
        if (isUp && !server.isOpen) await server.open().catch(() => server.close())
        else if (!isUp && server.isOpen) server.close()
      }
    }
    const timer = setInterval(() => void look(), lookMs)
    stops.push({ stop: () => clearInterval(timer) })
    return { authority: own, ports, powerDns: zones, begin: () => (began = now()), stop }
  } catch (error) {
    stop()
    throw error
  }
}
