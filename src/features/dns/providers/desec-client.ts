import { jsonOf, nextLink, requestJson, responseError, serverMessage, type JsonResponse } from '../../../adapters/json-http'
import { isObject } from '../../../dns/octets'
import { readCursorPages } from '../../../adapters/cursor-pages'
import { incompleteList } from '../../../adapters/numbered-pages'
import { ProviderError, type AdapterContext } from './provider'

/** How to access the API. */
interface DesecAccess {
  /** Without a trailing slash. */
  base_url: string
  api_token: string
}

/** The API rejected a change, and nothing was applied. */
export class DesecRefusal extends ProviderError {
  constructor(
    message: string,
    /** Messages for each entry of a list that was sent, in order, empty if it has no errors; null if the errors are not of entries. */
    readonly details: readonly string[] | null,
    /** A concurrent change at deSEC is the reason. */
    readonly isConflict: boolean,
  ) {
    super('refused', message)
  }
}

type Row = Record<string, unknown>

/** Client of the API of deSEC, version 1 (desec.readthedocs.io). */
export class DesecClient {
  constructor(
    private readonly access: DesecAccess,
    private readonly around: AdapterContext,
  ) {}

  /** Reads one object. @throws ProviderError */
  async get(path: string): Promise<Row> {
    const row = jsonOf(await this.#read(path))
    if (!isObject(row)) throw invalidFormat('is not an object')
    return row
  }

  /** Reads a complete list. @throws ProviderError */
  async all(path: string, query: Record<string, string> = {}): Promise<{ rows: Row[]; pages: number }> {
    return await readCursorPages(this.around.clock, '', async cursor => {
      const response = await this.#read(`${path}?${new URLSearchParams({ ...query, cursor })}`)
      const rows = jsonOf(response)
      if (!Array.isArray(rows) || !rows.every(isObject)) throw invalidFormat('is not a list')
      return { rows, next: nextCursor(response) }
    })
  }

  /**
   * Sends a change.
   * @throws DesecRefusal, or ProviderError `throttled`, `unauthorized`, `zone_not_found`: not applied; otherwise as `mayHaveApplied` tells
   */
  async change(method: 'POST' | 'PATCH', path: string, body: object): Promise<unknown> {
    const response = await requestJson(
      this.around,
      {
        url: this.access.base_url + path,
        method,
        headers: { ...this.#headers(), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      },
      limits,
    )
    if (response.status !== 200 && response.status !== 201) throw this.#errorOf(response)
    return jsonOf(response)
  }

  async #read(path: string): Promise<JsonResponse> {
    const response = await requestJson(this.around, { url: this.access.base_url + path, headers: this.#headers() }, limits)
    if (response.status !== 200) throw this.#errorOf(response)
    return response
  }

  #headers(): Record<string, string> {
    return { authorization: `Token ${this.access.api_token}`, accept: 'application/json' }
  }

  #errorOf(response: JsonResponse): ProviderError {
    const { status, json, text } = response
    const secrets = [this.access.api_token]
    const detail = messagesOf(json)
    // Other servers respond with 404 as well, but not in this format.
    if (status === 404 && isObject(json) && typeof json.detail === 'string')
      return /cursor/i.test(json.detail)
        ? incompleteList(serverMessage(json.detail, secrets))
        : new ProviderError('zone_not_found', 'The account at deSEC has no such zone.')
    const error = responseError(response, this.around, { text: detail || text, credentials: 'API token', secrets })
    // The limit of the account has the same status as a missing permission.
    if (status === 403 && /limit exceeded/i.test(detail)) return new DesecRefusal(error.message, null, false)
    if (error.failure !== 'refused' || status >= 500) return error
    const ofEntries = Array.isArray(json) && json.every(isObject) ? json : null
    const details = ofEntries?.map(one => serverMessage(messagesOf(one), secrets)) ?? null
    return new DesecRefusal(error.message, details, status === 409)
  }
}

/**
 * Joins the messages of an error, which are texts, lists of errors, or objects with errors by field name. Empty if there are none.
 * @param depth levels below it to look at
 */
function messagesOf(error: unknown, depth = 5): string {
  if (typeof error === 'string') return error
  if (depth === 0) return ''
  if (Array.isArray(error))
    return error
      .map(one => messagesOf(one, depth - 1))
      .filter(Boolean)
      .join(' ')
  if (!isObject(error)) return ''
  return Object.entries(error)
    .map(([field, inner]) => {
      const text = messagesOf(inner, depth - 1)
      return text === '' || unnamed.has(field) ? text : `${field}: ${text}`
    })
    .filter(Boolean)
    .join(' ')
}

const unnamed = new Set(['detail', 'non_field_errors'])

/** Cursor of the next page; null on the last page. The link itself may have the address of a server behind a proxy. */
function nextCursor(response: JsonResponse): string | null {
  const link = nextLink(response)
  if (link === null) return null
  const cursor = URL.parse(link)?.searchParams.get('cursor')
  if (!cursor) throw incompleteList('the link to the next page has no cursor')
  return cursor
}

// A page has up to 500 rrsets, each with up to 64 KB of records, but usually 200 bytes.
const limits = { totalMs: 60_000, maxBodyBytes: 32 * 1024 * 1024 }

const invalidFormat = (what: string) => new ProviderError('invalid_response', `The response of deSEC ${what}.`)
