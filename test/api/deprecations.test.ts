import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { flushDeprecatedUse } from '../../src/api/deprecated-use'
import { area, route } from '../../src/api/route'
import type { Route } from '../../src/api/route-declaration'
import { deprecated } from '../../src/core/deprecation'
import { ListOf, Shape } from '../../src/core/shapes'
import { describeAreas } from '../../src/hub/openapi'
import { callerWith, world } from '../support/world'

// Nothing in the API is deprecated; these operations exist only in this test.
const notice = { since: '2027-01-31', sunset: '2028-01-31', link: '/docs/api#things', note: 'Use another.' }
const Thing = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    name: Type.String({ description: 'Name.' }),
    label: deprecated(Type.String({ description: 'The old name.' }), notice),
  },
  { $id: 'Thing', description: 'A thing.', examples: [{ id: 'thing_1', name: 'one', label: 'one' }] },
)
const ThingInput = Shape(
  {
    name: Type.Optional(Type.String({ description: 'Name.' })),
    label: Type.Optional(deprecated(Type.String({ description: 'The old name.' }), notice)),
    parts: Type.Optional(
      Type.Array(
        Shape({ size: Type.Optional(deprecated(Type.Integer({ description: 'Size.' }), { ...notice, sunset: '2028-06-01' })) }),
        { description: 'Parts.' },
      ),
    ),
  },
  { $id: 'ThingInput', description: 'A thing to make.', examples: [{ name: 'one' }] },
)
const thing = { id: 'thing_1', name: 'one', label: 'one' }
const page = { data: [thing], pagination: { has_more: true, next_cursor: 'abc' } }
const shared = { guard: 'dns.read' as const, summary: 'A thing', description: 'Things.' }
const things = area('things', 'Tokens', [
  route({
    ...shared,
    method: 'GET',
    path: '/test/things',
    operationId: 'listThings',
    query: Shape({
      tag: Type.Optional(deprecated(Type.String({ description: 'Tag.' }), notice)),
      word: Type.Optional(Type.String({ description: 'Word.' })),
    }),
    response: ListOf(Thing),
    run: async () => page,
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/test/things',
    action: 'heartbeat.create',
    operationId: 'createThing',
    body: ThingInput,
    run: async () => ({}),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/test/old/:id',
    operationId: 'getOld',
    deprecated: notice,
    run: async () => ({}),
  }),
])

const scene = async () => await world({}, [things])
const noticeHeaders = (response: { headers: Headers }) => [response.headers.get('deprecation'), response.headers.get('sunset')]
const yes = ['@1801353600', 'Mon, 31 Jan 2028 00:00:00 GMT']
const no = [null, null]
const links = '</docs/api#things>; rel="deprecation"; type="text/html", </docs/api#things>; rel="sunset"; type="text/html"'

test('a deprecated operation is announced in every response, including errors', async () => {
  const { acme, rival } = await scene()
  const response = await acme.call('GET', '/test/old/1')
  expect(noticeHeaders(response)).toEqual(yes)
  expect(response.headers.get('link')).toBe(links)
  expect(noticeHeaders(await rival.call('GET', '/test/old/1?nonsense=1'))).toEqual(yes)
})

test('a deprecated parameter or field is announced only where it is used', async () => {
  const { acme } = await scene()
  expect(noticeHeaders(await acme.call('GET', '/test/things?fields=name&word=x'))).toEqual(no)
  expect(noticeHeaders(await acme.call('GET', '/test/things?fields=name&tag=x'))).toEqual(yes)
  expect(noticeHeaders(await acme.call('GET', '/test/things?fields=label'))).toEqual(yes)
  expect(noticeHeaders(await acme.call('GET', '/test/things'))).toEqual(yes)
  expect(noticeHeaders(await acme.call('POST', '/test/things', { name: 'x' }))).toEqual(no)
  expect(noticeHeaders(await acme.call('POST', '/test/things', { label: 'x' }))).toEqual(yes)
  expect(noticeHeaders(await acme.call('POST', '/test/things', { parts: [{}] }))).toEqual(no)
  expect(noticeHeaders(await acme.call('POST', '/test/things', { parts: [{}, { size: 1 }] }))).toEqual([
    yes[0]!,
    'Thu, 01 Jun 2028 00:00:00 GMT',
  ])
})

test('the link to the next page is kept', async () => {
  const { acme } = await scene()
  expect((await acme.call('GET', '/test/things')).headers.get('link')).toBe(`${links}, </test/things?cursor=abc>; rel="next"`)
})

