import { incompleteList, readNumberedPages, type NumberedPage } from '../../../adapters/numbered-pages'
import { jsonOf, requestJson, retryAfterOf, serverMessage, type JsonResponse } from '../../../adapters/json-http'
import { isObject } from '../../../dns/octets'
import { ProviderError, type AdapterContext, type ProviderFailure } from './provider'

/** How to access the API. */
interface HetznerAccess {
  /** Without a trailing slash. */
  base_url: string
  api_token: string
}

/** An error of the API. */
export class HetznerError extends ProviderError {
  constructor(
    /** Such as `uniqueness_error`. */
    readonly code: string,
    failure: ProviderFailure,
    message: string,
    retryAfterMs: number | null = null,
  ) {
    super(failure, message, retryAfterMs, failure === 'refused' ? false : null)
  }
}

/** Client of the Hetzner Cloud API (docs.hetzner.cloud/reference/cloud). Changes are actions, which can finish later. */
export class HetznerClient {
  constructor(
    private readonly access: HetznerAccess,
    private readonly around: AdapterContext,
  ) {}

  /** @throws ProviderError */
  async get(path: string): Promise<Record<string, unknown>> {
    return await this.#send('GET', path)
  }

  /** Reads a complete list. @param path with at least one query parameter. @param member of the response with the rows */
  async all(path: string, member: string, perPage: number): Promise<Record<string, unknown>[]> {
    return await readNumberedPages(this.around.clock, page => this.page(path, member, page, perPage))
  }

  /** Reads one page of a list. */
  async page(path: string, member: string, page: number, perPage: number): Promise<NumberedPage> {
    const { [member]: rows, meta } = await this.get(`${path}&page=${page}&per_page=${perPage}`)
    if (!Array.isArray(rows) || !rows.every(isObject)) throw invalidResponse(`has no list of ${member}`)
    const info = isObject(meta) && isObject(meta.pagination) ? meta.pagination : {}
    const { per_page, total_entries, last_page } = info
    if (!isCount(total_entries) || !isCount(per_page) || per_page === 0 || info.page !== page)
      throw incompleteList('the pagination info is missing')
    if (rows.some(row => row.id === undefined)) throw invalidResponse('has a row without an id')
    const totalPages = isCount(last_page) ? last_page : null
    return { rows: rows as NumberedPage['rows'], page, perPage: per_page, totalCount: total_entries, totalPages }
  }

  /**
   * Sends a change and waits until it is finished.
   * @throws ProviderError as `mayHaveApplied` tells
   */
  async change(method: 'POST' | 'DELETE', path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await this.#send(method, path, body)
    await this.#finished(actionOf(response))
    return response
  }

  /** Waits, such as for another change to finish. */
  async pause(ms: number): Promise<void> {
    await new Promise<void>(resolve => this.around.clock.after(ms, resolve))
  }

