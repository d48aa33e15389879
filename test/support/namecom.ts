import type { ApiRequest, ApiResponse } from './api-double'
import { checkNamecomResponse } from './namecom-schema'
import { RegistrarDouble, type AccountDomain } from './registrar-double'
import type { RegistryDouble } from './registry-double'

class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message)
  }
}

const contact = {
  firstName: 'Ada',
  lastName: 'Example',
  companyName: null,
  address1: '5 Example Street',
  city: 'Paris',
  state: '',
  zip: '75001',
  country: 'FR',
  email: 'hostmaster@example.com',
  phone: '+33123456789',
}

/** An account at Name.com (Core API 1.7). All responses are valid by the published description. */
export class NamecomDouble extends RegistrarDouble {
  readonly username = 'ada'
  balance = 41.2
  /** Names sold by their owners. */
  readonly aftermarket = new Set<string>()
  /** DS records and host records by domain. */
  readonly ds = new Map<string, object[]>()
  readonly glue = new Map<string, object[]>()
  /** Top-level domains that are not sold. */
  readonly unsold = new Set<string>(['zz'])
  /** Reasons why the registry can’t be asked, by name. */
  readonly reasons = new Map<string, string>()
  /** Seconds since 1970 at which the rate limit ends. */
  resetAt = 0

  constructor(registry: RegistryDouble) {
    super(registry, 'Name.com, Inc.', '/core/v1')
  }

  protected answer(request: ApiRequest, fault: Parameters<RegistrarDouble['answer']>[1]): ApiResponse {
    if (fault && fault !== 'throttled') return { status: fault.status, body: { message: fault.message ?? fault.code } }
    try {
      if (fault) throw this.#throttled()
      this.#refuseCaller(request)
      return this.#answer(request, 200, this.#route(request))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const { status, message, headers } = error
      return { ...this.#answer(request, status, { message, details: message }), headers }
    }
  }

  #answer(request: ApiRequest, status: number, body: object): ApiResponse {
    checkNamecomResponse(request, status, body)
    return { status, body }
  }

  #throttled(): Refused {
    return new Refused(429, 'Rate Limit Exceeded', { 'x-ratelimit-reset': String(this.resetAt) })
  }

  #refuseCaller({ method, headers }: ApiRequest): void {
    const expected = `Basic ${Buffer.from(`${this.username}:${this.token}`).toString('base64')}`
    if (headers.authorization !== expected) throw new Refused(401, `Unauthorized: ${headers.authorization}`)
    if (method === 'POST' && headers['content-type'] !== 'application/json') throw new Refused(415, 'Unsupported Media Type')
  }

  #route({ method, path, query, body }: ApiRequest): object {
    const [, text, below = ''] = /^\/domains\/([^/]+)(\/\w+)?$/.exec(path) ?? []
    const name = decodeURIComponent(text ?? '').toLowerCase()
    if (`${method} ${path}` === 'GET /accountinfo/balance') return { balance: this.balance }
    if (`${method} ${path}` === 'GET /domains') return this.#list(query)
    if (`${method} ${path}` === 'POST /domains:checkAvailability') return this.#check(body.domainNames)
    if (method !== 'GET' || name === '') throw new Refused(404, 'Not Found')
    const held = this.#own(name)
    if (below === '/dnssec') return { dnssec: this.ds.get(name) ?? [] }
    if (below === '/vanity_nameservers') return { vanityNameservers: this.glue.get(name) ?? [] }
    return this.#row(held)
  }

  #list(query: URLSearchParams): object {
    const [page, perPage] = [Number(query.get('page') ?? 1), Number(query.get('perPage') ?? 250)]
    if (perPage > 1000) throw new Refused(400, 'Bad Request')
    this.beforePage(page, { path: '/domains' } as ApiRequest)
    const all = this.listed()
    const rows = all.slice((page - 1) * perPage, page * perPage)
    return {
      domains: rows.map(one => this.#row(one)),
      from: (page - 1) * perPage + 1,
      to: (page - 1) * perPage + rows.length,
      totalCount: all.length,
      ...(page * perPage < all.length && { nextPage: page + 1, lastPage: Math.ceil(all.length / perPage) }),
    }
  }

  #own(name: string): AccountDomain {
    const held = this.held(name)
    if (!held) throw new Refused(404, 'Not Found')
    return held
  }

  #row({ name, registered, expires, autoRenew, locked, privacy, nameservers }: AccountDomain): object {
    return {
      domainName: name,
      createDate: registered,
      expireDate: expires,
      autorenewEnabled: autoRenew,
      locked,
      locks: locked ? ['clientTransferProhibited'] : [],
      privacyEnabled: privacy,
      contacts: { registrant: contact, admin: contact, tech: contact, billing: contact },
      nameservers,
      renewalPrice: 15.99,
    }
  }

  /** In any order, and without names of top-level domains that are not sold. */
  #check(names: string[]): object {
    if (!Array.isArray(names) || names.length > 50) throw new Refused(400, 'Bad Request')
    const sold = names.filter(name => !this.unsold.has(name.split('.').at(-1)!))
    if (sold.length === 0) throw new Refused(422, 'None of the submitted domains are valid')
    const results = sold.map(domainName => {
      const [sld, tld] = [domainName.split('.')[0], domainName.split('.').slice(1).join('.')]
      const reason = this.reasons.get(domainName)
      const isTaken = this.registry.names.has(domainName) && !this.aftermarket.has(domainName)
      if (isTaken || reason !== undefined) return { domainName, sld, tld, purchasable: false, ...(reason && { reason }) }
      const isPremium = this.premium.has(domainName)
      return {
        ...{ domainName, sld, tld, purchasable: true, premium: isPremium },
        purchasePrice: isPremium ? 1250 : 10.99,
        purchaseType: this.aftermarket.has(domainName) ? 'aftermarket_s' : 'registration',
        renewalPrice: isPremium ? 1250 : 15.99,
      }
    })
    return { results: results.reverse() }
  }
}
