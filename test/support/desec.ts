import { randomUUID } from 'node:crypto'
import { ApiDouble, type ApiRequest, type ApiResponse } from './api-double'
import { DesecDomain, DesecFailure, detailed, stamps } from './desec-domain'

// settings.py: DEFAULT_THROTTLE_RATES, as pairs of a number and seconds.
const rates = {
  account_management_passive: [
    [50, 60],
    [600, 3600],
  ],
  dns_api_cheap: [
    [10, 1],
    [50, 60],
  ],
  dns_api_expensive: [
    [10, 1],
    [300, 60],
    [1000, 3600],
  ],
  dns_api_per_domain_expensive: [
    [2, 1],
    [15, 60],
    [100, 3600],
    [300, 86_400],
  ],
  user: [[2000, 86_400]],
} as const satisfies Record<string, [number, number][]>

/** The API of deSEC (desec-stack), on a free local port. */
export class DesecDouble extends ApiDouble {
  readonly email = 'dns@example.com'
  readonly domains: DesecDomain[] = []
  /** Permissions of the token. */
  may = { manageTokens: true, createDomain: true, writeRrsets: true }
  limitDomains = 100
  pageSize = 500
  /** Whether rate limits apply, as at desec.io. Installations for tests have none. */
  isThrottled = false
  /** Milliseconds of any clock. */
  now: () => number = () => performance.now()
  #pages = 0
  readonly #history = new Map<string, number[]>()

  constructor() {
    super('/api/v1')
  }

  domain(name: string, minimumTtl?: number): DesecDomain {
    const domain = new DesecDomain(name, minimumTtl)
    this.domains.push(domain)
    return domain
  }

  protected answer(request: ApiRequest, fault: Parameters<ApiDouble['answer']>[1]): ApiResponse {
    try {
      this.#authenticate(request.headers.authorization)
      if (typeof fault === 'object' && fault) throw detailed(fault.status, fault.message ?? fault.code)
      const wait = fault === 'throttled' ? 7 : this.#wait(request)
      if (wait !== null)
        throw detailed(429, `Request was throttled. Expected available in ${wait} second${wait === 1 ? '' : 's'}.`, {
          'retry-after': String(wait),
        })
      if (request.method !== 'GET' && request.method !== 'DELETE') refuseBody(request)
      return this.#route(request)
    } catch (error) {
      if (error instanceof DesecFailure) return error
      throw error
    }
  }

