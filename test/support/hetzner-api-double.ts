import { ApiDouble, type ApiRequest, type ApiResponse } from './api-double'
import { HetznerRefused, invalidInput } from './hetzner-refused'

/** What all parts of the Hetzner Cloud API have in common, for one project. */
export abstract class HetznerApiDouble extends ApiDouble {
  /** A token that can't change anything. */
  readonly readOnlyToken = 'r'.repeat(64)
  /** Maximum rows per page, whatever is requested. */
  maxPerPage = Infinity

  constructor() {
    super('/v1')
  }

  /** Answers a request of a valid token. @throws HetznerRefused */
  protected abstract route(request: ApiRequest): ApiResponse

  protected answer(request: ApiRequest, fault: Parameters<ApiDouble['answer']>[1]): ApiResponse {
    try {
      this.#refuseCaller(request)
      if (fault === 'throttled') throw rateLimited()
      if (fault) throw new HetznerRefused(fault.status, fault.code, fault.message ?? fault.code)
      return this.route(request)
    } catch (error) {
      if (!(error instanceof HetznerRefused)) throw error
      const { status, code, message, details } = error
      const reset = Math.floor(Date.now() / 1000) + 3600
      return {
        status,
        body: { error: { code, message, details } },
        ...(status === 429 && {
          headers: { 'ratelimit-limit': '3600', 'ratelimit-remaining': '0', 'ratelimit-reset': String(reset) },
        }),
      }
    }
  }

  /** A page of a list. @param shown how a row looks in responses */
  protected listed<R>(
    request: ApiRequest,
    member: string,
    rows: () => readonly R[],
    max: number,
    shown: (row: R) => unknown = row => row,
  ): ApiResponse {
    const page = Number(request.query.get('page') ?? 1)
    const wanted = Number(request.query.get('per_page') ?? 25)
    if (!Number.isInteger(page) || page < 1) throw invalidInput('page', 'Must be at least 1.')
    if (!Number.isInteger(wanted) || wanted < 1 || wanted > max) throw invalidInput('per_page', `Must be at most ${max}.`)
    for (const sort of request.query.getAll('sort'))
      if (!/^[a-z]+(?::(?:asc|desc))?$/.test(sort)) throw invalidInput('sort', 'Must be a field and a direction.')
    const per_page = Math.min(wanted, this.maxPerPage)
    this.beforePage(page, request)
    const all = rows()
    const last = Math.max(1, Math.ceil(all.length / per_page))
    const pagination = {
      ...{ page, per_page, total_entries: all.length, last_page: last },
      previous_page: page > 1 ? page - 1 : null,
      next_page: page < last ? page + 1 : null,
    }
    return { status: 200, body: { [member]: all.slice((page - 1) * per_page, page * per_page).map(shown), meta: { pagination } } }
  }

  #refuseCaller({ method, body, headers }: ApiRequest): void {
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1]
    if (token !== this.token && token !== this.readOnlyToken)
      throw new HetznerRefused(401, 'unauthorized', 'unable to authenticate')
    if (method === 'GET') return
    if (token === this.readOnlyToken)
      throw new HetznerRefused(403, 'token_readonly', 'token is only allowed to perform GET requests')
    const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined
    if (hasBody && (body === undefined || !/^application\/json\b/.test(headers['content-type'] ?? '')))
      throw new HetznerRefused(400, 'json_error', 'Invalid JSON input in your request')
  }
}

export const rateLimited = () => new HetznerRefused(429, 'rate_limit_exceeded', 'limit of 3600 requests per hour reached')
