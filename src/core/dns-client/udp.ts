import type { lifetime } from '../net/request-lifetime'
import type { ServerAddress } from './server'

/** Milliseconds after which a question is sent once more, and after which UDP is given up. */
const again = 1000
const patience = 2000

/** `patienceMs`: after which it is given up, 2,000 by default. `broken` is told why sending, or the way there, failed. */
export interface UdpPatience {
  patienceMs?: number
  broken?: (error: unknown) => void
}

/**
 * Sends a question by UDP, twice at most.
 * @param accept told every answer; the first that it gives something for ends the wait
 * @returns null when nothing was accepted in time, which says little: answers get lost, and forged
 */
export async function askUdp<T>(
  at: ServerAddress,
  question: Uint8Array,
  life: ReturnType<typeof lifetime>,
  accept: (answer: Uint8Array) => T | null,
  { patienceMs = patience, broken = () => {} }: UdpPatience = {},
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
      // Connected, so that the system drops what comes from elsewhere.
      connect: { hostname: at.address, port: at.port },
      socket: {
        data(_, octets) {
          const accepted = accept(octets)
          if (accepted !== null) answered.resolve(accepted)
        },
        // Without it an ICMP "port unreachable" ends the program.
        // Bun 1.4.5 gives the error alone, where its types have it behind the socket.
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
  const timers = [setTimeout(send, again), setTimeout(() => answered.resolve(null), patienceMs)]
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
