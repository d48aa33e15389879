import { systemClock } from '../../core/clock'
import { createAuthority } from '../certificate-authority'
import { requestBytes } from './load'

/** What the requests of `bench cost` refer to. */
export interface CostWorld {
  headers: Record<string, string>
  zoneId: string
  recordIds: readonly string[]
  /** UUIDs of heartbeats. */
  uuids: readonly string[]
  /** UUIDs of heartbeats with {@link endpointsPerAlert} webhook endpoints each. */
  watchedUuids: readonly string[]
}

/** Number of webhook endpoints that receive the alerts of watched heartbeats. */
export const endpointsPerAlert = 5

/** An operation whose cost is measured, in the hub and in the reference server. */
export interface CostOperation {
  /** One or two words, for `--only`. */
  name: string
  /** Highest cost of the hub, as a multiple of the cost of the reference server. */
  goal: number
  /** Number of requests relative to `--requests`, for operations that cost much more or less than others. */
  share: number
  /** @param n counts up, so that names are unique. @returns a request that both servers understand */
  request(world: CostWorld, n: number): Uint8Array
  /** A different request for the reference server. */
  reference?(world: CostWorld, n: number): Uint8Array
  /**
   * Number of webhook deliveries that each request causes. The cost of one is the difference to the previous operation, divided by
   * their number.
   */
  deliveries?: number
}

const json = (world: CostWorld, path: string, body: object): Uint8Array =>
  requestBytes('POST', path, { ...world.headers, 'Content-Type': 'application/json' }, JSON.stringify(body))

const nth = <T>(list: readonly T[], n: number): T => list[n % list.length]!

const createHeartbeat = (world: CostWorld, n: number): Uint8Array =>
  json(world, '/v1/heartbeats', {
    name: `Job ${n}`,
    tags: ['bench'],
    schedule: { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 },
  })

const dayMs = 86_400_000
const startedAt = systemClock.now()
const authority = createAuthority('Bench', startedAt)

/** Pings that change the status of heartbeats: each is down after one and up after the next. */
const flip = (uuids: readonly string[], n: number): Uint8Array =>
  requestBytes('GET', `/ping/${nth(uuids, n)}${Math.floor(n / uuids.length) % 2 === 0 ? '/fail' : ''}`)

export const costOperations: readonly CostOperation[] = [
  {
    name: 'get-record',
    goal: 5,
    share: 1,
    request: (world, n) => requestBytes('GET', `/v1/dns/records/${nth(world.recordIds, n)}`, world.headers),
  },
  {
    name: 'list-records',
    goal: 1.7,
    share: 0.25,
    request: world => requestBytes('GET', '/v1/dns/records?limit=100', world.headers),
  },
  {
    name: 'create-heartbeat',
    goal: 10,
    share: 0.5,
    request: createHeartbeat,
  },
  {
    name: 'create-record',
    goal: 16,
    share: 0.5,
    request: (world, n) =>
      json(world, `/v1/dns/zones/${world.zoneId}/records`, { name: `c${n}`, type: 'A', content: '192.0.2.1', ttl: 300 }),
  },
  {
    name: 'create-endpoint',
    goal: 10,
    share: 0.25,
    // Not active, so that it is not scanned.
    request: (world, n) => json(world, '/v1/tls-endpoints', { host: `e${n}.bench.test`, port: 443, active: false }),
    reference: createHeartbeat,
  },
  {
    // Different certificates with P-256 keys, which the benchmark issues meanwhile.
    name: 'upload-certificate',
    goal: 30,
    share: 0.25,
    request: (world, n) =>
      requestBytes(
        'POST',
        '/v1/certificates',
        { ...world.headers, 'Content-Type': 'application/x-pem-file' },
        authority.issue([`c${n}.bench.test`], startedAt - dayMs, startedAt + 30 * dayMs).cert,
      ),
    reference: createHeartbeat,
  },
  { name: 'ping', goal: 2, share: 4, request: (world, n) => requestBytes('GET', `/ping/${nth(world.uuids, n)}`) },
  {
    name: 'failing-ping',
    goal: 2,
    share: 4,
    // The second half of the heartbeats, which are down after the first round.
    request: (world, n) => requestBytes('GET', `/ping/${nth(world.uuids, n % (world.uuids.length / 2))}/fail`),
  },
  {
    // Alerts and recoveries, each with its incident, audit entries, and event.
    name: 'alert',
    goal: 30,
    share: 0.5,
    request: (world, n) => flip(world.uuids.slice(-100), n),
    reference: createHeartbeat,
  },
  {
    name: 'delivery',
    goal: 12,
    share: 0.25,
    request: (world, n) => flip(world.watchedUuids, n),
    reference: createHeartbeat,
    deliveries: endpointsPerAlert,
  },
]
