import type Cloudflare from 'cloudflare'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { CloudflareZone, newRowId, Refused, refused, type CloudflarePlan } from './cloudflare-zone'

/** A received request. */
export interface CloudflareRequest {
  method: string
  /** Path below the API version, such as `/zones`. */
  path: string
  query: URLSearchParams
  body: any
}

/**
 * Simulated failures of a request. `lost`: processed, then the connection closes without a response. `silent`: processed, but no
 * response ever comes. `dropped`: the connection closes before it is processed. `cut`: the response is truncated. `html`: a proxy
 * returns a page with status 502. `refused200`: an error with status 200. `throttled`: 429. `odd`: a page with status 200.
 */
export type CloudflareFault = 'lost' | 'silent' | 'dropped' | 'cut' | 'html' | 'refused200' | 'throttled' | 'odd' | 'unauthorized'

/** The zone and record API of Cloudflare, on a free local port. */
export class CloudflareDouble {
  readonly token = `cf-${'t'.repeat(37)}`
  readonly accountId = newRowId()
  readonly zones: CloudflareZone[] = []
  readonly requests: CloudflareRequest[] = []
  /** Chooses a failure for a request; null for none. */
  fault: (request: CloudflareRequest) => CloudflareFault | null | undefined = () => null
  /** Called before a page of a list is built. */
  beforePage: (page: number, request: CloudflareRequest) => void = () => {}
  /** Modifies an envelope before it is sent. */
  answered: (envelope: any, request: CloudflareRequest) => any = envelope => envelope
  /** Maximum rows per page, whatever is requested. */
  maxPerPage = Infinity
  /** Requests within five minutes before all get 429. */
  allowance = 1200
  /** Milliseconds of any clock. */
  now: () => number = () => performance.now()
  #window = { startedAt: -Infinity, count: 0 }
  readonly #server = createServer((request, response) => void this.#serve(request, response))

