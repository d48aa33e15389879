import type { HubProcess } from './binary'
import { digOutput, queryOctets, type DigOutput } from './served-zone'

/** Queries the name server of a hub over UDP; null without a response within a second. */
export async function queryHub(hub: HubProcess, name: string, type = 'A'): Promise<DigOutput | null> {
  const { promise, resolve } = Promise.withResolvers<DigOutput>()
  const socket = await Bun.udpSocket({
    connect: { hostname: '127.0.0.1', port: hub.dnsPort },
    socket: { data: (_, answer) => resolve(digOutput(answer)), error() {} },
  })
  socket.send(queryOctets(name, type))
  const answer = await Promise.race([promise, Bun.sleep(1000).then(() => null)])
  socket.close()
  return answer
}
