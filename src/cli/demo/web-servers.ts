import type { Issued } from '../authority'
import type { Mood } from './moods'
import { loopback } from './ports'

/** Milliseconds that an answer takes, for each of the sites; others take the last. */
const usualMs: Record<string, number> = { shop: 70, api: 35, search: 120, images: 20, payments: 45, crm: 60 }
const slowMs = 1_300

/** What a web server of the demo knows of its site. */
export interface Site {
  moodOf(site: string): Mood
  /** A share of 1, for how long answers take. */
  random(): number
}

/** A web server for every site of the demo, by HTTPS; at `/feed` it speaks WebSocket. */
export function webServer(port: number, tls: Issued, { moodOf, random }: Site): { stop(): void } {
  const server = Bun.serve({
    hostname: loopback,
    port,
    tls,
    fetch: async (request, own) => {
      const url = new URL(request.url)
      const site = url.hostname.split('.')[0]!
      if (url.pathname === '/feed') return own.upgrade(request) ? undefined : new Response('Upgrade Required', { status: 426 })
      const mood = moodOf(site)
      const usual = usualMs[site] ?? 50
      await Bun.sleep(mood === 'slow' ? slowMs + random() * 400 : usual * (0.7 + random() * 0.6))
      if (mood === 'failing') return new Response('upstream connect error\n', { status: 503, headers: { server: 'envoy' } })
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
