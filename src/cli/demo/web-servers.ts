import type { IssuedCertificate } from '../certificate-authority'
import type { Health } from './server-health'
import { loopback } from './ports'

/** Usual response times of the sites in milliseconds. */
const usualMs: Record<string, number> = { shop: 70, api: 35, search: 120, images: 20, payments: 45, crm: 60 }
const slowMs = 1_300

/** How the sites of a web server behave. */
interface Site {
  healthOf(site: string): Health
  /** A number from 0 to 1, for response times. */
  random(): number
}

/** An HTTPS server for all sites of the demo, with a WebSocket at `/feed`. */
export function webServer(port: number, tls: IssuedCertificate, { healthOf, random }: Site): { stop(): void } {
  const server = Bun.serve({
    hostname: loopback,
    port,
    tls,
    fetch: async (request, own) => {
      const url = new URL(request.url)
      const site = url.hostname.split('.')[0]!
      if (url.pathname === '/feed') return own.upgrade(request) ? undefined : new Response('Upgrade Required', { status: 426 })
      const health = healthOf(site)
      const usual = usualMs[site] ?? 50
      await Bun.sleep(health === 'slow' ? slowMs + random() * 400 : usual * (0.7 + random() * 0.6))
      if (health === 'failing') return new Response('upstream connect error\n', { status: 503, headers: { server: 'envoy' } })
      if (url.pathname === '/health') return Response.json({ status: 'UP', version: '4.11.2', queue: Math.floor(random() * 40) })
      return new Response(page(site), { headers: { 'content-type': 'text/html; charset=utf-8', server: 'envoy' } })
    },
    websocket: {
      message(socket, message) {
        socket.send(message === 'ping' ? 'pong' : message)
      },
    },
  })
  return { stop: () => void server.stop(true) }
}

const page = (site: string): string => `<!doctype html><title>Kestrel Outdoor</title><h1>Welcome to ${site}</h1>\n`
