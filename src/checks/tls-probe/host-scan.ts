import { isIP } from 'node:net'
import type { VettedHost } from '../../core/net/egress'
import type { CheckError } from '../check'
import { connectFailure } from '../connect-failure'
import { limitConcurrency } from '../concurrency-limit'
import type { ScanContext } from './exchange'
import type { AddressFacts, ScanProtocol } from './facts'
import { scanAddress } from './scan'

/** What to scan. */
export interface HostScanRequest {
  /** A hostname or IP address. */
  host: string
  port: number
  protocol: ScanProtocol
  /** The name to send in SNI instead of the host; null for the host itself. */
  servername: string | null
}

/** What the scan of a host found. */
export interface HostFacts {
  /** One for each address, the preferred one first. */
  addresses: AddressFacts[]
  /** How many further addresses were not scanned. */
  skipped_addresses: number
  /** Why no address was scanned: the name could not be resolved, or the network policy forbids it. */
  error: CheckError | null
}

const maxAddresses = 8
/** How many addresses are scanned at once, of all hosts together. */
const maxScans = 16

/** Scans all addresses of hosts. An address that many hosts share is scanned for one of them at a time. */
export class HostScanner {
  /** The end of the last scan of each address that is being scanned. */
  readonly #busy = new Map<string, Promise<unknown>>()
  readonly #limited = limitConcurrency(maxScans, (run: () => Promise<AddressFacts>) => run())

  /** @param vetAddresses resolves the host and applies the network policy */
  async scan(
    request: HostScanRequest,
    vetAddresses: (host: string, port: number) => Promise<VettedHost[]>,
    context: ScanContext,
  ): Promise<HostFacts> {
    let vetted: VettedHost[]
    try {
      vetted = await vetAddresses(request.host, request.port)
    } catch (error) {
      const { kind, message } = connectFailure(error, 'connecting')
      return { addresses: [], skipped_addresses: 0, error: { kind, message } }
    }
    const scanned = vetted.slice(0, maxAddresses)
    const addresses = await Promise.all(scanned.map(one => this.#scanAddress(one, request, context)))
    return { addresses, skipped_addresses: vetted.length - scanned.length, error: null }
  }

  async #scanAddress(vetted: VettedHost, { protocol, servername }: HostScanRequest, context: ScanContext): Promise<AddressFacts> {
    const name = servername ?? vetted.host
    const target = { vetted, protocol, servername: isIP(name) === 0 ? name : null }
    const others = this.#busy.get(vetted.address) ?? Promise.resolve()
    const scan = others.then(() => this.#limited(() => scanAddress(target, context)))
    const end = scan.catch(() => {})
    this.#busy.set(vetted.address, end)
    void end.then(() => {
      if (this.#busy.get(vetted.address) === end) this.#busy.delete(vetted.address)
    })
    return await scan
  }
}
