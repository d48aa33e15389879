import { deepStrictEqual as same } from 'node:assert'
import createClient from 'openapi-fetch'
import type { components, paths } from './schema'

// Creates, reads, updates, and deletes resources with the types of openapi-typescript.
const { HUB, TOKEN } = process.env as Record<string, string>
const client = createClient<paths>({ baseUrl: HUB!, headers: { Authorization: `Bearer ${TOKEN}` } })

/** The body of a successful response. */
function body<T>({ data, response }: { data?: T; response: Response }): T {
  same(response.ok, true, `${response.url} returned ${response.status}`)
  return data!
}

const isListed = ({ data }: { data: { id: string }[] }, id: string) => same(data.filter(one => one.id === id).length, 1)
const isNotFound = ({ error }: { error?: components['schemas']['Problem'] }) => same(error?.code, 'not_found')

async function monitors(): Promise<void> {
  const { id } = body(await client.POST('/v1/monitors', { body: { target: 'http://127.0.0.1:9/', tags: ['typescript'] } }))
  const params = { path: { id } }
  isListed(body(await client.GET('/v1/monitors', { params: { query: { tag: 'typescript' } } })), id)
  const monitor = body(await client.GET('/v1/monitors/{id}', { params }))
  same([monitor.type, monitor.quorum], ['http', 'majority'])
  const updated = body(await client.PATCH('/v1/monitors/{id}', { params, body: { quorum: 1, degraded_ms: null } }))
  same([updated.quorum, updated.degraded_ms], [1, null])
  body(await client.DELETE('/v1/monitors/{id}', { params }))
  isNotFound(await client.GET('/v1/monitors/{id}', { params }))
}

async function records(): Promise<void> {
  const zone = body(await client.POST('/v1/dns/zones', { body: { name: 'typescript.example' } }))
  const record = { type: 'A', name: 'www', content: '192.0.2.10' }
  const { id } = body(await client.POST('/v1/dns/zones/{id}/records', { params: { path: { id: zone.id } }, body: record }))
  const params = { path: { id } }
  isListed(body(await client.GET('/v1/dns/zones/{id}/records', { params: { path: { id: zone.id } } })), id)
  same(body(await client.GET('/v1/dns/records/{id}', { params })).content, '192.0.2.10')
  const updated = body(await client.PATCH('/v1/dns/records/{id}', { params, body: { content: '192.0.2.11', ttl: 60 } }))
  same([updated.content, updated.ttl], ['192.0.2.11', 60])
  body(await client.DELETE('/v1/dns/records/{id}', { params }))
  isNotFound(await client.GET('/v1/dns/records/{id}', { params }))
}

async function heartbeats(): Promise<void> {
  const schedule = { kind: 'cron', expression: '0 3 * * *', timezone: 'UTC', grace_seconds: 60 } as const
  const { id } = body(await client.POST('/v1/heartbeats', { body: { name: 'typescript', schedule } }))
  const params = { path: { id } }
  isListed(body(await client.GET('/v1/heartbeats', { params: { query: { status: ['new'] } } })), id)
  const heartbeat = body(await client.GET('/v1/heartbeats/{id}', { params }))
  same([heartbeat.schedule, heartbeat.last_ping_at], [schedule, null])
  const updated = body(await client.PATCH('/v1/heartbeats/{id}', { params, body: { schedule: { grace_seconds: 20 } } }))
  same(updated.schedule, { ...schedule, grace_seconds: 20 })
  body(await client.DELETE('/v1/heartbeats/{id}', { params }))
  isNotFound(await client.GET('/v1/heartbeats/{id}', { params }))
}

async function webhookEndpoints(): Promise<void> {
  const url = 'http://127.0.0.1:9/typescript'
  const { id, secret } = body(await client.POST('/v1/webhook-endpoints', { body: { url, events: ['monitor.alert'] } }))
  same(secret?.startsWith('whsec_'), true)
  const params = { path: { id } }
  isListed(body(await client.GET('/v1/webhook-endpoints')), id)
  const endpoint = body(await client.GET('/v1/webhook-endpoints/{id}', { params }))
  same([endpoint.url, endpoint.events], [url, ['monitor.alert']])
  const updated = body(await client.PATCH('/v1/webhook-endpoints/{id}', { params, body: { description: 'alerts' } }))
  same(updated.description, 'alerts')
  body(await client.DELETE('/v1/webhook-endpoints/{id}', { params }))
  isNotFound(await client.GET('/v1/webhook-endpoints/{id}', { params }))
}

await monitors()
await records()
await heartbeats()
await webhookEndpoints()
