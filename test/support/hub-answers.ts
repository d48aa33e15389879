import type { HubProcess } from './binary'
import { digged, queryOctets, type Digged } from './served-zone'

/** Asks a hub's name server by UDP; null when nothing comes back within a second. */
export async function ask(hub: HubProcess, name: string, type = 'A'): Promise<Digged | null> {
  const { promise, resolve } = Promise.withResolvers<Digged>()
  const socket = await Bun.udpSocket({
    connect: { hostname: '127.0.0.1', port: hub.dnsPort },
    socket: { data: (_, answer) => resolve(digged(answer)), error() {} },
  })
  socket.send(queryOctets(name, type))
  const answer = await Promise.race([promise, Bun.sleep(1000).then(() => null)])
  socket.close()
  return answer
}
