import { jsonOf, retryAfterOf, serverMessage, type JsonResponse } from '../../../adapters/json-http'
import { isObject } from '../../../dns/octets'
import { RegistrarError, type AdapterContext, type RegistrarFailure } from '../registrar'
import { registrarErrorOf, requestRegistrar } from './responses'

/** A JSON API of a registrar. */
interface JsonApi {
  /** Display name of the registrar. */
  title: string
  /** Without a trailing slash. */
  baseUrl: string
  headers: Record<string, string>
  /** Credentials, which the API may echo. */
  secrets: readonly string[]
  /** Message and code of an error response. */
  errorOf(
    json: Record<string, unknown>,
    status: number,
  ): { text: string; code?: string | null; failure?: RegistrarFailure | null }
  /** Whether a response with a successful status is an error. */
  isError?(json: Record<string, unknown>): boolean
  /** Milliseconds after which to try again, if a throttled response has no `Retry-After`. */
  retryMs?(response: JsonResponse): number | null
}

/** Client of a JSON API that reports errors by status. */
export class JsonApiClient {
  constructor(
    private readonly api: JsonApi,
    private readonly around: AdapterContext,
  ) {}

  /** @throws RegistrarError */
  async get(path: string): Promise<JsonResponse> {
    return await this.#send('GET', path)
  }

  /** @throws RegistrarError */
  async post(path: string, body: object): Promise<JsonResponse> {
    return await this.#send('POST', path, body)
  }

  /** The JSON object in a response. @throws RegistrarError `invalid_response` */
  objectOf(value: unknown, what: string): Record<string, unknown> {
    if (!isObject(value)) throw this.invalid(`has no ${what}`)
    return value
  }

  /** A list of JSON objects in a response. @throws RegistrarError `invalid_response` */
  listOf(value: unknown, what: string): Record<string, unknown>[] {
    if (!Array.isArray(value) || !value.every(isObject)) throw this.invalid(`has no list of ${what}`)
    return value
  }

  /** The response is not what was expected. @param what as the end of a sentence */
  invalid(what: string): RegistrarError {
    return new RegistrarError('invalid_response', `The response of ${this.api.title} ${what}.`)
  }

  async #send(method: 'GET' | 'POST', path: string, body?: object): Promise<JsonResponse> {
    const { baseUrl, headers } = this.api
    const response = await requestRegistrar(this.around, {
      url: baseUrl + path,
      method,
      headers: { accept: 'application/json', ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const { status, json } = response
    if (status < 200 || status >= 300 || (isObject(json) && this.api.isError?.(json))) throw this.#errorOf(response)
    try {
      jsonOf(response)
      return response
    } catch (error) {
      throw registrarErrorOf(error)
    }
  }

  #errorOf(response: JsonResponse): RegistrarError {
    const { title, secrets } = this.api
    const { status, json } = response
    const { text = '', code = null, failure = null } = isObject(json) ? this.api.errorOf(json, status) : {}
    const vendorCode = code === null ? null : serverMessage(code, secrets).slice(0, 100)
    const shown = serverMessage(text, secrets)
    const detail = `(${status})${shown === '' ? '.' : `: ${shown}`}`
    if (status === 429 || failure === 'throttled') {
      const retryAfterMs = retryAfterOf(response, this.around) ?? this.api.retryMs?.(response) ?? defaultRetryMs
      return new RegistrarError('throttled', `${title} limits the rate of requests ${detail}`, { retryAfterMs, vendorCode })
    }
    if (failure !== null) return new RegistrarError(failure, `${title} rejected the request ${detail}`, { vendorCode })
    if (status === 401 || status === 403)
      return new RegistrarError('unauthorized', `${title} rejected the credentials ${detail}`, { vendorCode })
    if (status >= 500) return new RegistrarError('unreachable', `${title} responded with an error ${detail}`, { vendorCode })
    // Web servers that aren’t the API respond with 404, too.
    if (status === 404 && isObject(json))
      return new RegistrarError('not_found', `${title} found nothing ${detail}`, { vendorCode })
    if (status < 300 || (status >= 400 && status !== 404))
      return new RegistrarError('refused', `${title} rejected the request ${detail}`, { vendorCode })
    return new RegistrarError('invalid_response', `${title} responded with an unexpected status ${detail}`)
  }
}

const defaultRetryMs = 60_000

/** Null if the registrar says that it doesn’t have what was asked for. @throws RegistrarError for other failures */
export async function unlessNotFound<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call
  } catch (error) {
    if (error instanceof RegistrarError && error.failure === 'not_found') return null
    throw error
  }
}