test('uses are counted per token, and shown to the workspace', async () => {
  const w = await scene()
  const token = await w.acme.call('POST', '/v1/tokens', { name: 'old script', permissions: ['dns.read'] })
  const script = callerWith(w.app, w.acme.workspaceId, token.body.token)
  for (const path of ['/test/things?tag=x', '/test/things?fields=name&tag=y', '/test/old/1']) await script.call('GET', path)
  await script.call('POST', '/test/things', { parts: [{ size: 1 }] })
  w.clock.advance(1000)
  await w.acme.call('GET', '/test/old/1')
  await w.rival.call('GET', '/test/old/1')
  await flushDeprecatedUse(w.hub)
  await w.acme.call('GET', '/test/old/2')
  const { body } = await w.acme.call('GET', '/v1/deprecations')
  expect(body.data.map((one: any) => [one.id, one.kind, one.name, one.uses])).toEqual([
    ['listThings?tag', 'parameter', 'tag', 2],
    ['listThings=label', 'response_field', 'label', 1],
    ['createThing:/label', 'request_field', '/label', 0],
    ['createThing:/parts/*/size', 'request_field', '/parts/*/size', 1],
    ['getOld', 'operation', null, 3],
  ])
  expect(body.data[4]).toMatchObject({ ...notice, operation_id: 'getOld', method: 'GET', path: '/test/old/{id}' })
  expect(body.data[4].tokens.map((one: any) => [one.name, one.uses])).toEqual([
    ['full token', 2],
    ['old script', 1],
  ])
  expect(body.data[4].last_used_at).toBe(body.data[4].tokens[0].last_used_at)
  expect(Date.parse(body.data[4].tokens[0].last_used_at) - Date.parse(body.data[4].tokens[1].last_used_at)).toBe(1000)
  expect(body.data[2]).toMatchObject({ last_used_at: null, tokens: [] })
  const other = await w.rival.call('GET', '/v1/deprecations?fields=uses,tokens')
  expect(other.body.data[4]).toMatchObject({ uses: 1, tokens: [{ uses: 1 }] })
  expect(other.text).not.toContain('old script')
})

test('requests that are refused before validation are not counted', async () => {
  const w = await scene()
  await (await w.scoped('monitoring.read')).call('GET', '/test/old/1')
  await w.acme.call('GET', '/test/old/1?nonsense=1')
  await w.acme.call('POST', '/test/things', { label: 7 })
  const { body } = await w.acme.call('GET', '/v1/deprecations')
  expect(body.data.map((one: any) => one.uses)).toEqual([0, 0, 0, 0, 0])
})

test('nothing in the API is deprecated today', async () => {
  const { acme } = await world()
  expect((await acme.call('GET', '/v1/deprecations')).body).toEqual({
    data: [],
    pagination: { has_more: false, next_cursor: null },
  })
})

test('the OpenAPI document marks deprecated parts', async () => {
  const { paths, components } = (await describeAreas([things])) as any
  const old = paths['/test/old/{id}'].get
  expect(old.deprecated).toBe(true)
  expect(old.description).toContain('Deprecated since 2027-01-31; will be removed after 2028-01-31. Use another.')
  expect(Object.keys(old.responses[200].headers)).toEqual(expect.arrayContaining(['Deprecation', 'Sunset', 'Link']))
  const list = paths['/test/things'].get
  expect(list.deprecated).toBeUndefined()
  const parameter = (name: string) => list.parameters.find((one: any) => one.name === name)
  expect(parameter('tag')).toMatchObject({ deprecated: true, schema: { type: 'string' } })
  expect(parameter('word').deprecated).toBeUndefined()
  expect(components.schemas.Thing.properties.label).toMatchObject({ deprecated: true, type: 'string' })
  expect(components.schemas.ThingInput.properties.label.deprecated).toBe(true)
  expect(components.headers.Sunset).toBeDefined()
  expect(JSON.stringify(paths)).not.toContain('x-deprecation')
})

test('an operation with a sunset less than a year away is rejected', () => {
  const soon: Route = route({
    ...shared,
    method: 'GET',
    path: '/test/soon',
    operationId: 'getSoon',
    deprecated: { ...notice, sunset: '2027-12-31' },
    run: async () => ({}),
  })
  expect(() => area('soon', 'Tokens', [soon])).toThrow('less than 12 months')
})
