import { jsonOf, requestJson, responseError, serverMessage, type JsonResponse } from '../../../../adapters/json-http'
import { isObject } from '../../../../dns/octets'
import { CloudError, type AdapterContext } from '../controller'

/** How to access a Redfish service. */
interface RedfishAccess {
  url: string
  user: string
  password: string
  /** SHA-256 fingerprint of the certificate, if it is pinned. */
  fingerprint?: string
}

export type Resource = Record<string, unknown>

/** What an action returned. `monitor`: path of the task that carries it out; null if it is done. */
export interface Accepted {
  monitor: string | null
}

/** Client of a Redfish service (DMTF DSP0266). */
export class RedfishClient {
  readonly #origin: string

  constructor(
    private readonly access: RedfishAccess,
    private readonly around: AdapterContext,
  ) {
    this.#origin = new URL(access.url).origin
  }

  /** Reads a resource. @param path as the service reported it @throws CloudError; `not_found` */
  async get(path: string): Promise<Resource> {
    const response = await this.#send('GET', path)
    if (response.status !== 200) throw this.#errorOf(response)
    return resourceOf(response)
  }

  /** Reads a task or its monitor, which may respond without a body. @throws CloudError */
  async task(path: string): Promise<{ status: number; body: Resource }> {
    const response = await this.#send('GET', path)
    if (response.status >= 300) throw this.#errorOf(response)
    return { status: response.status, body: isObject(response.json) ? response.json : {} }
  }

  /** Starts an action. @throws CloudError */
  async post(path: string, body: object): Promise<Accepted> {
    const response = await this.#send('POST', path, body)
    const { status, headers, json } = response
    if (status >= 300) throw this.#errorOf(response)
    if (status !== 202) return { monitor: null }
    // The location refers to the monitor. Without it, the body is the task.
    const location = headers.get('location')
    const reported = location ?? (isObject(json) ? json['@odata.id'] : undefined)
    return { monitor: typeof reported === 'string' && reported !== '' ? this.#pathOf(reported) : null }
  }

  async #send(method: 'GET' | 'POST', path: string, body?: object): Promise<JsonResponse> {
    const { user, password, fingerprint } = this.access
    return await requestJson(
      this.around,
      {
        url: this.#origin + this.#pathOf(path),
        method,
        headers: {
          authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
          accept: 'application/json',
          'odata-version': '4.0',
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        ...(fingerprint !== undefined && { pin: fingerprint }),
      },
      limits,
    )
  }

  /** The path of a reference. Its host doesn't count: services behind a proxy or a name refer to themselves by other addresses. */
  #pathOf(reference: string): string {
    const url = URL.parse(reference, this.#origin)
    if (!url) throw new CloudError('invalid_response', 'The Redfish service refers to an invalid path.')
    return url.pathname + url.search
  }

  #errorOf(response: JsonResponse): CloudError {
    const { status } = response
    const text = errorText(response)
    const secrets = [this.access.password]
    const error = (failure: 'not_found' | 'locked' | 'refused', what: string) =>
      new CloudError(failure, `${what} (${status}): ${serverMessage(text, secrets)}`, null, false)
    if (status === 404) return error('not_found', 'The Redfish service does not have this resource')
    if (status === 409) return error('locked', 'The Redfish service is busy with another operation')
    if (status === 405 || status === 501) return error('refused', 'The Redfish service does not support this')
    return responseError(response, this.around, { text, credentials: 'user or password', secrets })
  }
}

// BMCs are slow.
const limits = { connectMs: 10_000, totalMs: 30_000, maxBodyBytes: 2 * 1024 * 1024 }

function resourceOf(response: JsonResponse): Resource {
  const json = jsonOf(response)
  if (!isObject(json)) throw new CloudError('invalid_response', 'The response is not a Redfish resource.')
  return json
}

/** The messages of an error response (DSP0266 section 8.6), best first: `@Message.ExtendedInfo` explains the general `message`. */
function errorText({ json, text }: JsonResponse): string {
  const error = isObject(json) && isObject(json.error) ? json.error : {}
  return messagesOf(error['@Message.ExtendedInfo']) || (typeof error.message === 'string' ? error.message : text)
}

/** The texts of a list of messages, in one line. */
export const messagesOf = (list: unknown): string =>
  (Array.isArray(list) ? list : [])
    .map(one => (isObject(one) ? one.Message : undefined))
    .filter(one => typeof one === 'string')
    .join(' ')
