import type { Command } from 'commander'

/**
 * The receiver of `bench webhooks`, in a separate process: `/hook/…` responds with 204, `/hang` never responds, and `/count`
 * returns the number of received messages.
 */
export function addSink(bench: Command): void {
  bench.command('webhook-sink', { hidden: true }).action(async () => {
    let received = 0
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      // Longer than the timeout of deliveries.
      idleTimeout: 60,
      fetch: async request => {
        if (request.url.endsWith('/count')) return Response.json(received)
        await request.arrayBuffer()
        if (request.url.endsWith('/hang')) await new Promise<never>(() => {})
        received++
        return new Response(null, { status: 204 })
      },
    })
    console.log(`listening on http://127.0.0.1:${server.port}`)
    await new Promise<void>(resolve => process.once('SIGTERM', () => resolve()))
    await server.stop(true)
  })
}

/** Number of messages that the sink has received. */
export async function countReceived(port: number): Promise<number> {
  const count = Promise.withResolvers<number>()
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
        if (body) count.resolve(Number(body))
      },
      close() {
        count.reject(new Error('The sink closed the connection.'))
      },
      error(_, error) {
        count.reject(error)
      },
    },
  })
  try {
    return await count.promise
  } finally {
    socket.end()
  }
}
