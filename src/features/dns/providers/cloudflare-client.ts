import { isObject } from '../../../core/dns/octets'
import { askJson, jsonOf, saidBy, waitOf, type JsonAnswer } from './json-http'
import { ProviderError, type ProviderFailure, type Surroundings } from './provider'

/** How the API is reached. */
export interface CloudflareAccess {
  /** Without a slash at its end. */
  base_url: string
  api_token: string
}

/** A change that the API did not take, nothing of which happened. */
export class CloudflareRefusal extends ProviderError {
  constructor(
    /** Codes of the API, such as 81058. */
    readonly codes: readonly number[],
    message: string,
  ) {
    super('refused', message)
  }
}

/** A list as the API gives it out in pages, with what is told of the whole. */
interface Page {
  rows: Record<string, unknown>[]
  page: number
  perPage: number
  totalCount: number
  totalPages: number | null
}

/** The API, version 4 (developers.cloudflare.com/api): every answer is an envelope of `success`, `errors` and `result`. */
export class CloudflareClient {
  constructor(
    private readonly access: CloudflareAccess,
    private readonly around: Surroundings,
  ) {}

  /** The first page of a list, and how many there are in all. @throws ProviderError */
  async first(path: string, query: Record<string, string>, perPage: number): Promise<Pick<Page, 'rows' | 'totalCount'>> {
    return await this.#page(path, query, 1, perPage)
  }

  /**
   * A whole list. The API has no cursors: what is made or removed while it is read moves rows from one page to another. So all pages
   * have to tell of one total, no row comes twice, and of several pages all but the last are read again in the end: had a row left
   * any of them, the rows after it would have moved.
   * @throws ProviderError `incomplete` when it is not certain that the rows are the whole list at one moment
   */
  async whole(path: string, query: Record<string, string>, perPage: number): Promise<Record<string, unknown>[]> {
    const { clock } = this.around
    const end = clock.now() + wholeMs
    const pageAt = async (page: number): Promise<Page> => {
      if (clock.now() > end) throw new ProviderError('timeout', 'It took too long to read all pages of the list.')
      return await this.#page(path, query, page, perPage)
    }
    const first = await pageAt(1)
    const { totalCount } = first
    if (totalCount > mostRows)
      throw new ProviderError('refused', `The list has ${totalCount} rows, and at most ${mostRows} are read.`)
    const pages = [first]
    let collected = rowsExpected(first, first, 0)
    while (collected < totalCount) {
      const next = await pageAt(pages.length + 1)
      collected += rowsExpected(next, first, collected)
      pages.push(next)
    }
    const rows = pages.flatMap(page => page.rows)
    if (new Set(rows.map(row => row.id)).size < rows.length) throw moved()
    for (const { rows: before, page } of pages.slice(0, -1)) {
      const again = (await pageAt(page)).rows
      if (again.length !== before.length || again.some(({ id }, place) => id !== before[place]!.id)) throw moved()
    }
    return rows
  }

  /**
   * Asks for a change.
   * @returns its `result`
   * @throws CloudflareRefusal, or ProviderError `throttled`, `unauthorized`, `zone_not_found`: nothing happened; Unanswered: whether it
   * happened depends on `sent`; other ProviderError: it may have happened
   */
  async post(path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await askJson(
      this.around,
      {
        url: this.access.base_url + path,
        method: 'POST',
        headers: { ...this.#headers(), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      },
      limits,
    )
    const { result } = this.#opened(answer)
    if (!isObject(result)) throw wrongForm('has no result')
    return result
  }

  async #page(path: string, query: Record<string, string>, page: number, perPage: number): Promise<Page> {
    const search = new URLSearchParams({ ...query, page: String(page), per_page: String(perPage) })
    const answer = await askJson(
      this.around,
      { url: `${this.access.base_url}${path}?${search}`, headers: this.#headers() },
      limits,
    )
    const { result, result_info } = this.#opened(answer)
    if (!Array.isArray(result) || !result.every(isObject)) throw wrongForm('has no list as its result')
    const told = isObject(result_info) ? result_info : {}
    const { count, per_page, total_count, total_pages } = told
    if (!isCount(total_count) || !isCount(per_page) || per_page === 0 || told.page !== page)
      throw partial('it does not tell which page it is, and of how many rows')
    if (count !== undefined && count !== result.length)
      throw partial(`page ${page} has ${result.length} rows of ${String(count)}`)
    if (result.some(row => typeof row.id !== 'string' || row.id === '')) throw wrongForm('has a row without an id')
    const totalPages = isCount(total_pages) ? total_pages : null
    return { rows: result, page, perPage: per_page, totalCount: total_count, totalPages }
  }

  /** The envelope of an answer that is no refusal. */
  #opened(answer: JsonAnswer): Record<string, unknown> {
    const { status, json } = answer
    // What stands before the API answers with pages of HTML (Cloudflare, 5xx errors: 520 to 530 are its own).
    if (status >= 500) throw new ProviderError('unreachable', `Cloudflare answered with status ${status}${this.#said(answer)}`)
    if (status === 429) throw this.#throttled(answer)
    if (status < 400 || json !== undefined) {
      const envelope = jsonOf(answer)
      if (!isObject(envelope) || typeof envelope.success !== 'boolean') throw wrongForm('is no envelope')
      // A refusal may have status 200.
      if (envelope.success && status < 300) return envelope
    }
    throw this.#refused(answer)
  }

  #refused(answer: JsonAnswer): ProviderError {
    const { status } = answer
    const codes = errorsOf(answer).flatMap(one => [one.code, ...one.chain.map(cause => cause.code)])
    if (codes.some(code => throttleCodes.has(code))) return this.#throttled(answer)
    const failure = failureOf(status, codes)
    const message = `Cloudflare refused it (${status})${this.#said(answer)}`
    return failure === 'refused' ? new CloudflareRefusal(codes, message) : new ProviderError(failure, message)
  }

