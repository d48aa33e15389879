import { createTokenAsOperator } from '../../access/tokens'
import { operatorWorkspace, prepareInstance } from '../../access/workspaces'
import type { Config } from '../../core/config'
import type { Hub } from '../../core/hub'
import { Worker } from '../../core/jobs/worker'
import { makeApp } from '../../hub/app'
import { jobKinds } from '../../hub/jobs'
import { openHub } from '../../hub/run'

/** The API within this process: all of it but the network. */
export interface OwnApi {
  hub: Hub
  workspaceId: string
  /** The answer's body. @throws Error for one that is a problem */
  call(method: string, path: string, body?: object | string): Promise<any>
  close(): Promise<void>
}

const stopMs = 5000

/** A hub that serves nobody but its caller. */
export async function ownApi(config: Config): Promise<OwnApi> {
  const hub = await openHub(config)
  await prepareInstance(hub)
  const workspaceId = (await operatorWorkspace(hub.read)).id
  const token = await createTokenAsOperator(hub, { workspaceId, name: 'bench', mode: 'full', permissions: [], expiresAt: null })
  const worker = new Worker(hub, jobKinds)
  const app = makeApp(hub, worker)
  return {
    hub,
    workspaceId,
    async call(method, path, body) {
      const type = typeof body === 'string' ? 'text/dns' : 'application/json'
      const request = new Request(`http://localhost${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': type }) },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const answer = await app.handle(request)
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
      return text === '' ? undefined : JSON.parse(text)
    },
    async close() {
      await worker.stop(stopMs)
      await hub.store.close()
    },
  }
}
