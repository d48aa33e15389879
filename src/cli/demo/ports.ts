import { createServer } from 'node:net'

// Where nothing else listens by custom; the same ones at each start, so that pictures of the demo look alike.
const firstPort = 28_400

/** Gives out ports of loopback: those of a row as far as they are free, else any. */
export class Ports {
  private next = firstPort

  async take(): Promise<number> {
    const wanted = this.next++
    return (await isFree(wanted)) ? wanted : await anyFree()
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, loopback, () => server.close(() => resolve(true)))
  })

const anyFree = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, loopback, () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

/** Where everything of the demo listens, but for the hub. */
export const loopback = '127.0.0.1'