  #throttled(answer: JsonAnswer): ProviderError {
    return new ProviderError(
      'throttled',
      `Cloudflare wants to be left alone${this.#said(answer)}`,
      waitOf(answer, this.around) ?? blockedMs,
    )
  }

  #said(answer: JsonAnswer): string {
    const told = errorsOf(answer).map(({ code, message, chain }) =>
      [`${message} (${code})`, ...chain.map(cause => `${cause.message} (${cause.code})`)].join(': '),
    )
    return told.length === 0 ? '.' : `: ${saidBy(told.join('; '), [this.access.api_token])}`
  }

  #headers(): Record<string, string> {
    return { authorization: `Bearer ${this.access.api_token}`, accept: 'application/json' }
  }
}

/** How many rows a page has, which are as many as it ought to have after `collected` others. @throws ProviderError `incomplete` */
function rowsExpected({ rows, page, perPage, totalCount, totalPages }: Page, first: Page, collected: number): number {
  if (totalCount !== first.totalCount || perPage !== first.perPage) throw moved()
  const expected = Math.min(perPage, totalCount - collected)
  if (rows.length !== expected) throw partial(`page ${page} has ${rows.length} rows of ${expected}`)
  if (totalPages !== null && Math.max(1, totalPages) !== Math.max(1, Math.ceil(totalCount / perPage)))
    throw partial(`it is said to have ${totalPages} pages, which ${totalCount} rows do not fill`)
  return expected
}

interface Told {
  code: number
  message: string
}

/** The errors of an envelope, each with the chain of what caused it. */
function errorsOf({ json }: JsonAnswer): (Told & { chain: Told[] })[] {
  const listed = isObject(json) && Array.isArray(json.errors) ? json.errors : []
  return listed.filter(isObject).map(one => ({
    ...toldOf(one),
    chain: (Array.isArray(one.error_chain) ? one.error_chain : []).filter(isObject).map(toldOf),
  }))
}

const toldOf = ({ code, message }: Record<string, unknown>): Told => ({
  code: typeof code === 'number' ? code : 0,
  message: typeof message === 'string' ? message : '',
})

// "Please wait and consider throttling your request speed", and "Rate limited" in place of a status.
const throttleCodes = new Set([971, 10429])
// Invalid request headers, missing headers, a token that is wrong, expired or not for this address, and too many of those.
const tokenCodes = new Set([6003, 9103, 9106, 9109, 10_000, 10_001, 10_502])
// "Could not route to", for ids that are none or of nothing that the token may see.
const missingCodes = new Set([1001, 7000, 7003])
// "Record does not exist": a status of 404 that is not about the zone.
const recordMissing = 81_044

function failureOf(status: number, codes: readonly number[]): ProviderFailure {
  if (status === 401 || status === 403 || codes.some(code => tokenCodes.has(code))) return 'unauthorized'
  if (codes.includes(recordMissing)) return 'refused'
  if (status === 404 || codes.some(code => missingCodes.has(code))) return 'zone_not_found'
  return 'refused'
}

// Who exceeds the limit is blocked for the next five minutes (Cloudflare, Rate limits).
const blockedMs = 5 * 60_000
const mostRows = 500_000
// How long a whole list may take. Who answers decides how many rows a page has.
const wholeMs = 5 * 60_000
// 5,000 records with comments and tags have some five megabytes.
const limits = { totalMs: 60_000, bodyBytes: 32 * 1024 * 1024 }

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const partial = (what: string) => new ProviderError('incomplete', `The list is not whole: ${what}.`)
const moved = () => partial('it changed while it was read')
const wrongForm = (what: string) => new ProviderError('invalid_answer', `The answer of Cloudflare ${what}.`)
