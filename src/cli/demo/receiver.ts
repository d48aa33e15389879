import type { Mood } from './moods'
import { loopback } from './ports'

/**
 * What takes the messages of webhooks and of notification channels: `/legacy` is gone, `/pager` refuses, what else is below a name does
 * as that server does.
 */
export function receiver(port: number, moodOf: (name: string) => Mood): { stop(): void } {
  const server = Bun.serve({
    hostname: loopback,
    port,
    fetch: async request => {
      await request.arrayBuffer()
      const [name = ''] = new URL(request.url).pathname.split('/').slice(1)
      if (name === 'legacy') return new Response('This integration was switched off.\n', { status: 410 })
      if (name === 'pager') return new Response('{"error":"integration key is not active"}\n', { status: 500 })
      if (moodOf(name) === 'failing') return new Response('no healthy upstream\n', { status: 503 })
      return new Response(null, { status: 204 })
    },
  })
  return { stop: () => void server.stop(true) }
}
