import type { EventData } from '../../src/core/event-kinds'
import { eventKind } from '../../src/features/event-kinds'
import { record } from '../../src/core/change'
import type { World } from './world'

/** A received message. */
export interface Received {
  path: string
  headers: Headers
  body: string
}

/** A webhook receiver on this machine. */
export interface Receiver {
  url: string
  /** Everything received, oldest first. */
  received: Received[]
  /** Response to the next messages; 204 by default. */
  answer: (message: Received) => Response | Promise<Response>
}

const servers: { stop(force: boolean): unknown }[] = []

/** Stops every receiver of the test file. */
export function stopReceivers(): void {
  for (const server of servers.splice(0)) server.stop(true)
}

export function receiver(): Receiver {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const message = { path: new URL(request.url).pathname, headers: request.headers, body: await request.text() }
      here.received.push(message)
      return await here.answer(message)
    },
  })
  servers.push(server)
  const here: Receiver = {
    url: `http://127.0.0.1:${server.port}/hook`,
    received: [],
    answer: () => new Response(null, { status: 204 }),
  }
  return here
}

/** Raises `monitor.alert` in acme, with the example of the catalog. */
export async function raiseAlert(
  { hub, acme }: World,
  resourceId = 'hb_01k3zb2c4d6e8f0g2h4j6k8m0n',
  workspaceId = acme.workspaceId,
): Promise<void> {
  const data = eventKind('monitor.alert')!.example as EventData<'monitor.alert'>
  await record(hub, async () => ({
    result: undefined,
    events: [{ workspaceId, kind: 'monitor.alert' as const, resource: { type: 'heartbeat', id: resourceId }, data }],
  }))
}

/** Creates an endpoint in acme that is subscribed to `monitor.alert`. */
export async function endpointAt({ acme }: World, url: string, more: object = {}): Promise<{ id: string; secret: string }> {
  const created = await acme.call('POST', '/v1/webhook-endpoints', { url, events: ['monitor.alert'], ...more })
  if (created.status !== 201) throw new Error(created.text)
  return created.body
}
