import type { FetchLimits } from '../../../core/net/guarded-fetch'
import { askJson, jsonOf, saidBy, waitOf, type JsonAnswer } from './json-http'
import { ProviderError, type Surroundings } from './provider'

/** How a PowerDNS Authoritative Server is reached. */
export interface PowerDnsAccess {
  /** Of its webserver, also with a path where something in front of it adds one. */
  url: string
  server_id: string
  api_key: string
  /** PEM certificates that are trusted in place of the public ones. */
  ca?: string
}

/** A change of which the server took nothing; `told` is why, word for word. */
export class PowerDnsRefusal extends ProviderError {
  constructor(
    readonly told: string,
    message: string,
  ) {
    super('refused', message)
  }
}

/** The HTTP API of PowerDNS (doc.powerdns.com/authoritative/http-api). */
export class PowerDnsClient {
  readonly #server: string

  constructor(
    private readonly access: PowerDnsAccess,
    private readonly around: Surroundings,
  ) {
    this.#server = `${apiOf(access.url)}/servers/${encodeURIComponent(access.server_id)}`
  }

  /**
   * @param path below that of the server, such as `/zones`
   * @param limits those of a whole zone when absent
   * @throws ProviderError
   */
  async get(path: string, limits: FetchLimits = zoneLimits): Promise<unknown> {
    const answer = await askJson(this.around, { url: this.#server + path, headers: this.#headers(), ...this.#trust() }, limits)
    this.#refuse(answer, path)
    if (answer.status !== 200) throw unexpected(answer)
    return jsonOf(answer)
  }

  /**
   * @throws Unanswered where no answer came, PowerDnsRefusal where the server took nothing of it, else ProviderError: what
   * became of it is not known
   */
  async change(method: 'POST' | 'PATCH', path: string, body: object): Promise<unknown> {
    const answer = await askJson(
      this.around,
      {
        url: this.#server + path,
        method,
        headers: { ...this.#headers(), 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...this.#trust(),
      },
      changeLimits,
    )
    this.#refuse(answer, path)
    if (answer.status === 204) return null
    if (answer.status === 201) return jsonOf(answer)
    throw unexpected(answer)
  }

  #headers(): Record<string, string> {
    return { 'x-api-key': this.access.api_key, accept: 'application/json' }
  }

  #trust(): { ca?: string } {
    return this.access.ca === undefined ? {} : { ca: this.access.ca }
  }

  /** Turns a status that says why into an error. */
  #refuse(answer: JsonAnswer, path: string): void {
    const { status } = answer
    if (status < 300) return
    const said = saidBy(told(answer), [this.access.api_key])
    if (status === 401 || status === 403) throw new ProviderError('unauthorized', `The API key is refused (${status}): ${said}`)
    if (status === 404 || missing.test(said)) {
      if (path.startsWith('/zones/')) throw new ProviderError('zone_not_found', 'The server has no such zone.')
      throw new ProviderError(
        'refused',
        `The server does not know the server_id "${this.access.server_id}", or has no API there.`,
      )
    }
    const wait = waitOf(answer, this.around)
    if (status === 429 || (status === 503 && wait !== null))
      throw new ProviderError('throttled', `The server wants to be left alone (${status}): ${said}`, wait)
    if (status === 409 || status === 400 || status === 413 || status === 422)
      throw new PowerDnsRefusal(told(answer), `The server refused it (${status}): ${said}`)
    if (status >= 500) throw new ProviderError('refused', `The server answered with status ${status}: ${said}`)
    throw unexpected(answer)
  }
}

/** The address of the API for the address of a webserver, with or without the path of the API. */
const apiOf = (url: string): string => `${url.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1`

// Zones of a hundred thousand rrsets have some twenty megabytes.
const zoneLimits = { totalMs: 60_000, bodyBytes: 64 * 1024 * 1024 }
const changeLimits = { totalMs: 60_000, bodyBytes: 8 * 1024 * 1024 }

// What versions before 4.7 say with status 422.
const missing = /^Could not find domain/

const told = ({ json, text }: JsonAnswer): string => {
  const error = (json as { error?: unknown } | null | undefined)?.error
  return typeof error === 'string' ? error : text
}

const unexpected = ({ status }: JsonAnswer) =>
  new ProviderError('invalid_answer', `The server answered with status ${status}, which the API does not have.`)
