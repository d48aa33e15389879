/**
 * A port of loopback that nothing has, neither by TCP nor by UDP; below those that connections are given, so that none takes it before
 * a server does.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 15_000)
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
      const socket = await Bun.udpSocket({ hostname: '127.0.0.1', port, socket: { data() {} } })
      socket.close()
      return port
    } catch {
      continue
    }
  }
}
