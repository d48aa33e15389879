import type { ApiRequest, ApiResponse } from './api-double'
import { RegistrarDouble, type AccountDomain } from './registrar-double'
import type { RegistryDouble } from './registry-double'

const pageSize = 1000

class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly more: object = {},
  ) {
    super(message)
  }
}

/** An account at Porkbun (API version 3). */
export class PorkbunDouble extends RegistrarDouble {
  readonly apiKey = `pk1_${'a'.repeat(60)}`
  readonly secretApiKey = `sk1_${'b'.repeat(60)}`
  balanceCents = 4120
  /** Names without API access. */
  readonly withoutAccess = new Set<string>()
  /** Names that only have their DNS here. */
  readonly notLocal = new Set<string>()
  /** Years that a registration takes at least, by TLD. */
  readonly minYears = new Map<string, number>()
  /** The check of a name is limited to one in 10 seconds. */
  isCheckLimited = false

  constructor(registry: RegistryDouble) {
    super(registry, 'Porkbun LLC', '/api/json/v3')
  }

  protected answer(request: ApiRequest, fault: Parameters<RegistrarDouble['answer']>[1]): ApiResponse {
    try {
      if (fault === 'throttled') throw tooManyRequests
      if (fault) throw new Refused(fault.status, fault.code, fault.message ?? fault.code)
      this.#refuseCaller(request)
      return { status: 200, body: { status: 'SUCCESS', ...this.#route(request) } }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const { status, code, message, more } = error
      return { status, body: { status: 'ERROR', code, message, requestId: 'req_1', ...more } }
    }
  }

  #refuseCaller({ method, headers, body }: ApiRequest): void {
    if (method === 'POST' && (typeof body !== 'object' || body === null))
      throw new Refused(400, 'INVALID_OR_EMPTY_JSON', 'Invalid JSON.')
    const [key, secret] = [headers['x-api-key'] ?? body?.apikey, headers['x-secret-api-key'] ?? body?.secretapikey]
    if (key === undefined || secret === undefined)
      throw new Refused(400, 'API_KEY_REQUIRED', 'All API requests require an API key.')
    if (key !== this.apiKey || secret !== this.secretApiKey)
      throw new Refused(403, 'INVALID_API_KEYS_001', `Invalid API key: ${key} ${secret}`)
  }

  #route({ method, path, query }: ApiRequest): object {
    const [, area, call, text] = /^\/(\w+)\/(\w+)(?:\/([^/]+))?$/.exec(path) ?? []
    const name = decodeURIComponent(text ?? '').toLowerCase()
    switch (`${method} ${area}/${call}`) {
      case 'GET account/balance':
        return { balance: this.balanceCents }
      case 'GET domain/listAll': {
        const start = Number(query.get('start') ?? 0)
        this.beforePage(start / pageSize, { path } as ApiRequest)
        return {
          domains: this.listed()
            .slice(start, start + pageSize)
            .map(one => this.#row(one)),
        }
      }
      case 'GET domain/get':
        return { domain: this.#row(this.#own(name)) }
      case 'GET domain/getNs':
        return { ns: this.#own(name).nameservers }
      case 'POST domain/checkDomain':
        return this.#offer(name)
      default:
        throw new Refused(404, 'NOT_FOUND', `No such call: ${path}`)
    }
  }

  #own(name: string): AccountDomain {
    const held = this.held(name)
    if (!held) throw new Refused(400, 'INVALID_DOMAIN', 'Invalid domain.')
    return held
  }

  /** Flags are numbers or, in older accounts, texts. */
  #row({ name, registered, expires, autoRenew, locked, privacy }: AccountDomain): object {
    const time = (iso: string) => iso.slice(0, 19).replace('T', ' ')
    return {
      domain: name,
      status: 'ACTIVE',
      tld: name.slice(name.indexOf('.') + 1),
      createDate: time(registered),
      expireDate: time(expires),
      securityLock: locked ? '1' : '0',
      whoisPrivacy: privacy ? '1' : '0',
      autoRenew: autoRenew ? 1 : 0,
      apiAccess: this.withoutAccess.has(name) ? 0 : 1,
      notLocal: this.notLocal.has(name) ? 1 : 0,
    }
  }

  #offer(name: string): object {
    const limits = { TTL: '10', limit: '1', used: 1 }
    if (this.isCheckLimited)
      throw new Refused(200, 'RATE_LIMIT_EXCEEDED', '1 out of 1 checks within 10 seconds used.', { ttlRemaining: 7 })
    const isPremium = this.premium.has(name)
    return {
      response: {
        avail: this.registry.names.has(name) ? 'no' : 'yes',
        type: 'registration',
        price: isPremium ? '1,250.00' : '9.73',
        firstYearPromo: 'no',
        regularPrice: isPremium ? '1,250.00' : '9.73',
        premium: isPremium ? 'yes' : 'no',
        minDuration: this.minYears.get(name.slice(name.lastIndexOf('.') + 1)) ?? 1,
        additional: {
          renewal: { type: 'renewal', price: '10.37', regularPrice: '10.37' },
          transfer: { type: 'transfer', price: '9.73', regularPrice: '9.73' },
        },
      },
      limits,
    }
  }
}

const tooManyRequests = new Refused(429, 'RATE_LIMIT_EXCEEDED', 'Rate limit exceeded.', { ttlRemaining: 12 })
