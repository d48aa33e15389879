import type { VettedHost } from '../../core/net/egress'
import { BufferedConnection } from '../buffered-connection'
import { CheckFailed } from '../connect-failure'
import { ExchangeFailed, Exchanges, type ScanContext, type ScanLimits } from './exchange'
import { askStatus } from './http-facts'
import type { AddressFacts } from './facts'

/** A server that answers HTTP without TLS. */
export interface PlainHttp {
  address: string
  /** Status code of the response. */
  status: number
}

export const plainHttpPort = 80

const maxHeadBytes = 16 * 1024

/** Whether the port of an address is closed: it refuses connections, or they time out. */
export const isClosed = ({ speaks_tls, errors }: AddressFacts): boolean =>
  !speaks_tls && errors.length > 0 && errors.every(one => one.phase === 'connect')

/**
 * Asks a server for the headers of its start page over HTTP, with one connection.
 * @param vetted its address and port, vetted right before
 * @param host name to send
 * @returns null if it refuses the connection or does not speak HTTP, undefined if it can’t be reached
 */
export async function askPlainHttp(
  vetted: VettedHost,
  host: string,
  context: ScanContext,
  limits: ScanLimits,
): Promise<PlainHttp | null | undefined> {
  const exchanges = new Exchanges({ vetted, protocol: 'tls', servername: null }, context, limits)
  try {
    const status = await exchanges.connected(async (attempt, socket) => {
      try {
        return await askStatus(new BufferedConnection(attempt, socket, maxHeadBytes), host)
      } catch (error) {
        // The server accepted the connection, but it may only be slow.
        if (error instanceof CheckFailed && error.kind !== 'timeout') return null
        throw error
      }
    })
    return status === null ? null : { address: vetted.address, status }
  } catch (error) {
    if (!(error instanceof ExchangeFailed)) throw error
    return error.failure.kind === 'refused' ? null : undefined
  }
}
