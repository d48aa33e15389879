/**
 * A free loopback port for TCP and UDP. It is below the ephemeral port range, so that no outgoing connection uses it before the
 * server does.
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
