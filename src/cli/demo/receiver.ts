import type { Health } from './server-health'
import { loopback } from './ports'

/**
 * Receives webhooks and notifications. `/legacy` responds with 410 and `/pager` with 500; other paths follow the health of the
 * server they are named after.
 */
export function receiver(port: number, healthOf: (name: string) => Health): { stop(): void } {
  const server = Bun.serve({
    hostname: loopback,
    port,
    fetch: async request => {
      await request.arrayBuffer()
      const [name = ''] = new URL(request.url).pathname.split('/').slice(1)
      if (name === 'legacy') return new Response('This integration was removed.\n', { status: 410 })
      if (name === 'pager') return new Response('{"error":"integration key is not active"}\n', { status: 500 })
      if (healthOf(name) === 'failing') return new Response('no healthy upstream\n', { status: 503 })
      return new Response(null, { status: 204 })
    },
  })
  return { stop: () => void server.stop(true) }
}
