import type { Rows } from './database'
import { pace, type RawResponse, type RawHttpClient } from './raw-http-client'

/** A pinged heartbeat, with its sent and acknowledged pings. */
interface PingedHeartbeat {
  id: string
  uuid: string
  sent: number
  acknowledged: number
  /** Ping numbers from responses that contain them. */
  numbers: Set<number>
  lastSentAt: number
  /** The longest possible time between two pings at the hub: from sending one to the response to the next. */
  longestGapMs: number
}
/**
 * A resource whose description is updated to increasing numbers, one request at a time. A `toggled` endpoint is also paused and
 * resumed.
 */
interface UpdatedResource {
  path: string
  id: string
  sent: number
  acknowledged: number
  isPending: boolean
  toggled: boolean
}
/** A webhook endpoint to create. */
interface Endpoint {
  url: string
  events: string[]
  toggled?: boolean
}
/** A creation with an Idempotency-Key. `id` is set by the response. */
interface Creation {
  key: string
  name: string
  id: string | null
  isPending: boolean
  responses: number
}

/** A dynamic IP source that reports increasing addresses, one at a time. */
interface ReportedSource {
  id: string
  token: string
  sent: number
  acknowledged: number
  isPending: boolean
}

const addressOf = (n: number): string => `198.18.${n >> 8}.${n & 255}`
const addressNumber = (address: string | null): number => {
  const [, , high, low] = (address ?? '0.0.0.0').split('.').map(Number)
  return high! * 256 + low!
}

/** Requests a second. */
export interface Rates {
  pings: number
  reports?: number
  flaps: number
  creates: number
  heartbeatUpdates: number
  endpointUpdates: number
}

// Long enough for several starts of the hub, even on a busy machine.
const steadySchedule = { period_seconds: 15, grace_seconds: 5 }
/** A steady heartbeat goes down this long after its last ping. */
export const dueAfterMs = (steadySchedule.period_seconds + steadySchedule.grace_seconds) * 1000

/**
 * Traffic for a hub that is killed repeatedly. Tracks sent and acknowledged requests. Runs in the background until `pause`, and
 * continues with the next hub after `resume`.
 */
export class Traffic {
  readonly steady: PingedHeartbeat[] = []
  readonly flapping: (PingedHeartbeat & { fails: boolean })[] = []
  readonly heartbeats: UpdatedResource[] = []
  readonly endpoints: UpdatedResource[] = []
  readonly sources: ReportedSource[] = []
  readonly created: Creation[] = []
  /** Responses that a killed hub doesn't explain. */
  readonly unexpected: string[] = []
  acknowledged = { pings: 0, writes: 0, reports: 0 }
  /** Requests refused because the database was unavailable. Only expected if `hasOutages`. */
  refused = 0
  private stops: (() => void)[] = []
  private turn = 0

  constructor(
    private readonly client: RawHttpClient,
    private readonly token: string,
    private readonly hasOutages = false,
  ) {}

  /** Creates the resources for the traffic. To be called before the first kill. */
  async prepare(counts: {
    steady: number
    flapping: number
    updated: number
    endpoints: Endpoint[]
    sources?: number
  }): Promise<void> {
    const create = (name: string, period_seconds: number, grace_seconds: number) =>
      this.expect(201, 'POST', '/v1/heartbeats', { name, schedule: { kind: 'period', period_seconds, grace_seconds } })
    for (const { url, events, toggled = false } of counts.endpoints) {
      const created = await this.expect(201, 'POST', '/v1/webhook-endpoints', { url, events })
      this.endpoints.push(updatedResource('/v1/webhook-endpoints', created.id, toggled))
    }
    if (counts.sources) await this.expect(201, 'POST', '/v1/dns/zones', { name: 'kill.example' })
    for (let at = 0; at < (counts.sources ?? 0); at++) {
      const input = { name: `source ${at}`, hosts: [{ name: `host-${at}.kill.example` }] }
      const { id, secret } = await this.expect(201, 'POST', '/v1/dynamic-ips', input)
      this.sources.push({ id, token: secret, sent: 0, acknowledged: 0, isPending: false })
    }
    for (let at = 0; at < counts.steady; at++)
      this.steady.push(pingedHeartbeat(await create(`steady ${at}`, steadySchedule.period_seconds, steadySchedule.grace_seconds)))
    for (let at = 0; at < counts.flapping; at++) {
      this.flapping.push({ ...pingedHeartbeat(await create(`flapping ${at}`, 3600, 60)), fails: true })
    }
    for (let at = 0; at < counts.updated; at++) {
      const { id } = await create(`updated ${at}`, 3600, 60)
      this.heartbeats.push(updatedResource('/v1/heartbeats', id))
    }
  }

