import type { FetchLimits } from '../../../core/net/guarded-fetch'
import { requestJson, jsonOf, responseError, type JsonResponse } from '../../../adapters/json-http'
import { ProviderError, type AdapterContext } from './provider'

/** How to access a PowerDNS Authoritative Server. */
interface PowerDnsAccess {
  /** URL of its webserver, with a path if a proxy adds one. */
  url: string
  server_id: string
  api_key: string
  /** PEM certificates to trust instead of the public CAs. */
  ca?: string
}

/** A change that the server rejected as a whole; `reason` is its message, verbatim. */
export class PowerDnsRefusal extends ProviderError {
  constructor(
    readonly reason: string,
    message: string,
  ) {
    super('refused', message)
  }
}

/** Client of the HTTP API of PowerDNS (doc.powerdns.com/authoritative/http-api). */
export class PowerDnsClient {
  readonly #server: string

  constructor(
    private readonly access: PowerDnsAccess,
    private readonly around: AdapterContext,
  ) {
    this.#server = `${apiOf(access.url)}/servers/${encodeURIComponent(access.server_id)}`
  }

  /**
   * @param path below the server path, such as `/zones`
   * @param limits default to those for a whole zone
   * @throws ProviderError
   */
  async get(path: string, limits: FetchLimits = zoneLimits): Promise<unknown> {
    const response = await requestJson(
      this.around,
      { url: this.#server + path, headers: this.#headers(), ...this.#trust() },
      limits,
    )
    if (response.status !== 200) throw this.#errorOf(response, path)
    return jsonOf(response)
  }

  /**
   * @throws PowerDnsRefusal if the change was rejected; another ProviderError if it failed or its outcome is unknown
   */
  async change(method: 'POST' | 'PATCH', path: string, body: object): Promise<unknown> {
    const response = await requestJson(
      this.around,
      {
        url: this.#server + path,
        method,
        headers: { ...this.#headers(), 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...this.#trust(),
      },
      changeLimits,
    )
    if (response.status === 204) return null
    if (response.status === 201) return jsonOf(response)
    throw this.#errorOf(response, path)
  }

  #headers(): Record<string, string> {
    return { 'x-api-key': this.access.api_key, accept: 'application/json' }
  }

  #trust(): { ca?: string } {
    return this.access.ca === undefined ? {} : { ca: this.access.ca }
  }

  #errorOf(response: JsonResponse, path: string): ProviderError {
    const text = errorText(response)
    const error = responseError(response, this.around, { text, credentials: 'API key', secrets: [this.access.api_key] })
    if (error.failure !== 'unauthorized' && (response.status === 404 || missing.test(text)))
      return path.startsWith('/zones/')
        ? new ProviderError('zone_not_found', 'The server has no such zone.')
        : new ProviderError('refused', `The server_id "${this.access.server_id}" is unknown, or the API is not enabled.`)
    return error.failure === 'refused' && response.status < 500 ? new PowerDnsRefusal(text, error.message) : error
  }
}

/** URL of the API, given the URL of a webserver with or without the API path. */
const apiOf = (url: string): string => `${url.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1`

// Zones with 100,000 rrsets are about 20 MB.
const zoneLimits = { totalMs: 60_000, maxBodyBytes: 64 * 1024 * 1024 }
const changeLimits = { totalMs: 60_000, maxBodyBytes: 8 * 1024 * 1024 }

// Versions before 4.7 return this with status 422.
const missing = /^Could not find domain/

const errorText = ({ json, text }: JsonResponse): string => {
  const error = (json as { error?: unknown } | null | undefined)?.error
  return typeof error === 'string' ? error : text
}
