import { createServer } from 'node:net'

// A range that nothing else uses by default. The same ports at each start keep screenshots of the demo stable.
const firstPort = 28_400

/** Allocates loopback ports: consecutive ones if free, otherwise any. */
export class Ports {
  private next = firstPort

  async allocate(): Promise<number> {
    const preferred = this.next++
    for (let port = preferred; ; port = 0) {
      const found = await tryPort(port)
      if (found !== null) return found
    }
  }
}

/** Opens and closes a port on TCP and UDP. @returns the port, or null if it is in use */
async function tryPort(port: number): Promise<number | null> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.on('error', reject)
      server.listen(port, loopback, resolve)
    })
    const found = (server.address() as { port: number }).port
    const socket = await Bun.udpSocket({ hostname: loopback, port: found, socket: { error() {} } })
    socket.close()
    return found
  } catch (error) {
    if (isPortInUse(error)) return null
    throw error
  } finally {
    await new Promise(resolve => server.close(resolve))
  }
}

/** Whether an error means that the port is in use. */
export const isPortInUse = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EADDRINUSE'

/** Where all servers of the demo listen, except the hub. */
export const loopback = '127.0.0.1'