  async #finished(started: Action): Promise<void> {
    const end = this.around.clock.now() + actionTimeoutMs
    let action = started
    for (let delay = minDelayMs; action.status === 'running'; delay = Math.min(delay * 2, maxDelayMs)) {
      if (this.around.clock.now() + delay > end)
        throw new ProviderError('timeout', 'Hetzner did not finish the change within 30 seconds.', null, true)
      await this.pause(delay)
      action = actionOf(await this.#ofAction(action.id))
    }
    if (action.error)
      throw new HetznerError('action_failed', 'refused', this.#text('Hetzner could not apply the change', action.error))
  }

  /** Any error says nothing about the action. */
  async #ofAction(id: number): Promise<Record<string, unknown>> {
    try {
      const { requestAtOnce } = this.around
      return await this.#send('GET', `/actions/${id}`, undefined, {
        ...this.around,
        ...(requestAtOnce && { request: requestAtOnce }),
      })
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      throw new ProviderError(error.failure, error.message, error.retryAfterMs, true)
    }
  }

  async #send(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object,
    around = this.around,
  ): Promise<Record<string, unknown>> {
    const response = await requestJson(
      around,
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
    if (response.status >= 300) throw this.#errorOf(response)
    const json = jsonOf(response)
    if (!isObject(json)) throw invalidResponse('is not a JSON object')
    return json
  }

  #errorOf(response: JsonResponse): ProviderError {
    const { status } = response
    const error = apiErrorOf(response.json)
    const message = this.#text(`Hetzner rejected the request (${status})`, error)
    if (error.code === 'rate_limit_exceeded' || status === 429)
      return new HetznerError(error.code, 'throttled', this.#text('Hetzner rate limit exceeded', error), this.#retryMs(response))
    if (error.code === 'token_readonly')
      return new HetznerError(
        error.code,
        'unauthorized',
        'The API token of the Hetzner project is read-only. Use one with read and write permissions.',
      )
    if (status === 401 || status === 403) return new HetznerError(error.code, 'unauthorized', message)
    if (error.code === 'not_found') return new HetznerError(error.code, 'zone_not_found', message)
    if (status >= 500 || unavailable.has(error.code))
      return new ProviderError('unreachable', this.#text(`Hetzner responded with status ${status}`, error), null, true)
    if (status >= 400 && status !== 404) return new HetznerError(error.code, 'refused', message)
    return invalidResponse(`has the unexpected status ${status}`)
  }

  /** `RateLimit-Reset` is when the whole allowance is available again; a part of it is refilled every second. */
  #retryMs(response: JsonResponse): number {
    const reset = Number(response.headers.get('ratelimit-reset') ?? NaN) * 1000 - this.around.clock.now()
    return retryAfterOf(response, this.around) ?? (reset > 0 ? Math.min(reset, refillMs) : refillMs)
  }

  #text(what: string, { code, message }: ApiError): string {
    const [shown, shownCode] = [message, code].map(one => serverMessage(one, [this.access.api_token]))
    return shown === '' ? `${what}.` : `${what}: ${shown} (${shownCode})`
  }
}

interface ApiError {
  code: string
  message: string
}

interface Action {
  id: number
  status: 'running' | 'success' | 'error'
  /** Null unless it failed. */
  error: ApiError | null
}

/** Parses an error, with the messages about single fields. */
function apiErrorOf(json: unknown): ApiError {
  const error = isObject(json) && isObject(json.error) ? json.error : {}
  const { code, message, details } = error
  const fields = isObject(details) && Array.isArray(details.fields) ? details.fields.filter(isObject) : []
  const texts = fields.map(({ name, messages }) => {
    const told = Array.isArray(messages) ? messages.filter(one => typeof one === 'string') : []
    return `${typeof name === 'string' ? name : ''}: ${told.join(', ')}`
  })
  return {
    code: typeof code === 'string' ? code : 'unknown',
    message: [typeof message === 'string' ? message : '', ...texts].filter(one => one !== '').join('; '),
  }
}

function actionOf({ action }: Record<string, unknown>): Action {
  const { id, status, error } = isObject(action) ? action : {}
  if (!isCount(id) || (status !== 'running' && status !== 'success' && status !== 'error'))
    throw new ProviderError('invalid_response', 'The response of Hetzner has no action.', null, true)
  return { id, status, error: status === 'error' ? apiErrorOf({ error }) : null }
}

// Temporary failures that say nothing about whether a change was applied.
const unavailable = new Set(['maintenance', 'service_error', 'server_error', 'timeout', 'unavailable', 'bad_gateway'])

// Actions of zones take less than a second as a rule.
const minDelayMs = 300
const maxDelayMs = 5000
const actionTimeoutMs = 30_000
// One request per second is refilled.
const refillMs = 60_000
// 100 record sets of 50 records.
const limits = { totalMs: 60_000, maxBodyBytes: 16 * 1024 * 1024 }

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const invalidResponse = (what: string) => new ProviderError('invalid_response', `The response of Hetzner ${what}.`)