  #authenticate(authorization: string | undefined): void {
    const refused = (detail: string) => detailed(401, detail, { 'www-authenticate': 'Token' })
    const [scheme, token, ...more] = authorization?.split(/\s+/) ?? []
    if (scheme?.toLowerCase() !== 'token') throw refused('Authentication credentials were not provided.')
    if (!token) throw refused('Invalid token header. No credentials provided.')
    if (more.length > 0) throw refused('Invalid token header. Token string should not contain spaces.')
    if (token !== this.token) throw refused('Invalid token.')
  }

  /** Seconds to wait, if a limit is reached (throttling.py): a sliding window for each scope and rate. */
  #wait({ method, path }: ApiRequest): number | null {
    if (!this.isThrottled) return null
    const now = this.now() / 1000
    const [, area, domain, rrsets] = path.split('/')
    const isWriting = method !== 'GET'
    const scope: keyof typeof rates =
      area !== 'domains'
        ? 'account_management_passive'
        : !isWriting
          ? 'dns_api_cheap'
          : rrsets === 'rrsets'
            ? 'dns_api_per_domain_expensive'
            : 'dns_api_expensive'
    const bucket = scope === 'dns_api_per_domain_expensive' ? domain! : ''
    const waits = [this.#take(scope, bucket, now), this.#take('user', '', now)].filter(one => one !== null)
    return waits.length === 0 ? null : Math.ceil(Math.max(...waits))
  }

  #take(scope: keyof typeof rates, bucket: string, now: number): number | null {
    const windows = rates[scope].map(([allowed, seconds]) => {
      const key = `${scope} ${bucket} ${seconds}`
      const history = (this.#history.get(key) ?? []).filter(at => at > now - seconds)
      this.#history.set(key, history)
      return { allowed, seconds, history }
    })
    const full = windows.find(({ allowed, history }) => history.length >= allowed)
    if (full) return full.seconds - (now - full.history[0]!)
    for (const { history } of windows) history.push(now)
    return null
  }

  #route(request: ApiRequest): ApiResponse {
    const { method, query, body } = request
    const path = decodeURIComponent(request.path)
    if (!path.endsWith('/')) return notFound
    if (path === '/auth/account/') {
      if (!this.may.manageTokens) throw detailed(403, 'You do not have permission to perform this action.')
      if (method !== 'GET') throw notAllowed(method)
      const { email, limitDomains: limit_domains } = this
      const account = { created: stamps(), domains_under_management: this.domains.length, email, id: randomUUID() }
      return { status: 200, body: { ...account, limit_domains, outreach_preference: true } }
    }
    const [, area, name, rrsets, subname, type] = path.split('/')
    if (area !== 'domains') return notFound
    if (!name) {
      if (method === 'POST') return { status: 201, body: this.#createDomain(body) }
      if (method !== 'GET') throw notAllowed(method)
      const owned = query.get('owns_qname')
      if (owned !== null) return { status: 200, body: this.#responsibleFor(owned).map(one => one.shown(false)) }
      return this.#listed(
        request,
        () => this.domains,
        one => one.shown(false),
      )
    }
    const domain = this.domains.find(one => one.name === name)
    if (!rrsets) {
      if (method === 'DELETE') {
        this.domains.splice(0, this.domains.length, ...this.domains.filter(one => one !== domain))
        return { status: 204 }
      }
      if (method !== 'GET') throw notAllowed(method)
      if (!domain) throw detailed(404, 'No Domain matches the given query.')
      return { status: 200, body: domain.shown(true) }
    }
    if (!domain || rrsets !== 'rrsets') throw detailed(404, 'Not found.')
    if (method !== 'GET' && !this.may.writeRrsets) throw detailed(403, 'Insufficient token permissions.')
    if (type) return this.#rrset(request, domain, subname!, type)
    if (method === 'GET') {
      const [wantedName, wantedType] = [query.get('subname'), query.get('type')]
      if (wantedType === 'SOA' || wantedType === 'RRSIG') throw detailed(403, `You cannot tinker with the ${wantedType} RRset.`)
      const isWanted = (one: { subname: string; type: string }) =>
        (wantedName === null || one.subname === wantedName) && (wantedType === null || one.type === wantedType)
      return this.#listed(
        request,
        () => domain.rrsets.filter(isWanted),
        one => one,
      )
    }
    if (method === 'PATCH' || method === 'PUT') return { status: 200, body: domain.patch(body) }
    if (method !== 'POST') throw notAllowed(method)
    const created = domain.post(body)
    return { status: 201, body: Array.isArray(body) ? created : created[0] }
  }

  /** One rrset: `@`, or a name that ends in three dots, can be the apex. */
  #rrset({ method, body }: ApiRequest, domain: DesecDomain, name: string, type: string): ApiResponse {
    const subname = name === '@' ? '' : name.replace(/(\.\.\.|@)$/, '')
    if (method === 'DELETE') {
      domain.delete(subname, type)
      return { status: 204 }
    }
    const found = domain.find(subname, type)
    if (!found) throw detailed(404, 'No RRset matches the given query.')
    if (method === 'GET') return { status: 200, body: found }
    if (method !== 'PATCH' && method !== 'PUT') throw notAllowed(method)
    try {
      const [saved] = domain.patch([{ ...body, subname, type }])
      return saved ? { status: 200, body: saved } : { status: 204 }
    } catch (error) {
      throw error instanceof DesecFailure ? new DesecFailure(error.status, (error.body as object[])[0]!) : error
    }
  }

  /** Pages by cursor, newest first. Without `cursor`, longer lists are refused (pagination.py). */
  #listed<T extends { created: string }>(request: ApiRequest, rows: () => T[], shown: (row: T) => object): ApiResponse {
    this.beforePage(++this.#pages, request)
    const all = rows().toSorted((a, b) => (a.created < b.created ? 1 : -1))
    const cursor = request.query.get('cursor')
    const position = Buffer.from(cursor ?? '', 'base64').toString()
    if (cursor && !/^p=\d{4}-/.test(position)) throw detailed(404, 'Invalid cursor')
    const from = cursor ? all.findIndex(one => one.created < position.slice(2)) : 0
    const page = from < 0 ? [] : all.slice(from, from + this.pageSize)
    const hasNext = from >= 0 && from + this.pageSize < all.length
    if (!hasNext && !cursor) return { status: 200, body: page.map(shown) }
    const link = (label: string, to: string) => {
      const target = new URL(this.url + request.path)
      target.search = String(new URLSearchParams({ ...Object.fromEntries(request.query), cursor: to }))
      return `<${target}>; rel="${label}"`
    }
    if (cursor === null)
      throw new DesecFailure(
        400,
        {
          detail:
            `Pagination required. You can query up to ${this.pageSize} items at a time (${all.length} total). ` +
            'Please use the `first` page link (see Link header).',
        },
        { link: link('first', '') },
      )
    const links = [link('first', '')]
    if (cursor) links.push(link('prev', Buffer.from(`r=1&p=${page[0]?.created}`).toString('base64')))
    if (hasNext) links.push(link('next', Buffer.from(`p=${page.at(-1)!.created}`).toString('base64')))
    return { status: 200, body: page.map(shown), headers: { link: links.join(', ') } }
  }

  #createDomain(body: any): object {
    if (!this.may.createDomain) throw detailed(403, 'You do not have permission to perform this action.')
    if (this.domains.length >= this.limitDomains)
      throw detailed(403, 'Domain limit exceeded. Please contact support to create additional domains.')
    const name = body?.name
    if (name === undefined) throw new DesecFailure(400, { name: ['This field is required.'] })
    if (typeof name !== 'string' || !/^(([a-z0-9_-]{1,63})\.)*[a-z0-9-]{1,63}$/.test(name) || name.length > 191)
      throw new DesecFailure(400, {
        name: [
          'Domain names must be labels separated by dots. Labels may consist of up to 63 letters, digits, hyphens, and underscores. The last label may not contain an underscore.',
        ],
      })
    if (!name.includes('.') || this.domains.some(one => one.name === name))
      throw new DesecFailure(400, {
        name: ['This domain name conflicts with an existing domain, or is disallowed by policy.'],
      })
    return this.domain(name).shown(true)
  }

  #responsibleFor(name: string): DesecDomain[] {
    return this.domains
      .filter(one => `.${name}`.endsWith(`.${one.name}`))
      .sort((a, b) => b.name.length - a.name.length)
      .slice(0, 1)
  }
}

const notAllowed = (method: string) => detailed(405, `Method "${method}" not allowed.`)

const notFound: ApiResponse = { status: 404 }

function refuseBody({ headers, body }: ApiRequest): void {
  const type = headers['content-type'] ?? ''
  if (type.split(';')[0]!.trim() !== 'application/json') throw detailed(415, `Unsupported media type "${type}" in request.`)
  if (body === undefined) throw detailed(400, 'JSON parse error - Expecting value: line 1 column 1 (char 0)')
}
