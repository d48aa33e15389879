import type { Command } from 'commander'

/**
 * The receiver of `bench webhooks`, in a process of its own: `/taken…` answers 204, `/hang` never answers, `/count` tells how many
 * messages it took.
 */
export function addSink(bench: Command): void {
  bench.command('webhook-sink', { hidden: true }).action(async () => {
    let taken = 0
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      // Longer than any try may take.
      idleTimeout: 60,
      fetch: async request => {
        if (request.url.endsWith('/count')) return Response.json(taken)
        await request.arrayBuffer()
        if (request.url.endsWith('/hang')) await new Promise<never>(() => {})
        taken++
        return new Response(null, { status: 204 })
      },
    })
    console.log(`serves at http://127.0.0.1:${server.port}`)
    await new Promise<void>(resolve => process.once('SIGTERM', () => resolve()))
    await server.stop(true)
  })
}

/** How many messages the sink at a port took so far. */
export async function takenBy(port: number): Promise<number> {
  const answer = Promise.withResolvers<number>()
  let text = ''
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(to) {
        to.write('GET /count HTTP/1.1\r\nHost: sink\r\nConnection: close\r\n\r\n')
      },
      data(_, chunk) {
        text += chunk.toString()
        const body = text.split('\r\n\r\n')[1]
        if (body) answer.resolve(Number(body))
      },
      close() {
        answer.reject(new Error('The sink hung up.'))
      },
    },
  })
  try {
    return await answer.promise
  } finally {
    socket.end()
  }
}
