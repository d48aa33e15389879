import { jsonOf, retryAfterOf, serverMessage, type JsonResponse } from '../../../adapters/json-http'
import { isObject } from '../../../dns/octets'
import { RegistrarError, type AdapterContext, type RegistrarFailure } from '../registrar'
import { requestRegistrar } from './responses'

/** How to access the API. */
interface PorkbunAccess {
  /** Without a trailing slash. */
  base_url: string
  api_key: string
  secret_api_key: string
}

/** Client of the Porkbun API, version 3 (porkbun.com/api/json/v3/documentation). Errors can have the status 200. */
export class PorkbunClient {
  constructor(
    private readonly access: PorkbunAccess,
    private readonly around: AdapterContext,
  ) {}

  /** @throws RegistrarError */
  async get(path: string): Promise<Record<string, unknown>> {
    return await this.#send({ path, method: 'GET' })
  }

  /** @throws RegistrarError */
  async post(path: string, body: object): Promise<Record<string, unknown>> {
    return await this.#send({ path, method: 'POST', body })
  }

  async #send({ path, method, body }: { path: string; method: 'GET' | 'POST'; body?: object }): Promise<Record<string, unknown>> {
    const { base_url, api_key, secret_api_key } = this.access
    const response = await requestRegistrar(this.around, {
      url: base_url + path,
      method,
      headers: {
        'x-api-key': api_key,
        'x-secret-api-key': secret_api_key,
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return this.#bodyOf(response)
  }

  /** Returns the body of a successful response. */
  #bodyOf(response: JsonResponse): Record<string, unknown> {
    const { status, json } = response
    if (isObject(json) && json.status === 'ERROR') throw this.#refused(response, json)
    if (status === 429) throw this.#throttled(response, {})
    // Errors of proxies in front of the API are HTML.
    if (status >= 500) throw new RegistrarError('unreachable', `Porkbun responded with status ${status}.`)
    if (status === 401 || status === 403) throw new RegistrarError('unauthorized', `Porkbun rejected the API keys (${status}).`)
    if (status >= 300) throw new RegistrarError('invalid_response', `Porkbun responded with the unexpected status ${status}.`)
    const body = this.#json(response)
    if (!isObject(body) || body.status !== 'SUCCESS') throw invalidResponse('has an unexpected format')
    return body
  }

  #json(response: JsonResponse): unknown {
    try {
      return jsonOf(response)
    } catch (error) {
      const { failure, message } = error as RegistrarError
      throw new RegistrarError(failure, message)
    }
  }

  #refused(response: JsonResponse, { code, message, ttlRemaining }: Record<string, unknown>): RegistrarError {
    const vendorCode = typeof code === 'string' ? code.slice(0, 100) : null
    if (response.status === 429 || vendorCode === 'RATE_LIMIT_EXCEEDED') return this.#throttled(response, { ttlRemaining })
    const text = this.#textOf(message)
    const failure = failures[vendorCode ?? ''] ?? 'refused'
    return failure === 'unauthorized'
      ? new RegistrarError(failure, `Porkbun rejected the API keys: ${text}`, { vendorCode })
      : new RegistrarError(failure, `Porkbun rejected the request: ${text}`, { vendorCode })
  }

  #throttled(response: JsonResponse, { ttlRemaining }: { ttlRemaining?: unknown }): RegistrarError {
    const seconds = Number(ttlRemaining)
    const told = retryAfterOf(response, this.around)
    const retryAfterMs = told ?? (seconds > 0 && seconds <= maxWaitSeconds ? seconds * 1000 : defaultWaitMs)
    return new RegistrarError('throttled', 'Porkbun limits the rate of requests.', {
      retryAfterMs,
      vendorCode: 'RATE_LIMIT_EXCEEDED',
    })
  }

  #textOf(message: unknown): string {
    const { api_key, secret_api_key } = this.access
    return serverMessage(typeof message === 'string' ? message : 'no reason was given', [api_key, secret_api_key])
  }
}

const failures: Readonly<Record<string, RegistrarFailure>> = {
  __proto__: null!,
  API_KEY_REQUIRED: 'unauthorized',
  INVALID_API_KEYS_001: 'unauthorized',
  INVALID_TOKEN: 'unauthorized',
  INVALID_USER: 'unauthorized',
  // Either the name is invalid, or it is not in this account.
  INVALID_DOMAIN: 'not_found',
  DOMAIN_NOT_AVAILABLE: 'unavailable',
  INSUFFICIENT_FUNDS: 'funds',
}

const defaultWaitMs = 60_000
const maxWaitSeconds = 86_400

export const invalidResponse = (what: string) => new RegistrarError('invalid_response', `The response of Porkbun ${what}.`)
