import type { ScanProtocol } from '../../checks/tls-probe/facts'
import type { LastScan } from '../tls-endpoints/last-scans'
import type { ExpectedName } from './names'

/** A server that is scanned because a name should have a certificate. */
interface WantedEndpoint {
  host: string
  port: number
  protocol: ScanProtocol
  servername: null
}

/** At most this many. */
const maxEndpoints = 10_000

/**
 * Finds the servers at which expected names have to be scanned, because no other endpoint does so. Works in steps.
 * @param watched what monitors connect to, which gets endpoints of its own
 */
export function* wantedEndpoints(
  expected: ReadonlyMap<string, ExpectedName>,
  scans: readonly Pick<LastScan, 'host' | 'port' | 'protocol' | 'servername' | 'origin'>[],
  watched: readonly Pick<LastScan, 'host' | 'port' | 'protocol' | 'servername'>[],
): Generator<void, WantedEndpoint[]> {
  const others = scans.filter(one => one.origin !== 'coverage')
  const scanned = new Set([...others, ...watched].map(one => placeText(one.servername ?? one.host, one)))
  yield
  const wanted: WantedEndpoint[] = []
  let steps = 0
  for (const { name, places } of expected.values()) {
    for (const { port, protocol } of places)
      if (!scanned.has(placeText(name, { port, protocol }))) {
        wanted.push({ host: name, port, protocol, servername: null })
        if (wanted.length === maxEndpoints) return wanted
      }
    if (++steps % 200 === 0) yield
  }
  return wanted
}

const placeText = (name: string, { port, protocol }: { port: number; protocol: ScanProtocol }) => `${name}:${port}/${protocol}`
