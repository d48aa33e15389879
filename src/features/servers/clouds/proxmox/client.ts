import { jsonOf, proxiedError, requestJson, serverMessage, type JsonResponse } from '../../../../adapters/json-http'
import type { FetchLimits } from '../../../../core/net/guarded-fetch'
import { isObject } from '../../../../dns/octets'
import { CloudError, type AdapterContext } from '../cloud'
import { failureOf } from './failures'

/** How to access the API. */
interface ProxmoxAccess {
  /** Without a trailing slash and the path of the API. */
  url: string
  token_id: string
  token_secret: string
  /** SHA-256 fingerprint of the certificate, unless public CAs vouch for it. */
  fingerprint?: string
}

/** Parameters of a call; undefined ones are not sent. */
type Parameters = Record<string, string | number | undefined>

/** A node of the cluster did not respond to the one that was asked. */
export class NodeUnreachable extends CloudError {}

/** Client of the API of Proxmox VE (pve.proxmox.com/pve-docs/api-viewer). Responses are `{data: …}`. */
export class ProxmoxClient {
  constructor(
    private readonly access: ProxmoxAccess,
    private readonly around: AdapterContext,
  ) {}

  /** Reads `data`. @param limits default to those of a list */
  async get(path: string, query: Parameters = {}, limits: FetchLimits = listLimits): Promise<unknown> {
    return (await this.getDated(path, query, limits)).data
  }

  /** Also returns how far the clock of the server is ahead of ours, in milliseconds. Its response tells only the second. */
  async getDated(path: string, query: Parameters, limits: FetchLimits = listLimits): Promise<{ data: unknown; aheadMs: number }> {
    const response = await this.#send('GET', path, query, limits)
    const data = dataOf(response)
    if (data === null || data === undefined) throw new CloudError('invalid_response', 'The response of Proxmox has no data.')
    const date = Date.parse(response.headers.get('date') ?? '')
    return { data, aheadMs: Number.isNaN(date) ? 0 : date - this.around.clock.now() }
  }

  /** Makes a change. Returns null if Proxmox returns nothing. @throws CloudError as `mayHaveApplied` tells */
  async change(method: 'POST' | 'PUT' | 'DELETE', path: string, parameters: Parameters = {}): Promise<unknown> {
    return dataOf(await this.#send(method, path, parameters, changeLimits)) ?? null
  }

  /** Makes a change that Proxmox works on. Returns the id of its task. */
  async begin(method: 'POST' | 'PUT' | 'DELETE', path: string, parameters: Parameters = {}): Promise<string> {
    const data = await this.change(method, path, parameters)
    if (typeof data !== 'string' || !data.startsWith('UPID:'))
      throw new CloudError('invalid_response', 'The response of Proxmox has no task.', null, true)
    return data
  }

  /** A text of Proxmox for people: a single line without the secret. */
  message(text: string): string {
    return serverMessage(text, [this.access.token_secret])
  }

  async #send(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    parameters: Parameters,
    limits: FetchLimits,
  ): Promise<JsonResponse> {
    const { url, token_id, token_secret, fingerprint } = this.access
    const sent = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
    const form = new URLSearchParams(sent).toString()
    const isInBody = method === 'POST' || method === 'PUT'
    const response = await requestJson(
      this.around,
      {
        url: `${url}/api2/json${path}${isInBody || form === '' ? '' : `?${form}`}`,
        method,
        headers: {
          authorization: `PVEAPIToken=${token_id}=${token_secret}`,
          accept: 'application/json',
          ...(isInBody && { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        ...(isInBody && { body: form }),
        ...(fingerprint !== undefined && { pin: fingerprint }),
      },
      limits,
    )
    if (response.status !== 200) throw this.#errorOf(response)
    return response
  }

  #errorOf(response: JsonResponse): CloudError {
    const { status } = response
    const { message, errors } = isObject(response.json) ? response.json : {}
    const fields = isObject(errors) ? Object.entries(errors).map(([name, text]) => `${name}: ${String(text)}`) : []
    // Versions before 8.4 have the message only in the status line.
    const text = [typeof message === 'string' && message.trim() !== '' ? message.trim() : response.reason, ...fields].join(' ')
    const found = failureOf(status, text)
    if (!found)
      return proxiedError(response, this.around, { text, credentials: 'API token', secrets: [this.access.token_secret] })
    const Failure = found.failure === 'unreachable' ? NodeUnreachable : CloudError
    return new Failure(found.failure, this.message(`${found.title}: ${text}`), null, found.ambiguous)
  }
}

function dataOf(response: JsonResponse): unknown {
  const json = jsonOf(response)
  if (!isObject(json) || !('data' in json)) throw new CloudError('invalid_response', 'The response is not from Proxmox VE.')
  return json.data
}

// A cluster with 5,000 guests is about 3 MB.
const listLimits = { totalMs: 30_000, maxBodyBytes: 16 * 1024 * 1024 }
// Calls that wait for a lock fail after 10 seconds; changes of a configuration can wait for storage.
const changeLimits = { totalMs: 60_000, maxBodyBytes: 1024 * 1024 }
