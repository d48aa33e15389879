import { expect, test } from 'bun:test'
import { openapiDocument } from '../../src/hub/openapi'
import { checkResponse } from '../support/check-response'
import { world, type World } from '../support/world'

const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 10 }

async function heartbeat(w: World, name = 'nightly'): Promise<any> {
  return (await w.acme.call('POST', '/v1/heartbeats', { name, schedule })).body
}

test('a resource contains only the requested fields and its id', async () => {
  const w = await world()
  const { id } = await heartbeat(w)
  const { body } = await w.acme.call('GET', `/v1/heartbeats/${id}?fields=name,schedule`)
  expect(body).toEqual({ id, name: 'nightly', schedule })
})

test('list items contain only the requested fields, and pagination still works', async () => {
  const w = await world()
  const created = [await heartbeat(w, 'one'), await heartbeat(w, 'two')].map(one => ({ id: one.id, name: one.name })).reverse()
  const first = await w.acme.call('GET', '/v1/heartbeats?limit=1&fields=name&include=total')
  expect(first.body).toEqual({ data: [created[0]], pagination: { has_more: true, next_cursor: expect.any(String), total: 2 } })
  const next = /<([^>]*)>; rel="next"/.exec(first.headers.get('link')!)![1]!
  expect(next).toContain('fields=name')
  expect((await w.acme.call('GET', next)).body.data).toEqual([created[1]])
})

test('lists without pagination and resources without an id support it too', async () => {
  const { acme } = await world()
  const limits = await acme.call('GET', '/v1/limits?fields=limit,max')
  expect(limits.body.data).toContainEqual({ limit: 'tokens', max: null })
  expect(Object.keys((await acme.call('GET', '/v1/heartbeats/ping-key?fields=created_at')).body)).toEqual(['created_at'])
})

test('a field of the resource named data can be selected', async () => {
  const w = await world()
  await w.acme.call('POST', '/v1/heartbeats', { name: 'silent', schedule, first_ping_within_seconds: 60 })
  await w.advance(3_600_000)
  const [event] = (await w.acme.call('GET', '/v1/events?fields=data')).body.data
  expect(Object.keys(event)).toEqual(['id', 'data'])
  expect((await w.acme.call('GET', `/v1/events/${event.id}?fields=data`)).body).toEqual(event)
  expect((await w.acme.call('GET', `/v1/events/${event.id}?fields=kind`)).body).toEqual({ id: event.id, kind: 'monitor.alert' })
})

test.each([
  ['nonsense', '#/query/fields/0', 'enum'],
  ['name,nonsense', '#/query/fields/1', 'enum'],
  ['schedule.kind', '#/query/fields/0', 'enum'],
  ['expanded', '#/query/fields/0', 'enum'],
  ['', '#/query/fields/0', 'enum'],
  ['name,name', '#/query/fields', 'not_unique'],
])('fields=%s is refused with the name of the parameter and the allowed fields', async (fields, pointer, code) => {
  const { acme } = await world()
  const refused = await acme.call('GET', `/v1/heartbeats?fields=${fields}`)
  expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 400, code: 'invalid_parameter' })
  expect(refused.body.errors[0]).toMatchObject({ pointer, code })
  if (code === 'enum') for (const name of ['"id"', '"name"', '"updated_at"']) expect(refused.body.detail).toContain(name)
})

test('the ETag covers the selected fields, and uses the version of the resource', async () => {
  const w = await world()
  const { id } = await heartbeat(w)
  const path = `/v1/heartbeats/${id}?fields=name`
  const etag = (await w.acme.call('GET', path)).headers.get('etag')!
  expect(etag).toStartWith('"1.')
  expect(etag).not.toBe((await w.acme.call('GET', `/v1/heartbeats/${id}`)).headers.get('etag')!)
  const again = await w.acme.call('GET', path, undefined, { 'if-none-match': etag })
  expect({ status: again.status, text: again.text, etag: again.headers.get('etag') }).toEqual({ status: 304, text: '', etag })
  const edited = await w.acme.call('PATCH', `/v1/heartbeats/${id}`, { name: 'weekly' }, { 'if-match': etag })
  expect(edited.status).toBe(200)
  expect((await w.acme.call('GET', path, undefined, { 'if-none-match': etag })).body).toEqual({ id, name: 'weekly' })
  expect((await w.acme.call('PATCH', `/v1/heartbeats/${id}`, { name: 'daily' }, { 'if-match': etag })).status).toBe(412)
})

test('exactly the operations that read resources have the parameter, with the fields of the resource', async () => {
  const { paths, components } = await openapiDocument()
  let seen = 0
  for (const operation of Object.values(paths).flatMap(methods => Object.entries(methods))) {
    const [method, { operationId, parameters, responses, security }] = operation as [string, any]
    const parameter = parameters.find((one: any) => one.name === 'fields')
    const answer = responses[200]?.content?.['application/json']?.schema
    // A response with several media types is a file.
    const isFile = Object.keys(responses[200]?.content ?? {}).length > 1
    const reads = method === 'get' && answer !== undefined && !isFile && security.length > 0
    expect([operationId, parameter !== undefined]).toEqual([operationId, reads])
    if (!reads) continue
    seen++
    expect([operationId, parameter]).toEqual([operationId, expect.objectContaining({ style: 'form', explode: false })])
    // An enum with a single value is written as a constant.
    const words = parameter.schema.items.enum ?? [parameter.schema.items.const]
    const follow = (schema: any) => (schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)]! : schema)
    const resourceIn = (form: any) => follow(follow(form).properties.data?.items ?? form)
    const [whole, partial] = answer.anyOf.map(resourceIn)
    expect(Object.keys(whole.properties)).toEqual(expect.arrayContaining(words))
    expect([operationId, partial.properties]).toEqual([operationId, whole.properties])
    expect([operationId, partial.required]).toEqual([operationId, words.includes('id') ? ['id'] : []])
  }
  expect(seen).toBeGreaterThan(15)
})

test('extra and missing fields in a response are detected', async () => {
  const w = await world()
  const { id } = await heartbeat(w)
  const headers = { 'content-type': 'application/json', 'x-request-id': 'req_1', etag: '"1.a"' }
  const check = (body: object) => () =>
    checkResponse('GET', `/v1/heartbeats/${id}?fields=name`, new Response(null, { headers }), body)
  expect(check({ id, name: 'nightly' })).not.toThrow()
  expect(check({ id })).toThrow('name')
  expect(check({ id, name: 7 })).toThrow('name')
  expect(check({ name: 'nightly' })).toThrow('id')
  expect(check({ id, name: 'nightly', slug: 'nightly' })).toThrow('slug')
  // Without `fields`, all required fields must be there.
  expect(() => checkResponse('GET', `/v1/heartbeats/${id}`, new Response(null, { headers }), { id, name: 'nightly' })).toThrow(
    'slug',
  )
})