  /** Starts the traffic to the hub that listens on `port`. Retries creations without a response once. */
  resume(port: number, rates: Rates): void {
    this.client.switchTo(port)
    for (const lost of this.withoutResponse()) void this.create(lost)
    const next = <T>(list: T[]): T => list[this.turn++ % list.length]!
    this.stops = [
      pace(rates.pings, () => void this.ping(next(this.steady), '')),
      pace(rates.flaps, () => {
        const one = next(this.flapping)
        one.fails = !one.fails
        void this.ping(one, one.fails ? '/fail' : '')
      }),
      ...(this.sources.length > 0 ? [pace(rates.reports ?? 0, () => void this.report(next(this.sources)))] : []),
      pace(rates.creates, () => void this.create(this.newCreation())),
      pace(rates.heartbeatUpdates, () => void this.update(next(this.heartbeats))),
      pace(rates.endpointUpdates, () => void this.update(next(this.endpoints))),
    ]
  }

  /** Sends no further requests. Pending requests can still complete. */
  pause(): void {
    for (const stop of this.stops.splice(0)) stop()
  }

  /** Closes all connections. */
  disconnect(): void {
    this.pause()
    this.client.close()
  }

  /** Creations whose response was lost. */
  withoutResponse(): Creation[] {
    return this.created.filter(one => one.id === null && !one.isPending)
  }

  /** Retries creations without a response, with the same key, until all have one. */
  async settle(limitMs: number): Promise<void> {
    const end = performance.now() + limitMs
    while (this.created.some(one => one.id === null) && performance.now() < end) {
      await Promise.all(this.withoutResponse().map(one => this.create(one)))
      await Bun.sleep(200)
    }
  }

  /** Resumes the toggled endpoints. */
  async resumeEndpoints(): Promise<void> {
    for (const one of this.endpoints) if (one.toggled) await this.expect(200, 'PATCH', one.path, { active: true })
  }

  /** Describes everything that was acknowledged but is not in the database. */
  async lost(rows: Rows): Promise<string[]> {
    const lines: string[] = []
    const found = await rows.all<{ id: string; name: string; description: string; ping_count: number; first: number | null }>(`
      select id, name, description, ping_count, (select min(n) from pings where heartbeat_id = heartbeats.id) as first
      from heartbeats`)
    const byId = new Map(found.map(row => [row.id, row]))
    const numbered = await rows.all<{ ping: string }>(`select heartbeat_id || ' ' || n as ping from pings`)
    const stored = new Set(numbered.map(row => row.ping))
    for (const { id, sent, acknowledged, numbers } of [...this.steady, ...this.flapping]) {
      const { name, ping_count: count, first } = byId.get(id)!
      if (count < acknowledged || count > sent)
        lines.push(`${name}: ${acknowledged} of ${sent} pings acknowledged, ${count} stored`)
      // Pings before the first stored one were pruned.
      const missing = [...numbers].filter(n => n > count || (n >= first! && !stored.has(`${id} ${n}`)))
      lines.push(...missing.map(n => `${name}: ping ${n} was acknowledged but is not stored`))
    }
    const sources = await rows.all<{ id: string; ipv4: string | null }>('select id, ipv4 from dynamic_ips')
    const addresses = new Map(sources.map(row => [row.id, addressNumber(row.ipv4)]))
    for (const { id, sent, acknowledged } of this.sources) {
      const value = addresses.get(id)!
      if (value < acknowledged || value > sent)
        lines.push(`${id}: report ${acknowledged} acknowledged, ${sent} sent, ${value} stored`)
    }
    const endpoints = await rows.all<{ id: string; description: string }>('select id, description from webhook_endpoints')
    const descriptions = new Map([...found, ...endpoints].map(row => [row.id, Number(row.description)]))
    for (const { path, id, sent, acknowledged } of [...this.heartbeats, ...this.endpoints]) {
      const value = descriptions.get(id)!
      if (value < acknowledged || value > sent)
        lines.push(`${path}: update ${acknowledged} acknowledged, ${sent} sent, ${value} stored`)
    }
    const byName = Map.groupBy(found, row => row.name)
    for (const { name, id } of this.created) {
      const stored = byName.get(name) ?? []
      if (stored.length > 1) lines.push(`${name}: created ${stored.length} times with one key`)
      if (id !== null && stored[0]?.id !== id) lines.push(`${name}: ${id} was acknowledged, ${stored[0]?.id} is stored`)
    }
    return lines
  }

