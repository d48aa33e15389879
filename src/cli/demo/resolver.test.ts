import { expect, test } from 'bun:test'
import { freePort } from '../../../test/support/free-port'
import { decodeMessage } from '../../dns/message-decode'
import { encodeMessage } from '../../dns/message-encode'
import { message } from '../../dns/message'
import { loopback } from './ports'
import { domain, resolver } from './resolver'

const query = encodeMessage(message({ id: 1, question: [{ name: `www.${domain}.`, type: 'A', class: 1 }] }))

test('answers after many clients closed their sockets before the response', async () => {
  const port = await freePort()
  const { stop } = await resolver(port)
  try {
    for (let n = 0; n < 200; n++) {
      const socket = await Bun.udpSocket({ connect: { hostname: loopback, port }, socket: { data() {}, error() {} } })
      socket.send(query)
      socket.close()
    }
    const answered = Promise.withResolvers<Uint8Array>()
    const socket = await Bun.udpSocket({
      connect: { hostname: loopback, port },
      socket: { data: (_, octets) => answered.resolve(Uint8Array.from(octets)), error: answered.reject },
    })
    socket.send(query)
    expect(decodeMessage(await answered.promise).answer).toHaveLength(1)
    socket.close()
  } finally {
    stop()
  }
})
