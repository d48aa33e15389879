import type { ApiRequest, ApiResponse } from './api-double'
import { RegistrarDouble, type AccountDomain } from './registrar-double'
import type { RegistryDouble } from './registry-double'

class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

/** An account at Cloudflare Registrar (API version 4). */
export class CloudflareRegistrarDouble extends RegistrarDouble {
  readonly accountId = '0123456789abcdef'.repeat(2)
  /** Statuses other than `active`, by name. */
  readonly statuses = new Map<string, string>()
  /** Top-level domains that can’t be registered, with the reason. */
  readonly closed = new Map<string, string>([['cc', 'extension_not_supported_via_api']])

  constructor(registry: RegistryDouble) {
    super(registry, 'Cloudflare, Inc.', '/client/v4')
  }

  protected answer(request: ApiRequest, fault: Parameters<RegistrarDouble['answer']>[1]): ApiResponse {
    try {
      if (fault === 'throttled') throw new Refused(429, 971, 'Please wait and consider throttling your request speed')
      if (fault) throw new Refused(fault.status, Number(fault.code) || 1000, fault.message ?? fault.code)
      return { status: 200, body: { success: true, errors: [], messages: [], ...this.#route(request) } }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const { status, code, message } = error
      return { status, body: { success: false, errors: [{ code, message }], messages: [], result: null } }
    }
  }

  #route({ method, path, query, body, headers }: ApiRequest): object {
    if (headers.authorization !== `Bearer ${this.token}`)
      throw new Refused(400, 6003, `Invalid request headers: ${headers.authorization}`)
    const [, account, below = ''] = /^\/accounts\/([^/]+)\/registrar(\/.*)$/.exec(path) ?? []
    if (account !== this.accountId) throw new Refused(404, 7003, 'Could not route to the account')
    if (`${method} ${below}` === 'GET /registrations') return this.#list(query)
    if (`${method} ${below}` === 'POST /domain-check') return { result: { domains: this.#check(body.domains) } }
    const [, text] = /^\/registrations\/([^/]+)$/.exec(below) ?? []
    const held = method === 'GET' && text !== undefined ? this.held(decodeURIComponent(text).toLowerCase()) : null
    if (!held) throw new Refused(404, 1000, 'Registration not found')
    return { result: this.#row(held) }
  }

  /** The cursor is the last name of the page before. */
  #list(query: URLSearchParams): object {
    const [perPage, after] = [Number(query.get('per_page') ?? 20), query.get('cursor') ?? '']
    if (perPage > 50) throw new Refused(400, 1004, 'per_page must be at most 50')
    this.beforePage(after === '' ? 1 : 2, { path: after } as ApiRequest)
    const left = this.listed().filter(one => one.name > after)
    const rows = left.slice(0, perPage)
    const cursor = left.length > perPage ? rows.at(-1)!.name : ''
    return { result: rows.map(one => this.#row(one)), result_info: { count: rows.length, cursor, per_page: perPage } }
  }

  #row({ name, registered, expires, autoRenew, locked, privacy }: AccountDomain): object {
    const status = this.statuses.get(name) ?? 'active'
    return {
      domain_name: name,
      status,
      created_at: registered,
      expires_at: status.endsWith('_pending') ? null : expires,
      auto_renew: autoRenew,
      locked,
      privacy_mode: privacy ? 'redaction' : 'off',
    }
  }

  #check(names: string[]): object[] {
    if (!Array.isArray(names) || names.length > 20) throw new Refused(400, 1004, 'At most 20 domains can be checked')
    return names.map(name => {
      const closed = this.closed.get(name.split('.').at(-1)!)
      if (closed !== undefined) return { name, registrable: false, reason: closed }
      if (this.registry.names.has(name)) return { name, registrable: false, reason: 'domain_unavailable' }
      if (this.premium.has(name)) return { name, registrable: false, tier: 'premium', reason: 'domain_premium' }
      const pricing = { currency: 'USD', registration_cost: '9.77', renewal_cost: '10.44' }
      return { name, registrable: true, tier: 'standard', pricing }
    })
  }
}
