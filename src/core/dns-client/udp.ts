import type { lifetime } from '../net/request-lifetime'
import type { ServerAddress } from './server'

/** Milliseconds after which a question is sent once more, and after which UDP is given up. */
const again = 1000
const patience = 2000

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
): Promise<T | null> {
  const answered = Promise.withResolvers<T | null>()
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
        error: () => answered.resolve(null),
      },
    })
  } catch {
    return null
  }
  const send = () => {
    try {
      socket.send(question)
    } catch {
      answered.resolve(null)
    }
  }
  const timers = [setTimeout(send, again), setTimeout(() => answered.resolve(null), patience)]
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
