import type { ApiRequest, ApiResponse } from './api-double'
import { RegistrarDouble, type AccountDomain } from './registrar-double'
import type { RegistryDouble } from './registry-double'

class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly title = 'Bad Request',
  ) {
    super(message)
  }
}

/** An account at Gandi (API version 5). */
export class GandiDouble extends RegistrarDouble {
  /** Ids of the organization of the request, in order. */
  readonly payers: (string | null)[] = []
  /** DNSSEC keys and host records by domain. */
  readonly keys = new Map<string, object[]>()
  readonly hosts = new Map<string, object[]>()
  /** Statuses of checks, by name. */
  readonly checkStatuses = new Map<string, string>()
  /** The shortest registration in years, by name. */
  readonly minYears = new Map<string, number>()

  constructor(registry: RegistryDouble) {
    super(registry, 'Gandi SAS', '/v5')
  }

  protected answer(request: ApiRequest, fault: Parameters<RegistrarDouble['answer']>[1]): ApiResponse {
    try {
      if (fault === 'throttled') throw new Refused(429, 'Too many requests', 'Too Many Requests')
      if (fault) throw new Refused(fault.status, fault.message ?? fault.code)
      return { status: 200, ...this.#route(request) }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const { status, message, title } = error
      return { status, body: { cause: title, code: status, message, object: 'HTTP' } }
    }
  }

  #route({ method, path, query, headers }: ApiRequest): Omit<ApiResponse, 'status'> {
    if (headers.authorization !== `Bearer ${this.token}`)
      throw new Refused(401, `The server could not verify ${headers.authorization}`, 'Unauthorized')
    this.payers.push(query.get('sharing_id'))
    if (`${method} ${path}` === 'GET /domain/domains') return this.#list(query)
    if (`${method} ${path}` === 'GET /domain/check') return { body: this.#check(query) }
    const [, text, below = ''] = /^\/domain\/domains\/([^/]+)(\/\w+)?$/.exec(path) ?? []
    const held = method === 'GET' && text !== undefined ? this.held(decodeURIComponent(text).toLowerCase()) : null
    if (!held) throw new Refused(404, 'The resource you are looking for is not found.', 'Not Found')
    if (below === '/dnskeys') return { body: this.keys.get(held.name) ?? [] }
    if (below === '/hosts') return { body: this.hosts.get(held.name) ?? [] }
    return { body: this.#single(held) }
  }

  #list(query: URLSearchParams): Omit<ApiResponse, 'status'> {
    const [page, perPage] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 100)]
    this.beforePage(page, { path: '/domain/domains' } as ApiRequest)
    const all = this.listed()
    const rows = all.slice((page - 1) * perPage, page * perPage).map(one => ({
      ...this.#common(one),
      autorenew: one.autoRenew,
      nameserver: { current: 'other', hosts: one.nameservers },
    }))
    return { body: rows, headers: { 'total-count': String(all.length) } }
  }

  #common({ name, registered, expires, locked }: AccountDomain) {
    return {
      fqdn: name,
      fqdn_unicode: name,
      href: `${this.url}/domain/domains/${name}`,
      tld: name.slice(name.indexOf('.') + 1),
      status: [
        ...(locked ? ['clientTransferProhibited'] : []),
        ...(this.registry.names.get(name)?.statuses ?? []).map(one =>
          one.replaceAll(/ (\w)/g, (_, letter) => letter.toUpperCase()),
        ),
      ],
      dates: { registry_created_at: registered, registry_ends_at: expires, updated_at: '2026-11-01T00:00:00Z' },
    }
  }

  #single(held: AccountDomain): object {
    return {
      ...this.#common(held),
      autorenew: { enabled: held.autoRenew, duration: 1, dates: [], org_id: 'o' },
      can_tld_lock: !held.name.endsWith('.fr'),
      nameservers: held.nameservers,
      contacts: {},
      authinfo: 'secret-code',
    }
  }

  #check(query: URLSearchParams): object {
    const name = query.get('name') ?? ''
    const status = this.checkStatuses.get(name) ?? (this.registry.names.has(name) ? 'unavailable' : 'available')
    const isPremium = this.premium.has(name)
    const minYears = this.minYears.get(name) ?? 1
    const prices: Record<string, number> = { create: 12.5, renew: 18.6, restore: 120, transfer: 12.5 }
    const products = query.getAll('processes').map(process => {
      const perYear = isPremium ? 1200 : prices[process]!
      const step = (min: number, max: number, price: number) => ({
        ...{ min_duration: min, max_duration: max, duration_unit: 'y', discount: false },
        ...{ price_before_taxes: price, price_after_taxes: price * 1.2, type: isPremium ? 'premium' : null },
        ...{ normal_price_before_taxes: price, normal_price_after_taxes: price * 1.2 },
      })
      const isPriced = status === 'available'
      return {
        name,
        process,
        status,
        // Longer registrations first, which are cheaper for each year.
        ...(isPriced && { prices: [step(minYears + 1, 9, perYear - 1), step(minYears, minYears, perYear)] }),
        taxes: [{ name: 'vat', rate: 20, type: 'service' }],
      }
    })
    return { currency: query.get('currency') ?? 'EUR', grid: 'A', products, taxes: [{ name: 'vat', rate: 20 }] }
  }
}
