import type { Pace } from '../adapters/adapter'
import type { AdapterContext } from '../adapters/context'
import { AdapterError } from '../adapters/failure'
import { jsonOf, requestJson, retryAfterOf, serverMessage, type JsonResponse } from '../adapters/json-http'
import { incompleteList, type NumberedPage } from '../adapters/numbered-pages'
import { isObject } from '../dns/octets'

/** How to access the API. */
export interface HetznerAccess {
  /** Without a trailing slash. */
  base_url: string
  api_token: string
}

/** An error of the API. */
export class HetznerError extends AdapterError<string> {
  constructor(
    /** Such as `uniqueness_error`. */
    readonly code: string,
    failure: string,
    message: string,
    retryAfterMs: number | null = null,
  ) {
    super(failure, message, retryAfterMs, false)
  }
}

/** A change, which can finish later. */
export interface HetznerAction {
  id: number
  command: string
  status: 'running' | 'success' | 'error'
  /** 0 to 100. */
  progress: number
  /** When it was started (ms UTC, to the second). */
  startedAt: number
  /** Null unless it failed. */
  error: ApiError | null
}

interface ApiError {
  code: string
  message: string
}

/** Rate limit as last reported; `resetsAt` is in ms UTC. */
interface HetznerRate {
  limit: number
  remaining: number
  resetsAt: number | null
}

export const hetznerApi = 'https://api.hetzner.cloud/v1'

/**
 * Requests of a project (docs.hetzner.cloud/reference/cloud, Rate Limiting): for servers and DNS zones together. The API doesn’t return
 * the project of a token, so other tokens of the same project count separately.
 */
export const hetznerPace: Pace = {
  perSecond: 1,
  burst: 3600,
  sharedBy: ({ base_url, api_token }) => JSON.stringify([new URL(String(base_url)).host, api_token]),
}

/** Requests to the Hetzner Cloud API (docs.hetzner.cloud/reference/cloud), which has servers and DNS zones. */
export class HetznerApi {
  /** Null until a response reports it. */
  rate: HetznerRate | null = null

  constructor(
    private readonly access: HetznerAccess,
    protected readonly around: AdapterContext,
    /** Failures by error code, where it tells more than the status of the response. */
    private readonly failures: Readonly<Record<string, string>>,
  ) {}

  /** @throws AdapterError */
  async get(path: string, around = this.around): Promise<Record<string, unknown>> {
    return await this.send('GET', path, undefined, around)
  }

  /** Reads one page of a list. @param path with at least one query parameter. @param member of the response with the rows */
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

  /** Sends a request. An empty response is an empty object. @throws AdapterError */
  async send(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
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
    this.rate = rateOf(response) ?? this.rate
    if (response.status >= 300) throw this.#errorOf(response)
    if (response.status === 204) return {}
    const json = jsonOf(response)
    if (!isObject(json)) throw invalidResponse('is not a JSON object')
    return json
  }

  /** The error of an action that failed. */
  failed({ error }: Pick<HetznerAction, 'error'>): HetznerError {
    const { code } = error!
    return new HetznerError(code, this.failures[code] ?? 'refused', this.#text('Hetzner could not apply the change', error!))
  }

  #errorOf(response: JsonResponse): AdapterError<string> {
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
    const failure = this.failures[error.code]
    if (failure !== undefined) return new HetznerError(error.code, failure, message)
    if (status === 401 || status === 403) return new HetznerError(error.code, 'unauthorized', message)
    if (status >= 500 || unavailable.has(error.code))
      return new AdapterError<string>('unreachable', this.#text(`Hetzner responded with status ${status}`, error), null, true)
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

/** Parses the action in a response. @throws AdapterError */
export function hetznerAction(action: unknown): HetznerAction {
  const { id, command, status, progress, started, error } = isObject(action) ? action : {}
  if (!isCount(id) || (status !== 'running' && status !== 'success' && status !== 'error'))
    throw new AdapterError('invalid_response', 'The response of Hetzner has no action.', null, true)
  return {
    id,
    command: String(command),
    status,
    progress: isCount(progress) && progress <= 100 ? progress : 0,
    startedAt: typeof started === 'string' ? Date.parse(started) : NaN,
    error: status === 'error' ? apiErrorOf({ error }) : null,
  }
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

function rateOf({ headers }: JsonResponse): HetznerRate | null {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map(name => Number(headers.get(`ratelimit-${name}`) ?? NaN))
  if (!isCount(limit) || !isCount(remaining)) return null
  return { limit, remaining, resetsAt: isCount(reset) ? reset * 1000 : null }
}

// Temporary failures that say nothing about whether a change was applied.
const unavailable = new Set(['maintenance', 'service_error', 'server_error', 'timeout', 'unavailable', 'bad_gateway'])

// One request per second is refilled.
const refillMs = 60_000
// 100 record sets of 50 records.
const limits = { totalMs: 60_000, maxBodyBytes: 16 * 1024 * 1024 }

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const invalidResponse = (what: string) => new AdapterError<string>('invalid_response', `The response of Hetzner ${what}.`)
