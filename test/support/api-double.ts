import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'

/** A received request. */
export interface ApiRequest {
  method: string
  /** Path below the API version, such as `/zones`. */
  path: string
  query: URLSearchParams
  /** Parsed JSON; undefined if it is something else. */
  body: any
  text: string
  headers: IncomingHttpHeaders
}

/** An error response, and nothing is processed. */
interface ErrorFault {
  status: number
  code: string
  message?: string
}

/** A response, such as one of a proxy, and nothing is processed. */
interface RawFault {
  raw: { status: number; body: string; headers?: Record<string, string> }
}

/**
 * Simulated failures of a request. `lost`: processed, then the connection closes without a response. `silent`: processed, but no
 * response ever comes. `dropped`: the connection closes before it is processed. `cut`: the response is truncated. `html`: processed,
 * but a proxy returns a page with status 502. `throttled`: the rate limit is exceeded.
 */
export type ApiFault = 'lost' | 'silent' | 'dropped' | 'cut' | 'html' | 'throttled' | ErrorFault | RawFault

export interface ApiResponse {
  status: number
  /** Reason phrase, if it isn't the usual one. */
  reason?: string
  /** Undefined for an empty response. */
  body?: object
  /** Text instead of a JSON body. */
  text?: string
  headers?: Record<string, string>
}

/** A JSON API on a free local port. Subclasses have the rules of a vendor. */
export abstract class ApiDouble {
  readonly token = 't'.repeat(64)
  readonly requests: ApiRequest[] = []
  /** Chooses a failure for a request; null for none. */
  fault: (request: ApiRequest) => ApiFault | null | undefined = () => null
  /** Called before a page of a list is built. */
  beforePage: (page: number, request: ApiRequest) => void = () => {}
  /** Modifies a body before it is sent. */
  answered: (body: any, request: ApiRequest) => any = body => body
  /** How long `silent` keeps the connection open. */
  silenceMs = Infinity
  /** Requests that are left before all are throttled. */
  allowance = Infinity
  readonly #server: Server

  /** @param root path of the API version, such as `/v1`. @param tls in PEM, for https */
  constructor(
    private readonly root: string,
    private readonly tls?: { cert: string; key: string },
  ) {
    const serve = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response)
    this.#server = tls ? createTlsServer(tls, serve) : createServer(serve)
  }

  /** Answers a request. @param fault only failures that the vendor reports */
  protected abstract answer(request: ApiRequest, fault: 'throttled' | ErrorFault | null): ApiResponse | Promise<ApiResponse>

  /** Value for `base_url`. */
  get url(): string {
    return `http${this.tls ? 's' : ''}://127.0.0.1:${(this.#server.address() as { port: number }).port}${this.root}`
  }

  async start(): Promise<this> {
    await new Promise<void>(listening => this.#server.listen(0, '127.0.0.1', listening))
    return this
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request)
    // The client went away before all of the request was sent.
    if (text === null) return
    const url = new URL(request.url!, 'http://double')
    const received: ApiRequest = {
      method: request.method!,
      path: url.pathname.slice(url.pathname.startsWith(`${this.root}/`) ? this.root.length : 0),
      query: url.searchParams,
      body: parsed(text),
      text,
      headers: request.headers,
    }
    this.requests.push(received)
    const fault = this.fault(received) ?? null
    if (fault === 'dropped') return void request.socket.destroy()
    if (typeof fault === 'object' && fault && 'raw' in fault) {
      const { status, body, headers } = fault.raw
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      return void response.end(body)
    }
    const reported = fault === 'throttled' || (typeof fault === 'object' && fault) ? fault : null
    const {
      status,
      reason,
      body,
      text: plain,
      headers,
    } = await this.answer(received, --this.allowance < 0 ? 'throttled' : reported)
    if (fault === 'silent') {
      if (this.silenceMs < Infinity) setTimeout(() => request.socket.destroy(), this.silenceMs)
      return
    }
    if (fault === 'lost') return void request.socket.destroy()
    if (fault === 'html') {
      response.writeHead(502, { 'content-type': 'text/html' })
      return void response.end('<html><body>Bad Gateway</body></html>')
    }
    if (reason !== undefined) response.statusMessage = reason
    if (!body && plain === undefined) return void response.writeHead(status, headers).end()
    const sent = plain ?? JSON.stringify(this.answered(body, received))
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    response.end(fault === 'cut' ? sent.slice(0, Math.floor(sent.length / 2)) : sent)
  }
}

async function textOf(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = []
  try {
    for await (const part of request) parts.push(part as Buffer)
  } catch {
    return null
  }
  return Buffer.concat(parts).toString()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
