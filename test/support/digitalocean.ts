import { ApiDouble, type ApiRequest, type ApiResponse } from './api-double'
import { DigitalOceanDomain, DigitalOceanRefused, notFound, unprocessable } from './digitalocean-domain'

/** The domain API of DigitalOcean for one account, on a free local port. */
export class DigitalOceanDouble extends ApiDouble {
  readonly domains: DigitalOceanDomain[] = []
  /** Whether the token has the scope account:read. */
  readsAccount = true
  /** Seconds in `Retry-After` of throttled requests; null for the limit per hour, which has none. */
  retryAfter: number | null = 29
  /** Seconds until `RateLimit-Reset`. */
  resetAfter = 600

  constructor() {
    super('/v2')
  }

  domain(name: string): DigitalOceanDomain {
    const domain = new DigitalOceanDomain(name)
    this.domains.push(domain)
    return domain
  }

  protected answer(request: ApiRequest, fault: Parameters<ApiDouble['answer']>[1]): ApiResponse {
    try {
      if (request.headers.authorization !== `Bearer ${this.token}`)
        throw new DigitalOceanRefused(401, 'unauthorized', 'Unable to authenticate you')
      if (fault === 'throttled') throw new DigitalOceanRefused(429, 'too_many_requests', 'API rate limit exceeded.')
      if (fault) throw new DigitalOceanRefused(fault.status, fault.code, fault.message ?? fault.code)
      if ((request.method === 'POST' || request.method === 'PUT') && !isJson(request))
        throw new DigitalOceanRefused(400, 'bad_request', 'The request body is not valid JSON.')
      return this.#route(request)
    } catch (error) {
      if (!(error instanceof DigitalOceanRefused)) throw error
      const { status, id, message } = error
      const limits = {
        'ratelimit-limit': '5000',
        'ratelimit-remaining': '0',
        'ratelimit-reset': String(Math.floor(Date.now() / 1000) + this.resetAfter),
        ...(this.retryAfter !== null && { 'retry-after': String(this.retryAfter) }),
      }
      return { status, body: { id, message }, ...(status === 429 && { headers: limits }) }
    }
  }

  #route(request: ApiRequest): ApiResponse {
    const { method, path, query, body } = request
    const [, first, name, records, recordId, ...more] = path.split('/').map(decodeURIComponent)
    if (first === 'account' && name === undefined && method === 'GET') return this.#account()
    if (first !== 'domains' || more.length > 0) throw notFound()
    if (name === undefined) {
      if (method === 'GET') return this.#listed(request, 'domains', () => this.domains.map(shown))
      if (method === 'POST') return { status: 201, body: { domain: { ...shown(this.#create(body)), zone_file: null } } }
      throw notFound()
    }
    const domain = this.domains.find(one => one.name === name)
    if (!domain) throw notFound()
    if (records === undefined) {
      if (method === 'GET') return { status: 200, body: { domain: shown(domain) } }
      if (method !== 'DELETE') throw notFound()
      this.domains.splice(this.domains.indexOf(domain), 1)
      return { status: 204 }
    }
    if (records !== 'records') throw notFound()
    if (recordId === undefined) {
      if (method === 'GET') return this.#listed(request, 'domain_records', () => rowsFor(domain, query))
      if (method === 'POST') return { status: 201, body: { domain_record: domain.create(body) } }
      throw notFound()
    }
    if (!/^\d+$/.test(recordId)) throw notFound()
    const id = Number(recordId)
    if (method === 'GET') return { status: 200, body: { domain_record: domain.get(id) } }
    if (method === 'PUT' || method === 'PATCH') return { status: 200, body: { domain_record: domain.update(id, body) } }
    if (method !== 'DELETE') throw notFound()
    domain.delete(id)
    return { status: 204 }
  }

  #account(): ApiResponse {
    if (!this.readsAccount)
      throw new DigitalOceanRefused(403, 'Forbidden', 'You are missing the required permission account:read')
    const team = { name: 'Acme', uuid: '5df3e3004a17e242b7c20ca6c9fc25b701a47ece' }
    return { status: 200, body: { account: { email: 'admin@example.com', email_verified: true, status: 'active', team } } }
  }

  #create(body: any): DigitalOceanDomain {
    const { name, ip_address, ...others } = body
    if (Object.keys(others).length > 0) throw unprocessable(`${Object.keys(others)[0]} is not an attribute`)
    if (typeof name !== 'string' || !/^(?:[a-z0-9-]+\.)+[a-z]+$/.test(name)) throw unprocessable('Name is invalid')
    if (this.domains.some(one => one.name === name)) throw unprocessable('Name already exists')
    const domain = this.domain(name)
    if (ip_address !== undefined) domain.create({ type: 'A', name: '@', data: ip_address })
    return domain
  }

  #listed(request: ApiRequest, member: string, rows: () => object[]): ApiResponse {
    const page = Number(request.query.get('page') ?? 1)
    const perPage = Number(request.query.get('per_page') ?? 20)
    if (!Number.isInteger(page) || page < 1 || !Number.isInteger(perPage) || perPage < 1 || perPage > 200)
      throw unprocessable('Page and per_page must be positive, and per_page at most 200')
    this.beforePage(page, request)
    const all = rows()
    const last = Math.max(1, Math.ceil(all.length / perPage))
    const link = (to: number) => `https://api.digitalocean.com/v2${request.path}?page=${to}&per_page=${perPage}`
    const pages = {
      ...(page > 1 && { first: link(1), prev: link(page - 1) }),
      ...(page < last && { next: link(page + 1), last: link(last) }),
    }
    return {
      status: 200,
      body: {
        [member]: all.slice((page - 1) * perPage, page * perPage),
        links: Object.keys(pages).length > 0 ? { pages } : {},
        meta: { total: all.length },
      },
    }
  }
}

const shown = ({ name, ttl, rows }: DigitalOceanDomain) => ({
  name,
  ttl,
  zone_file: [`$ORIGIN ${name}.`, `$TTL ${ttl}`, ...rows.map(one => `${one.name} ${one.ttl} IN ${one.type} ${one.data}`)].join(
    '\n',
  ),
})

/** `name` must be fully qualified. */
function rowsFor({ name: domain, rows }: DigitalOceanDomain, query: URLSearchParams): object[] {
  const [name, type] = [query.get('name'), query.get('type')]
  const fqdn = (below: string) => (below === '@' ? domain : `${below}.${domain}`)
  return rows.filter(one => (name === null || fqdn(one.name) === name) && (type === null || one.type === type))
}

const isJson = ({ body, headers }: ApiRequest): boolean =>
  body !== undefined && /^application\/json\b/.test(headers['content-type'] ?? '')
