import { operatorWorkspace } from '../../access/workspaces'
import type { Config } from '../../core/config'
import { createTokenAsOperator } from '../../features/tokens/commands'
import { openHub } from '../../hub/run'
import { fetchUnrestricted } from '../unrestricted-fetch'
import { longestBlockMs, type ServerProcess } from './child-processes'

/** Creates a token that may do everything in the operator’s workspace. The hub must not be running. */
export async function createToken(config: Config): Promise<string> {
  const hub = await openHub(config)
  try {
    const workspaceId = (await operatorWorkspace(hub.read)).id
    return await createTokenAsOperator(hub, { workspaceId, name: 'bench', mode: 'full', permissions: [], expiresAt: null })
  } finally {
    await hub.store.close()
  }
}

/** A request body with its media type. */
export interface SentBody {
  text: string
  type: string
}

export const json = (value: unknown): SentBody => ({ text: JSON.stringify(value), type: 'application/json' })

type Method = 'GET' | 'POST' | 'DELETE'

/** A large request. `refused` if the expected response is an error. */
export interface Operation {
  name: string
  method: 'GET' | 'POST'
  path: string
  body?: SentBody
  refused?: boolean
  /** Sends other requests instead. */
  run?(): Promise<unknown>
  /** Whether what follows the request is done. */
  isDone?(): Promise<boolean>
}

/** A client of a hub, with a token that may do everything. */
export class Client {
  readonly #url: string
  readonly #zones: string[] = []

  constructor(
    private readonly hub: ServerProcess,
    private readonly token: string,
  ) {
    this.#url = `http://127.0.0.1:${hub.port}`
  }

  /** Runs every code path of a small request and of a scrape once. */
  async warmUp(): Promise<void> {
    for (let n = 0; n < 50; n++) await this.probe()
    await this.longestBlock()
  }

  /** Sends a small request. @returns milliseconds until its response */
  async probe(): Promise<number> {
    const startedAt = performance.now()
    await this.#request('GET', '/v1/heartbeats?limit=1')
    return performance.now() - startedAt
  }

  /** @returns whether it succeeded */
  async send({ method, path, body }: { method: Method; path: string; body?: SentBody }): Promise<boolean> {
    return (await this.#request(method, path, body)).ok
  }

  /** The longest block since the last call, in milliseconds. */
  async longestBlock(): Promise<number> {
    return await longestBlockMs(this.hub)
  }

  async createZone(): Promise<{ id: string; name: string }> {
    const name = `blocks-${crypto.randomUUID().slice(0, 8)}.test`
    const response = await this.#request('POST', '/v1/dns/zones', json({ name }))
    if (!response.ok) throw new Error(`Could not create a zone: ${response.text()}`)
    const { id } = JSON.parse(response.text()) as { id: string }
    this.#zones.push(id)
    return { id, name }
  }

  /** @returns its id */
  async createSource(input: object): Promise<string> {
    const response = await this.#request('POST', '/v1/dynamic-ips', json(input))
    if (!response.ok) throw new Error(`Could not create a dynamic IP source: ${response.text()}`)
    const { id } = JSON.parse(response.text()) as { id: string }
    return id
  }

  async get(path: string): Promise<any> {
    return JSON.parse((await this.#request('GET', path)).text())
  }

  /** Sends JSON. @returns the response body @throws Error for an error response */
  async call(method: Method, path: string, body?: object | string, headers?: Record<string, string>): Promise<any> {
    const response = await this.#request(method, path, json(body), headers)
    if (!response.ok) throw new Error(`${method} ${path} failed: ${response.text()}`)
    return JSON.parse(response.text())
  }

  /** Deletes the zones, servers of agents, and cloud accounts, because a database that is not temporary is reused. */
  async removeAll(): Promise<void> {
    for (const id of this.#zones) await this.#request('DELETE', `/v1/dns/zones/${id}`)
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await this.get(`/v1/agents?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
      for (const { server_id } of page.data) await this.#request('DELETE', `/v1/servers/${server_id}`)
      cursor = page.pagination.next_cursor
    }
    for (const { id } of (await this.get('/v1/cloud-accounts')).data) await this.#request('DELETE', `/v1/cloud-accounts/${id}`)
  }

  async #request(
    method: Method,
    path: string,
    body?: SentBody,
    headers: Record<string, string> = {},
  ): Promise<{ ok: boolean; text(): string }> {
    const response = await fetchUnrestricted(
      {
        method,
        url: `${this.#url}${path}`,
        headers: {
          // The token is only for the API.
          ...(path.startsWith('/v1/') && { authorization: `Bearer ${this.token}` }),
          ...(body && { 'content-type': body.type }),
          ...headers,
        },
        ...(body && { body: body.text }),
      },
      { totalMs: 120_000, maxBodyBytes: 100_000_000 },
    )
    return { ok: response.status < 400, text: () => new TextDecoder().decode(response.body) }
  }
}
