import { isIP } from 'node:net'
import type { VettedHost } from '../../core/net/egress'
import type { CheckError } from '../check'
import { connectFailure } from '../connect-failure'
import { scanLimits, type ScanContext, type ScanLimits } from './exchange'
import type { AddressFacts, ScanProtocol } from './facts'
import { askPlainHttp, isClosed, plainHttpPort, type PlainHttp } from './plain-http'
import { scanAddress } from './scan'
import { ScanSlots } from './scan-slots'

/** What to scan. */
export interface HostScanRequest {
  /** A hostname or IP address. */
  host: string
  port: number
  protocol: ScanProtocol
  /** The name to send in SNI instead of the host; null for the host itself. */
  servername: string | null
  /** The workspace: the hosts of a group share a number of scans that run at once. */
  group: string
  /** Whether port 80 is asked for HTTP if the port is closed at every address. */
  asksPlainHttp?: boolean
}

/** What the scan of a host found. */
export interface HostFacts {
  /** One for each address, the preferred one first. */
  addresses: AddressFacts[]
  /** How many further addresses were not scanned. */
  skipped_addresses: number
  /** Why no address was scanned: the name could not be resolved, the network policy forbids it, or too many scans are running. */
  error: CheckError | null
  /** What answers HTTP at port 80; null if nothing does. Missing if it was not asked, or could not be reached. */
  plain_http?: PlainHttp | null
  /** Whether too many other scans were running, so that nothing was tried. */
  isPostponed?: true
}

const maxAddresses = 8
/** How many addresses are scanned at once, of all hosts together and of those of a group. */
const maxScans = 16
const maxScansPerGroup = 4

/** How long the scan of a host may take, in milliseconds. */
interface HostScanLimits extends ScanLimits {
  /** Until its first address is scanned: others may be scanned at the moment. */
  waitMs: number
  /** From then on. Afterwards, it ends with what it has found. */
  hostMs: number
}
const hostScanLimits: HostScanLimits = { ...scanLimits, waitMs: 20_000, hostMs: 30_000 }

/** Scans all addresses of hosts. An address that many hosts share is scanned for one of them at a time. */
export class HostScanner {
  /** The end of the last scan of each address that is being scanned. */
  readonly #busy = new Map<string, Promise<unknown>>()
  readonly #slots = new ScanSlots(maxScans, maxScansPerGroup)

  constructor(private readonly limits: HostScanLimits = hostScanLimits) {}

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
    const limit = new AbortController()
    const signal = AbortSignal.any([context.signal, limit.signal])
    const stop = () => limit.abort()
    let timer = setTimeout(stop, this.limits.waitMs)
    let hasStarted = false
    const start = () => {
      if (hasStarted) return
      hasStarted = true
      clearTimeout(timer)
      timer = setTimeout(stop, this.limits.hostMs)
    }
    try {
      const addresses = await Promise.all(scanned.map(one => this.#scanAddress(one, request, { ...context, signal }, start)))
      if (!hasStarted && addresses.length > 0)
        return { addresses: [], skipped_addresses: 0, error: tooManyScans, ...(!context.signal.aborted && { isPostponed: true }) }
      const facts: HostFacts = { addresses, skipped_addresses: vetted.length - scanned.length, error: null }
      if (!request.asksPlainHttp || addresses.length === 0 || !addresses.every(isClosed)) return facts
      const plain = await this.#plainHttp(request, vetAddresses, { ...context, signal })
      return plain === undefined ? facts : { ...facts, plain_http: plain }
    } finally {
      clearTimeout(timer)
    }
  }

  /** Asks the preferred address of the host. */
  async #plainHttp(
    { host, servername }: HostScanRequest,
    vetAddresses: (host: string, port: number) => Promise<VettedHost[]>,
    context: ScanContext,
  ): Promise<PlainHttp | null | undefined> {
    const [vetted] = await vetAddresses(host, plainHttpPort).catch(() => [])
    return vetted && (await askPlainHttp(vetted, servername ?? vetted.host, context, this.limits))
  }

  /** @param start called when the scan starts @returns an error in the facts if there was no time to scan it */
  async #scanAddress(
    vetted: VettedHost,
    { protocol, servername, group }: HostScanRequest,
    context: ScanContext,
    start: () => void,
  ): Promise<AddressFacts> {
    const name = servername ?? vetted.host
    const target = { vetted, protocol, servername: isIP(name) === 0 ? name : null }
    const others = this.#busy.get(vetted.address) ?? Promise.resolve()
    const scan = (async () => {
      await Promise.race([others, abortOf(context.signal)])
      const hasSlot = await this.#slots.take(group, context.signal)
      if (hasSlot) start()
      try {
        return await scanAddress(target, context, this.limits)
      } finally {
        if (hasSlot) this.#slots.release(group)
      }
    })()
    // The others may still run if this one has ended without a slot.
    const end = Promise.allSettled([others, scan])
    this.#busy.set(vetted.address, end)
    void end.then(() => {
      if (this.#busy.get(vetted.address) === end) this.#busy.delete(vetted.address)
    })
    return await scan
  }
}

const tooManyScans: CheckError = { kind: 'timeout', message: 'too many other scans are running' }

const abortOf = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