  /** Value for `base_url`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}/client/v4`
  }

  async start(): Promise<this> {
    await new Promise<void>(listening => this.#server.listen(0, '127.0.0.1', listening))
    return this
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  zone(name: string, plan?: CloudflarePlan): CloudflareZone {
    const zone = new CloudflareZone(name, plan)
    this.zones.push(zone)
    return zone
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const text = Buffer.concat(parts).toString()
    const url = new URL(request.url!, 'http://double')
    const received: CloudflareRequest = {
      method: request.method!,
      path: url.pathname.replace(/^\/client\/v4/, ''),
      query: url.searchParams,
      body: text === '' ? undefined : JSON.parse(text),
    }
    this.requests.push(received)
    const fault = this.fault(received)
    if (fault === 'dropped') return void request.socket.destroy()
    const { status, envelope, headers } = this.#answer(received, request.headers.authorization, fault)
    if (fault === 'silent') return
    if (fault === 'lost') return void request.socket.destroy()
    if (fault === 'html' || fault === 'odd') {
      response.writeHead(fault === 'html' ? 502 : 200, { 'content-type': 'text/html' })
      return void response.end('<html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>')
    }
    const body = JSON.stringify(this.answered(envelope, received))
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    if (fault !== 'cut') return void response.end(body)
    response.end(body.slice(0, Math.floor(body.length / 2)))
  }

  #answer(request: CloudflareRequest, authorization: string | undefined, fault: CloudflareFault | null | undefined) {
    const failed = (status: number, errors: object[], headers: Record<string, string> = {}) => ({
      status,
      envelope: { success: false, errors, messages: [], result: null },
      headers,
    })
    if (this.now() - this.#window.startedAt >= 300_000) this.#window = { startedAt: this.now(), count: 0 }
    if (++this.#window.count > this.allowance || fault === 'throttled') {
      const left = Math.ceil((this.#window.startedAt + 300_000 - this.now()) / 1000)
      return failed(429, [{ code: 971, message: 'Please wait and consider throttling your request speed' }], {
        'retry-after': String(left),
        ratelimit: `"default";r=0;t=${left}`,
        'ratelimit-policy': '"default";q=1200;w=300',
      })
    }
    try {
      this.#refuseToken(authorization)
      if (fault === 'unauthorized') throw refused(10_000, 'Authentication error', 403)
      if (fault === 'refused200') return failed(200, [{ code: 1000, message: 'An unknown error has occurred.' }])
      // Cloudflare also processes requests that it then doesn't respond to.
      const created = this.#route(request)
      return { status: 200, envelope: { success: true, errors: [], messages: [], ...created }, headers: {} }
    } catch (error) {
      if (error instanceof Refused) return failed(error.status, error.errors)
      throw error
    }
  }

  #refuseToken(authorization: string | undefined): void {
    if (authorization === undefined) throw refused(9106, 'Missing X-Auth-Key, X-Auth-Email or Authorization headers')
    if (!/^Bearer [\w-]{20,}$/.test(authorization))
      throw new Refused(400, [
        {
          code: 6003,
          message: 'Invalid request headers',
          error_chain: [{ code: 6111, message: 'Invalid format for Authorization header' }],
        },
      ])
    if (authorization !== `Bearer ${this.token}`) throw refused(9109, 'Invalid access token', 403)
  }

  #route(request: CloudflareRequest): { result: unknown; result_info?: object } {
    const { method, path, query, body } = request
    const [, zones, zoneId, records, recordId] = path.split('/')
    if (zones !== 'zones') throw noRoute(path)
    if (zoneId === undefined) {
      if (method === 'GET') return this.#listed(request, this.#zonesFor(query), 5, 50, 20)
      if (method === 'POST') return { result: this.#createZone(body) }
      throw noRoute(path)
    }
    if (!/^[0-9a-f]{32}$/.test(zoneId)) throw noRoute(path)
    const zone = this.zones.find(one => one.id === zoneId)
    if (!zone) throw refused(1001, 'Invalid zone identifier', 404)
    if (records === undefined) {
      if (method === 'GET') return { result: this.#zoneShown(zone) }
      if (method !== 'DELETE') throw noRoute(path)
      this.zones.splice(this.zones.indexOf(zone), 1)
      return { result: { id: zone.id } }
    }
    if (records !== 'dns_records') throw noRoute(path)
    if (recordId === undefined) {
      if (method === 'GET') return this.#listed(request, () => rowsFor(zone, query), 1, 5_000_000, 100)
      if (method === 'POST') return { result: zone.post(body) }
    } else if (recordId === 'batch' && method === 'POST') return { result: zone.batch(body) }
    else if (method === 'GET') return { result: zone.get(recordId) }
    else if (method === 'PUT') return { result: zone.put(recordId, body) }
    else if (method === 'PATCH') return { result: zone.patch(recordId, body) }
    else if (method === 'DELETE') return { result: { id: zone.delete(recordId).id } }
    throw noRoute(path)
  }

  #listed(request: CloudflareRequest, rows: () => object[], min: number, max: number, defaultSize: number) {
    const page = Number(request.query.get('page') ?? 1)
    const wanted = Number(request.query.get('per_page') ?? defaultSize)
    if (!Number.isInteger(page) || page < 1) throw refused(1003, 'Invalid or missing page number')
    if (!Number.isInteger(wanted) || wanted < min || wanted > max) throw refused(1003, 'Invalid per_page')
    const perPage = Math.min(wanted, this.maxPerPage)
    this.beforePage(page, request)
    const all = rows()
    const result = all.slice((page - 1) * perPage, page * perPage)
    const total_pages = Math.ceil(all.length / perPage)
    return { result, result_info: { page, per_page: perPage, count: result.length, total_count: all.length, total_pages } }
  }

  #zonesFor(query: URLSearchParams): () => object[] {
    const [name, account] = [query.get('name'), query.get('account.id')]
    return () =>
      this.zones
        .filter(zone => (name === null || zone.name === name) && (account === null || account === this.accountId))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(zone => this.#zoneShown(zone))
  }

  #createZone(body: any): object {
    const { name, account, type = 'full' } = body ?? {}
    if (account?.id !== this.accountId) throw refused(9109, 'Unauthorized to access requested resource', 403)
    if (typeof name !== 'string' || !/^(?:[a-z0-9-]+\.)+[a-z0-9-]+$/.test(name) || type !== 'full')
      throw refused(1049, `${String(name)} is not a registered domain`)
    if (this.zones.some(zone => zone.name === name)) throw refused(1061, `${name} already exists.`)
    return this.#zoneShown(this.zone(name))
  }

  #zoneShown(zone: CloudflareZone): Cloudflare.Zones.Zone {
    return {
      id: zone.id,
      name: zone.name,
      status: 'active',
      paused: false,
      type: 'full',
      development_mode: 0,
      name_servers: ['ada.ns.cloudflare.com', 'lee.ns.cloudflare.com'],
      original_name_servers: null,
      original_registrar: null,
      original_dnshost: null,
      created_on: '2026-01-01T00:00:00.000000Z',
      modified_on: '2026-01-01T00:00:00.000000Z',
      activated_on: '2026-01-01T00:00:00.000000Z',
      account: { id: this.accountId, name: 'Acme' },
      owner: { id: null as unknown as string, type: 'user' },
      meta: { step: 2, custom_certificate_quota: 0, page_rule_quota: 3, phishing_detected: false },
      permissions: ['#dns_records:edit', '#dns_records:read', '#zone:read'],
      plan: { id: newRowId(), name: zone.plan, legacy_id: zone.plan, price: 0, currency: 'USD' },
    }
  }
}

function rowsFor({ rows }: CloudflareZone, query: URLSearchParams): object[] {
  const name = query.get('name.exact') ?? query.get('name')
  const type = query.get('type')
  const content = query.get('content.exact') ?? query.get('content')
  const order = query.get('order') ?? 'type'
  const down = query.get('direction') === 'desc' ? -1 : 1
  return rows
    .filter(one => name === null || one.name === name.toLowerCase())
    .filter(one => type === null || one.type === type)
    .filter(one => content === null || one.content === content)
    .sort((a: any, b: any) => (a[order] === b[order] ? 0 : a[order] < b[order] ? -down : down))
}

const noRoute = (path: string) =>
  new Refused(404, [
    { code: 7003, message: `Could not route to ${path}, perhaps your object identifier is invalid?` },
    { code: 7000, message: 'No route for that URI' },
  ])
