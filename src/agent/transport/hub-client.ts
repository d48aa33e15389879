import { retryAfterMs } from '../../core/net/retry-after'
import { version } from '../../core/version'
import { signatureHeader, type RequestSigner } from '../../wire/request-signature'
import { isRecord } from './answers'
import type { HubClock } from './hub-clock'
import { fetchHub, HubUnreachable, type HubAddress } from './hub-fetch'

/**
 * A request that failed. `revoked`: the hub knows the token, and doesn’t accept it anymore. `rejected`: the hub doesn’t accept the body, now
 * and later. `unavailable`: it may succeed later. The message is a sentence.
 */
export class HubRequestFailed extends Error {
  override readonly name = 'HubRequestFailed'
  constructor(
    message: string,
    readonly kind: 'revoked' | 'rejected' | 'unavailable',
    /** Status of the response; null without one. */
    readonly status: number | null,
    /** The pause that the hub asks for (ms). */
    readonly retryAfterMs: number | null = null,
    /** What the hub doesn’t accept in the body, such as `#/minutes/0/2`. Empty if it didn’t say. */
    readonly pointers: readonly string[] = [],
  ) {
    super(message)
  }

  /** The fields of the body that the hub doesn’t accept, such as `minutes`. */
  get fields(): string[] {
    return [...new Set(this.pointers.flatMap(pointer => pointer.split('/', 2)[1] || []))]
  }
}

/** A request to the hub. `body` is sent as JSON, compressed unless `isShort`. `waitMs`: how long the hub may take. */
export interface HubRequest {
  method: 'GET' | 'POST'
  path: string
  body?: unknown
  isShort?: boolean
  /** A connection that is open already does not show whether the firewall lets new ones pass. */
  isOnNewConnection?: boolean
  headers?: Record<string, string>
  waitMs?: number
  maxBodyBytes?: number
}

/** A successful response: its status, its JSON, and when the request was sent (by the steady clock). */
interface HubResponse {
  status: number
  body: unknown
  sentAt: number
}

/** Sends requests to the hub, with the token of the agent and signed with its key. */
export class HubClient {
  /** Number of the last request, so that none can be repeated by others. */
  private count = 0

  /**
   * @param token the agent’s own token, or an enrolment key
   * @param sign signs its requests
   * @param standardWaitMs how long the hub may take, unless a request says otherwise
   */
  constructor(
    private readonly address: HubAddress,
    private readonly clock: HubClock,
    private readonly token: string,
    private readonly sign: RequestSigner,
    private readonly standardWaitMs: number = 20_000,
  ) {}

  /** @throws HubRequestFailed */
  async send(request: HubRequest): Promise<HubResponse> {
    const {
      method,
      path,
      isShort = request.body === undefined,
      isOnNewConnection = false,
      headers = {},
      waitMs = this.standardWaitMs,
      maxBodyBytes = 1024 * 1024,
    } = request
    const json = request.body === undefined ? '' : JSON.stringify(request.body)
    const body = new Uint8Array(isShort ? Buffer.from(json) : Bun.gzipSync(json, { library: 'libdeflate' }))
    const time = Math.round(this.clock.now())
    const sentAt = this.clock.steady()
    const response = await fetchHub(this.address, {
      method,
      path,
      headers: {
        ...headers,
        Accept: 'application/json',
        Authorization: `Bearer ${this.token}`,
        'User-Agent': `bailiwick-agent/${version}`,
        [signatureHeader]: await this.sign({ method, path, time, count: ++this.count, body }),
        ...(request.body !== undefined && { 'Content-Type': 'application/json' }),
        ...(!isShort && { 'Content-Encoding': 'gzip' }),
      },
      body: request.body === undefined ? null : body,
      isOnNewConnection,
      waitMs,
      maxBodyBytes,
    }).catch((error: unknown) => {
      throw error instanceof HubUnreachable ? new HubRequestFailed(error.message, 'unavailable', null) : error
    })
    const answer = parseJson(response.body)
    const { status } = response
    if (status >= 200 && status < 300) return { status, body: answer, sentAt }
    const hubTime = Date.parse(response.headers.get('date') ?? '')
    const failure = failureOf(status, answer, retryAfterMs(response.headers.get('retry-after') ?? '', this.clock.now()))
    // The hub refuses requests of a wrong time, and minutes that are in its future. Its own time is in every response, to the second.
    if ((status === 401 || failure.kind === 'rejected') && Math.abs(hubTime - time) > wrongTimeMs) {
      this.clock.set(hubTime)
      throw failure.kind === 'rejected' ? new HubRequestFailed(failure.message, 'unavailable', status) : failure
    }
    throw failure
  }
}

/** From this difference on (ms), a refused request is assumed to be refused for its time. */
const wrongTimeMs = 60_000

function failureOf(status: number, body: unknown, retryAfter: number | null): HubRequestFailed {
  const { code, detail, errors } = isRecord(body) ? body : {}
  const said = typeof detail === 'string' ? `: ${detail.slice(0, 500)}` : '.'
  const fail = (kind: HubRequestFailed['kind']) =>
    new HubRequestFailed(`The hub responded with status ${status}${said}`, kind, status, retryAfter, pointersIn(errors))
  if (status === 401 && code === 'token_revoked') return fail('revoked')
  // Only from the hub: a proxy in front of it responds with such codes too, but without the code of a problem.
  if (typeof code === 'string' && [400, 413, 415, 422].includes(status)) return fail('rejected')
  return fail('unavailable')
}

function pointersIn(errors: unknown): string[] {
  const pointers = Array.isArray(errors) ? errors.map(error => (isRecord(error) ? error.pointer : null)) : []
  return pointers.filter(pointer => typeof pointer === 'string')
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return null
  }
}
