import { createServer } from 'node:net'

// Where nothing else listens by custom; the same ones at each start, so that pictures of the demo look alike.
const firstPort = 28_400

/** Gives out ports of loopback: those of a row as far as they are free, else any. */
export class Ports {
  private next = firstPort

  async take(): Promise<number> {
    const wanted = this.next++
    for (let port = wanted; ; port = 0) {
      const found = await opened(port)
      if (found !== null) return found
    }
  }
}

/** The port that could be opened by TCP and by UDP, and is free again; null when it is taken. */
async function opened(port: number): Promise<number | null> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, loopback, resolve)
    })
    const found = (server.address() as { port: number }).port
    const socket = await Bun.udpSocket({ hostname: loopback, port: found })
    socket.close()
    return found
  } catch (error) {
    if (isTaken(error)) return null
    throw error
  } finally {
    await new Promise(resolve => server.close(resolve))
  }
}

/** Whether an error says that somebody else has the port. */
export const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EADDRINUSE'

/** Where everything of the demo listens, but for the hub. */
export const loopback = '127.0.0.1'
