import { operatorWorkspace, prepareInstance } from '../../access/workspaces'
import type { Config } from '../../core/config'
import type { Hub } from '../../core/hub'
import { Worker } from '../../core/jobs/worker'
import { createTokenAsOperator } from '../../features/tokens/commands'
import { createApp } from '../../hub/app'
import { jobKinds } from '../../hub/jobs'
import { openHub } from '../../hub/run'

/** The whole API without the network, in this process. */
export interface InProcessApi {
  hub: Hub
  workspaceId: string
  /** @returns the response body @throws Error for an error response */
  call(method: string, path: string, body?: object | string, headers?: Record<string, string>): Promise<any>
  close(): Promise<void>
}

const stopMs = 5000

/** Opens a hub that doesn't listen for requests. */
export async function openInProcessApi(config: Config): Promise<InProcessApi> {
  const hub = await openHub(config)
  await prepareInstance(hub)
  const workspaceId = (await operatorWorkspace(hub.read)).id
  const token = await createTokenAsOperator(hub, { workspaceId, name: 'bench', mode: 'full', permissions: [], expiresAt: null })
  const worker = new Worker(hub, jobKinds)
  const app = createApp(hub, worker)
  return {
    hub,
    workspaceId,
    async call(method, path, body, headers = {}) {
      const type = typeof body === 'string' ? 'text/dns' : 'application/json'
      const request = new Request(`http://localhost${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': type }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const response = await app.handle(request)
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`)
      return text === '' ? undefined : JSON.parse(text)
    },
    async close() {
      await worker.stop(stopMs)
      await hub.store.close()
    },
  }
}

/** The pages of a list. */
export async function* pagesOf(api: InProcessApi, path: string): AsyncGenerator<any[]> {
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: any = await api.call('GET', `${path}?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    yield page.data
    cursor = page.pagination.next_cursor
  }
}