  /** Sends a request and expects a status. For requests between kills. */
  async expect(status: number, method: string, path: string, body?: unknown): Promise<any> {
    const response = await this.client.request(method, path, { Authorization: `Bearer ${this.token}` }, body)
    if (response.status !== status) throw new Error(`${method} ${path} returned ${response.status}: ${response.body}`)
    return response.body && JSON.parse(response.body)
  }

  private async ping(one: PingedHeartbeat, action: string): Promise<void> {
    // Every fourth ping uses the endpoint whose response contains the ping number.
    const hasNumber = one.sent++ % 4 === 0
    const sentAt = performance.now()
    const path = `${hasNumber ? '/v1/ingest/heartbeats' : '/ping'}/${one.uuid}${action}`
    const response = await this.client.request('GET', path).catch(() => null)
    if (!response) return
    if (response.status !== 200) {
      this.recordUnexpected('ping', response)
      return
    }
    if (one.acknowledged > 0) one.longestGapMs = Math.max(one.longestGapMs, performance.now() - one.lastSentAt)
    one.lastSentAt = Math.max(one.lastSentAt, sentAt)
    one.acknowledged++
    this.acknowledged.pings++
    if (!hasNumber) return
    const { n } = JSON.parse(response.body) as { n: number }
    if (one.numbers.has(n)) this.unexpected.push(`two pings of ${one.id} got the number ${n}`)
    one.numbers.add(n)
  }

  private async report(one: ReportedSource): Promise<void> {
    if (one.isPending) return
    one.isPending = true
    const value = ++one.sent
    const headers = { Authorization: `Bearer ${one.token}` }
    const response = await this.client.request('GET', `/nic/update?myip=${addressOf(value)}`, headers).catch(() => null)
    one.isPending = false
    if (!response) return
    if (response.status !== 200 || response.body !== `good ${addressOf(value)}\n`) {
      this.recordUnexpected('report', response)
      return
    }
    one.acknowledged = value
    this.acknowledged.reports++
  }

  private newCreation(): Creation {
    const name = `created ${this.created.length}`
    const one: Creation = { key: `key-${crypto.randomUUID()}`, name, id: null, isPending: false, responses: 0 }
    this.created.push(one)
    return one
  }

  private async create(one: Creation): Promise<void> {
    one.isPending = true
    const headers = { Authorization: `Bearer ${this.token}`, 'Idempotency-Key': one.key }
    const schedule = { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 }
    const response = await this.client.request('POST', '/v1/heartbeats', headers, { name: one.name, schedule }).catch(() => null)
    one.isPending = false
    if (!response) return
    // If the hub that handled the key was killed, the others notice it after some seconds.
    if (response.status === 409 && response.body.includes('idempotency_in_progress')) return
    if (response.status !== 201) {
      this.recordUnexpected('creation', response)
      return
    }
    one.responses++
    one.id = JSON.parse(response.body).id
    this.acknowledged.writes++
  }

  private async update(one: UpdatedResource): Promise<void> {
    if (one.isPending) return
    one.isPending = true
    const value = ++one.sent
    const patch = { description: String(value), ...(one.toggled && { active: value % 2 === 0 }) }
    const headers = { Authorization: `Bearer ${this.token}` }
    const response = await this.client.request('PATCH', one.path, headers, patch).catch(() => null)
    one.isPending = false
    if (!response) return
    if (response.status !== 200) {
      this.recordUnexpected('update', response)
      return
    }
    one.acknowledged = value
    this.acknowledged.writes++
  }

  private recordUnexpected(request: string, { status, head, body }: RawResponse): void {
    if (this.hasOutages && status === 503 && /^retry-after: \d/im.test(head) && body.includes('"database_unavailable"')) {
      this.refused++
      return
    }
    this.unexpected.push(`${request} returned ${status}: ${body.slice(0, 200)}`)
  }
}

const updatedResource = (collection: string, id: string, toggled = false): UpdatedResource => ({
  path: `${collection}/${id}`,
  id,
  sent: 0,
  acknowledged: 0,
  isPending: false,
  toggled,
})

const pingedHeartbeat = ({ id, uuid }: { id: string; uuid: string }): PingedHeartbeat => ({
  id,
  uuid,
  sent: 0,
  acknowledged: 0,
  numbers: new Set(),
  lastSentAt: 0,
  longestGapMs: 0,
})
