import { createSocket } from 'node:dgram'
import type { CommandParams } from '../../wire/agent-command'

/** How often the packet is sent: UDP may lose it. */
const sends = 3

/** Sends a Wake-on-LAN packet: six octets 0xff, and the MAC address sixteen times. @throws Error */
export async function wake({ mac, broadcast, port }: CommandParams['wake']): Promise<void> {
  const packet = Buffer.concat([
    Buffer.alloc(6, 0xff),
    ...Array.from({ length: 16 }, () => Buffer.from(mac.replaceAll(':', ''), 'hex')),
  ])
  const socket = createSocket(broadcast.includes(':') ? 'udp6' : 'udp4')
  const failed = new Promise<never>((_, reject) => socket.on('error', reject))
  try {
    await Promise.race([failed, new Promise<void>(resolve => socket.bind(0, resolve))])
    socket.setBroadcast(true)
    for (let sent = 0; sent < sends; sent++)
      await new Promise<void>((resolve, reject) => {
        socket.send(packet, port, broadcast, error => (error ? reject(error) : resolve()))
      })
  } finally {
    socket.close()
  }
}
