import { createAuthority, type Authority } from '../certificate-authority'
import { demoCloud, type DemoCloud } from './cloud'
import { imap, TextServer, silent, smtp, ssh, type TextProtocol } from './text-servers'
import { healthAt } from './server-health'
import { isPortInUse, loopback, Ports } from './ports'
import { powerDns, type PowerDns } from './power-dns'
import { receiver } from './receiver'
import { demoRegistrar } from './registrar'
import { domain, otherDomains, resolver } from './resolver'
import { webServer } from './web-servers'

const dayMs = 86_400_000
const updateMs = 500

/** Text protocol servers. `edge` is the router in front of `db` and `cache`: when it is down, they are too. */
const textServers = {
  mail: smtp,
  imap,
  bastion: ssh,
  edge: silent,
  db: silent,
  cache: silent,
  warehouse: silent,
} satisfies Record<string, TextProtocol>
const routers: Record<string, string> = { db: 'edge', cache: 'edge' }

type TextServerName = keyof typeof textServers

/** The servers that the demo checks and calls, all on loopback. */
export interface Servers {
  authority: Authority
  ports: Record<TextServerName | 'web' | 'legacy' | 'dns' | 'hooks' | 'powerDns' | 'cloud' | 'registrar', number>
  powerDns: PowerDns
  cloud: DemoCloud
  /** Starts the health cycles, and opens or closes the servers accordingly. */
  startCycles(): Promise<void>
  stop(): void
}

/**
 * @param now ms UTC, by the clock of the hub
 * @param random a number from 0 to 1
 */
export async function startServers(now: () => number, random: () => number): Promise<Servers> {
  for (let left = maxAttempts; ; left--) {
    try {
      return await open(now, random)
    } catch (error) {
      // Another demo may have opened a port in the meantime.
      if (!isPortInUse(error) || left === 1) throw error
    }
  }
}

const maxAttempts = 5

async function open(now: () => number, random: () => number): Promise<Servers> {
  const own = createAuthority('Kestrel internal CA', now())
  const available = new Ports()
  const [web, legacy, dns, hooks, dnsApi, cloudApi] = [
    await available.allocate(),
    await available.allocate(),
    await available.allocate(),
    await available.allocate(),
    await available.allocate(),
    await available.allocate(),
  ]
  const ports = { web, legacy, dns, hooks, powerDns: dnsApi, cloud: cloudApi } as Servers['ports']
  let startedAt = 0
  const healthOf = (name: string) => healthAt(name, now() - startedAt)
  const zones = powerDns('changeme-9f2c41', now)
  const cloud = demoCloud('changeme-9f2c41'.repeat(2), now)
  const stops: { stop(): void }[] = []
  const servers = new Map<string, TextServer>()
  const stop = () => {
    for (const one of stops) one.stop()
    for (const one of servers.values()) one.close()
  }
  try {
    const site = { healthOf, random }
    const wildcards = [domain, `office.${domain}`, `warehouse.${domain}`, ...otherDomains].map(one => `*.${one}`)
    const names: [string, ...string[]] = [domain, ...otherDomains, ...wildcards]
    stops.push(webServer(web, own.issue(names, now() - 20 * dayMs, now() + 340 * dayMs), site))
    // Fell below two weeks of validity a few hours ago.
    stops.push(webServer(legacy, own.issue([`legacy.${domain}`], now() - 351.2 * dayMs, now() + 13.8 * dayMs), site))
    stops.push(await resolver(dns))
    stops.push(receiver(hooks, healthOf))
    const serve = (port: number, answer: (request: Request) => Promise<Response> | Response) => {
      const server = Bun.serve({ hostname: loopback, port, fetch: answer })
      stops.push({ stop: () => void server.stop(true) })
    }
    serve(dnsApi, async request => zones.handle(request, await request.text()))
    serve(cloudApi, async request => cloud.handle(request, await request.text()))
    for (const [name, protocol] of Object.entries(textServers) as [TextServerName, TextProtocol][]) {
      const server = new TextServer((ports[name] = await available.allocate()), protocol)
      servers.set(name, server)
      await server.open()
    }
    ports.registrar = await available.allocate()
    serve(ports.registrar, demoRegistrar(now()).handle)
    const updateServers = async () => {
      for (const [name, server] of servers) {
        const isUp = healthOf(routers[name] ?? name) !== 'failing'
        if (isUp && !server.isOpen) await server.open().catch(() => server.close())
        else if (!isUp && server.isOpen) server.close()
      }
    }
    const timer = setInterval(() => void updateServers(), updateMs)
    stops.push({ stop: () => clearInterval(timer) })
    const startCycles = async () => {
      startedAt = now()
      await updateServers()
    }
    return { authority: own, ports, powerDns: zones, cloud, startCycles, stop }
  } catch (error) {
    stop()
    throw error
  }
}
