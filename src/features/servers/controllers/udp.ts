import { EgressRefused, type VettedHost } from '../../../core/net/egress'
import { CloudError, type AdapterContext } from './controller'

/** A UDP socket for one device. */
export interface UdpSocket {
  /** @throws CloudError */
  send(octets: Uint8Array): void
  close(): void
}

/**
 * Opens a UDP socket to a device, which the network policy must allow.
 * @param received gets packets of the device, and `failed` the error of the socket, such as a port where nothing listens
 * @throws CloudError
 */
export async function connectUdp(
  around: AdapterContext,
  host: string,
  port: number,
  { received, failed }: { received(octets: Uint8Array): void; failed(error: CloudError): void },
): Promise<UdpSocket> {
  const vetted = await vettedForUdp(around, host, port)
  const onError = (...given: unknown[]) => failed(socketError(given.find(one => one instanceof Error)))
  try {
    const socket = await Bun.udpSocket({
      binaryType: 'uint8array',
      // Connected, so that the system drops packets from other sources.
      connect: { hostname: vetted.address, port },
      socket: { data: (_, octets) => received(octets), error: onError },
    })
    return { send: octets => sent(() => socket.send(octets)), close: () => socket.close() }
  } catch (error) {
    throw socketError(error)
  }
}

/** Sends one packet several times, also to the broadcast address of a network: nobody responds. @throws CloudError */
export async function broadcastUdp(
  around: AdapterContext,
  host: string,
  port: number,
  octets: Uint8Array,
  times: number,
): Promise<void> {
  const { address } = await vettedForUdp(around, host, port)
  const socket = await Bun.udpSocket({ socket: { data() {}, error() {} } })
  try {
    socket.setBroadcast(true)
    for (let time = 0; time < times; time++) sent(() => socket.send(octets, port, address))
  } finally {
    socket.close()
  }
}

async function vettedForUdp(around: AdapterContext, host: string, port: number): Promise<VettedHost> {
  try {
    return await around.vet(host, port, 'udp')
  } catch (error) {
    throw error instanceof EgressRefused ? new CloudError('unreachable', error.message) : error
  }
}

function sent(send: () => unknown): void {
  try {
    send()
  } catch (error) {
    throw socketError(error)
  }
}

function socketError(error: unknown): CloudError {
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === 'ECONNREFUSED') return new CloudError('unreachable', 'Nothing listens on this UDP port of the host.')
  return new CloudError('unreachable', 'The host could not be reached.')
}
