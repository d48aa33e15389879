import type { lifetime } from '../../core/net/request-lifetime'
import type { ServerAddress } from './server'

/** Milliseconds until the query is repeated, and until UDP is abandoned. */
const retryAfterMs = 1000
const defaultTimeoutMs = 2000

/** `udpTimeoutMs`: timeout, default 2,000. `broken` is called with the reason if sending fails. */
interface UdpOptions {
  udpTimeoutMs?: number
  broken?: (error: unknown) => void
}

/**
 * Sends a query over UDP, up to twice.
 * @param accept called for each response; a result other than null ends the wait
 * @returns null without an accepted response, which proves little: UDP packets get lost or spoofed
 */
export async function queryUdp<T>(
  at: ServerAddress,
  question: Uint8Array,
  life: ReturnType<typeof lifetime>,
  accept: (answer: Uint8Array) => T | null,
  { udpTimeoutMs = defaultTimeoutMs, broken = () => {} }: UdpOptions = {},
): Promise<T | null> {
  const answered = Promise.withResolvers<T | null>()
  const fail = (error: unknown) => {
    broken(error)
    answered.resolve(null)
  }
  let socket: Bun.udp.ConnectedSocket<'uint8array'>
  try {
    socket = await Bun.udpSocket({
      binaryType: 'uint8array',
      // Connected, so that the system drops packets from other sources.
      connect: { hostname: at.address, port: at.port },
      socket: {
        data(_, octets) {
          const accepted = accept(octets)
          if (accepted !== null) answered.resolve(accepted)
        },
        // Without it, an ICMP “port unreachable” ends the process.
        // Bun 1.4.5 passes only the error; its types have the socket first.
        error: (...given: unknown[]) => fail(given.find(one => one instanceof Error)),
      },
    })
  } catch (error) {
    broken(error)
    return null
  }
  const send = () => {
    try {
      socket.send(question)
    } catch (error) {
      fail(error)
    }
  }
  const timers = [setTimeout(send, retryAfterMs), setTimeout(() => answered.resolve(null), udpTimeoutMs)]
  try {
    send()
    return await life.orEnd(answered.promise)
  } catch (error) {
    if (!life.reason) throw error
    return null
  } finally {
    for (const timer of timers) clearTimeout(timer)
    socket.close()
  }
}
