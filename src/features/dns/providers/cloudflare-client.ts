import { isObject } from '../../../dns/octets'
import { incompleteList, readNumberedPages, type NumberedPage } from '../../../adapters/numbered-pages'
import { requestJson, jsonOf, serverMessage, retryAfterOf, type JsonResponse } from '../../../adapters/json-http'
import { cloudflareBlockedMs, cloudflareCodes } from '../../../vendors/cloudflare'
import { ProviderError, type ProviderFailure, type AdapterContext } from './provider'

/** How to access the API. */
interface CloudflareAccess {
  /** Without a trailing slash. */
  base_url: string
  api_token: string
}

/** The API rejected a change, and nothing was applied. */
export class CloudflareRefusal extends ProviderError {
  constructor(
    /** Error codes of the API, such as 81058. */
    readonly codes: readonly number[],
    message: string,
  ) {
    super('refused', message)
  }
}

/** Client of the API, version 4 (developers.cloudflare.com/api). Responses are envelopes of `success`, `errors` and `result`. */
export class CloudflareClient {
  constructor(
    private readonly access: CloudflareAccess,
    private readonly around: AdapterContext,
  ) {}

  /** Reads the first page of a list, and its total count. @throws ProviderError */
  async firstPage(path: string, query: Record<string, string>, perPage: number): Promise<NumberedPage> {
    return await this.#page(path, query, 1, perPage)
  }

  /** Reads a complete list. @throws ProviderError `incomplete` if the rows may not be a consistent snapshot */
  async all(path: string, query: Record<string, string>, perPage: number): Promise<Record<string, unknown>[]> {
    return await readNumberedPages(this.around.clock, page => this.#page(path, query, page, perPage))
  }

  /**
   * Sends a change.
   * @returns its `result`
   * @throws CloudflareRefusal, or ProviderError `throttled`, `unauthorized`, `zone_not_found`: not applied; otherwise as `mayHaveApplied`
   * tells
   */
  async post(path: string, body: object): Promise<Record<string, unknown>> {
    const response = await requestJson(
      this.around,
      {
        url: this.access.base_url + path,
        method: 'POST',
        headers: { ...this.#headers(), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      },
      limits,
    )
    const { result } = this.#envelope(response)
    if (!isObject(result)) throw invalidFormat('has no `result`')
    return result
  }

  async #page(path: string, query: Record<string, string>, page: number, perPage: number): Promise<NumberedPage> {
    const search = new URLSearchParams({ ...query, page: String(page), per_page: String(perPage) })
    const response = await requestJson(
      this.around,
      { url: `${this.access.base_url}${path}?${search}`, headers: this.#headers() },
      limits,
    )
    const { result, result_info } = this.#envelope(response)
    if (!Array.isArray(result) || !result.every(isObject)) throw invalidFormat('has no list in `result`')
    const info = isObject(result_info) ? result_info : {}
    const { count, per_page, total_count, total_pages } = info
    if (!isCount(total_count) || !isCount(per_page) || per_page === 0 || info.page !== page)
      throw incompleteList('the pagination info is missing')
    if (count !== undefined && count !== result.length)
      throw incompleteList(`page ${page} has ${result.length} of ${String(count)} rows`)
    if (result.some(row => typeof row.id !== 'string' || row.id === '')) throw invalidFormat('has a row without an id')
    const totalPages = isCount(total_pages) ? total_pages : null
    return { rows: result as NumberedPage['rows'], page, perPage: per_page, totalCount: total_count, totalPages }
  }

  /** Returns the envelope of a successful response. */
  #envelope(response: JsonResponse): Record<string, unknown> {
    const { status, json } = response
    // Cloudflare's proxies return HTML error pages (5xx errors; 520 to 530 are specific to Cloudflare).
    if (status >= 500)
      throw new ProviderError('unreachable', `Cloudflare responded with status ${status}${this.#errorText(response)}`)
    if (status === 429) throw this.#throttled(response)
    if (status < 400 || json !== undefined) {
      const envelope = jsonOf(response)
      if (!isObject(envelope) || typeof envelope.success !== 'boolean') throw invalidFormat('has an unexpected format')
      // Errors can have status 200.
      if (envelope.success && status < 300) return envelope
    }
    throw this.#refused(response)
  }

  #refused(response: JsonResponse): ProviderError {
    const { status } = response
    const codes = errorsOf(response).flatMap(one => [one.code, ...one.chain.map(cause => cause.code)])
    if (codes.some(code => cloudflareCodes.throttled.has(code))) return this.#throttled(response)
    const failure = failureOf(status, codes)
    const message = `Cloudflare rejected the request (${status})${this.#errorText(response)}`
    return failure === 'refused' ? new CloudflareRefusal(codes, message) : new ProviderError(failure, message)
  }

  #throttled(response: JsonResponse): ProviderError {
    return new ProviderError(
      'throttled',
      `Cloudflare rate limit exceeded${this.#errorText(response)}`,
      retryAfterOf(response, this.around) ?? cloudflareBlockedMs,
    )
  }

  #errorText(response: JsonResponse): string {
    const messages = errorsOf(response).map(({ code, message, chain }) =>
      [`${message} (${code})`, ...chain.map(cause => `${cause.message} (${cause.code})`)].join(': '),
    )
    return messages.length === 0 ? '.' : `: ${serverMessage(messages.join('; '), [this.access.api_token])}`
  }

  #headers(): Record<string, string> {
    return { authorization: `Bearer ${this.access.api_token}`, accept: 'application/json' }
  }
}

interface ApiError {
  code: number
  message: string
}

/** Errors of an envelope, each with its chain of causes. */
function errorsOf({ json }: JsonResponse): (ApiError & { chain: ApiError[] })[] {
  const listed = isObject(json) && Array.isArray(json.errors) ? json.errors : []
  return listed.filter(isObject).map(one => ({
    ...apiErrorOf(one),
    chain: (Array.isArray(one.error_chain) ? one.error_chain : []).filter(isObject).map(apiErrorOf),
  }))
}

const apiErrorOf = ({ code, message }: Record<string, unknown>): ApiError => ({
  code: typeof code === 'number' ? code : 0,
  message: typeof message === 'string' ? message : '',
})

const zoneMissing = 1001
// “Record does not exist”: a 404 that is not about the zone.
const recordMissing = 81_044

function failureOf(status: number, codes: readonly number[]): ProviderFailure {
  if (status === 401 || status === 403 || codes.some(code => cloudflareCodes.credentials.has(code))) return 'unauthorized'
  if (codes.includes(recordMissing)) return 'refused'
  if (status === 404 || codes.some(code => code === zoneMissing || cloudflareCodes.unrouted.has(code))) return 'zone_not_found'
  return 'refused'
}

// 5,000 records with comments and tags are about 5 MB.
const limits = { totalMs: 60_000, maxBodyBytes: 32 * 1024 * 1024 }

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const invalidFormat = (what: string) => new ProviderError('invalid_response', `The response of Cloudflare ${what}.`)
