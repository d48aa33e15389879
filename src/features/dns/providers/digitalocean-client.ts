import { incompleteList, readNumberedPages, type NumberedPage } from '../../../adapters/numbered-pages'
import { jsonOf, requestJson, retryAfterOf, serverMessage, type JsonResponse } from '../../../adapters/json-http'
import { isObject } from '../../../dns/octets'
import { ProviderError, type AdapterContext } from './provider'

/** How to access the API. */
interface DigitalOceanAccess {
  /** Without a trailing slash. */
  base_url: string
  api_token: string
}

/** Client of the API, version 2 (docs.digitalocean.com/reference/api). */
export class DigitalOceanClient {
  constructor(
    private readonly access: DigitalOceanAccess,
    private readonly around: AdapterContext,
  ) {}

  /** @throws ProviderError; `zone_not_found` for status 404 */
  async get(path: string): Promise<Record<string, unknown>> {
    const json = jsonOf(await this.#send('GET', path))
    if (!isObject(json)) throw invalidResponse('is not a JSON object')
    return json
  }

  /** Sends a change. @throws ProviderError as `mayHaveApplied` tells */
  async change(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<unknown> {
    const response = await this.#send(method, path, body)
    return method === 'DELETE' ? undefined : jsonOf(response)
  }

  /**
   * Reads a complete list.
   * @param query with other parameters than the page
   * @param member of the response with the rows
   * @param id field that identifies a row
   */
  async all(path: string, query: Record<string, string>, member: string, id: string): Promise<Record<string, unknown>[]> {
    return await readNumberedPages(this.around.clock, page => this.#page(path, query, member, id, page))
  }

  async #page(path: string, query: Record<string, string>, member: string, id: string, page: number): Promise<NumberedPage> {
    const search = new URLSearchParams({ ...query, page: String(page), per_page: String(perPage) })
    const { [member]: rows, meta, links } = await this.get(`${path}?${search}`)
    if (!Array.isArray(rows) || !rows.every(isObject)) throw invalidResponse(`has no list of ${member}`)
    const totalCount = isObject(meta) ? meta.total : undefined
    if (!Number.isSafeInteger(totalCount) || (totalCount as number) < 0) throw incompleteList('the total is missing')
    const pages = isObject(links) && isObject(links.pages) ? links.pages : {}
    if ((typeof pages.next === 'string') !== page * perPage < (totalCount as number))
      throw incompleteList(`the links of page ${page} do not match ${String(totalCount)} rows`)
    if (rows.some(row => row[id] === undefined)) throw invalidResponse(`has a row without ${id}`)
    return {
      rows: rows.map(row => ({ ...row, id: row[id] })),
      page,
      perPage,
      totalCount: totalCount as number,
      totalPages: null,
    }
  }

  async #send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<JsonResponse> {
    const response = await requestJson(
      this.around,
      {
        url: this.access.base_url + path,
        method,
        headers: {
          authorization: `Bearer ${this.access.api_token}`,
          accept: 'application/json',
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      },
      limits,
    )
    if (response.status < 300) return response
    throw this.#errorOf(response)
  }

  #errorOf(response: JsonResponse): ProviderError {
    const { status, json } = response
    const { id, message } = isObject(json) ? json : {}
    const shown = (one: string) => serverMessage(one, [this.access.api_token])
    const code = typeof id === 'string' ? ` (${shown(id)})` : ''
    const text = typeof message === 'string' ? `: ${shown(message)}${code}` : '.'
    const rejected = `DigitalOcean rejected the request (${status})${text}`
    if (status === 429) return new ProviderError('throttled', `DigitalOcean rate limit exceeded${text}`, this.#retryMs(response))
    if (status === 401 || status === 403) return new ProviderError('unauthorized', rejected)
    if (status === 404 && id === 'not_found') return new ProviderError('zone_not_found', rejected)
    if (status >= 500) return new ProviderError('unreachable', `DigitalOcean responded with status ${status}${text}`, null, true)
    if (status >= 400 && status !== 404) return new ProviderError('refused', rejected, null, false)
    return invalidResponse(`has the unexpected status ${status}`)
  }

  /** `Retry-After` is sent only for the limit per minute. Otherwise, the oldest request of the last hour ends at `RateLimit-Reset`. */
  #retryMs(response: JsonResponse): number | null {
    const reset = Number(response.headers.get('ratelimit-reset') ?? NaN) * 1000 - this.around.clock.now()
    return retryAfterOf(response, this.around) ?? (reset > 0 ? Math.min(reset, maxResetMs) : null)
  }
}

// Maximum of the API.
const perPage = 200
const maxResetMs = 3_600_000
const limits = { totalMs: 60_000, maxBodyBytes: 16 * 1024 * 1024 }

const invalidResponse = (what: string) => new ProviderError('invalid_response', `The response of DigitalOcean ${what}.`)
