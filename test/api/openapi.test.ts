import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import type { Route } from '../../src/api/route-declaration'
import { eventKinds } from '../../src/features/event-kinds'
import { problemKinds } from '../../src/core/problem'
import { apiAreas, ingestAreas } from '../../src/hub/areas'
import { openapiDocument } from '../../src/hub/openapi'
import { checkResponse } from '../support/check-response'
import { apiOutline } from '../support/api-outline'
import { world } from '../support/world'

const golden = join(import.meta.dir, '../golden/openapi.txt')
const document = await openapiDocument('https://hub.example.net')
const specs = [...apiAreas, ...ingestAreas]
  .flatMap(area => area.routes)
  .map(one => (one.hooks as { detail?: { 'x-route'?: Route } }).detail?.['x-route'])
  .filter(spec => spec !== undefined)
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

test('the operations and fields are as reviewed; UPDATE_GOLDEN=1 accepts a change', async () => {
  const lines = apiOutline(document)
  if (process.env.UPDATE_GOLDEN === '1') await Bun.write(golden, `${lines.join('\n')}\n`)
  const reviewed = (await Bun.file(golden).text()).trimEnd().split('\n')
  const added = lines.filter(line => !reviewed.includes(line))
  const removed = reviewed.filter(line => !lines.includes(line))
  expect({ added, removed }).toEqual({ added: [], removed: [] })
  expect(lines).toEqual(reviewed)
})

test('the served document passes the strict rules of Redocly', async () => {
  const { anonymous } = await world()
  const served = await anonymous.call('GET', '/v1/openapi.json')
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-openapi-'))
  try {
    await Bun.write(join(folder, 'openapi.json'), served.text)
    const lint = Bun.spawn(
      [
        process.execPath,
        'node_modules/@redocly/cli/bin/cli.js',
        'lint',
        join(folder, 'openapi.json'),
        '--config',
        'src/hub/redocly.yaml',
        '--format',
        'json',
      ],
      {
        cwd: join(import.meta.dir, '../..'),
        stdout: 'pipe',
        stderr: 'pipe',
        env: { PATH: process.env.PATH, HOME: folder, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    )
    const { totals, problems } = (await new Response(lint.stdout).json()) as {
      totals: object
      problems: { ruleId: string; message: string; location: { pointer: string }[] }[]
    }
    expect(problems.map(one => `${one.ruleId}: ${one.message} at ${one.location[0]?.pointer}`)).toEqual([])
    expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 })
    expect(await lint.exited).toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
}, 300_000)

test('it needs no authentication, has the URL of the hub, and is not sent again if unchanged', async () => {
  const { anonymous } = await world({ BAILIWICK_BASE_URL: 'https://hub.example.org' })
  const first = await anonymous.call('GET', '/v1/openapi.json')
  expect(first.status).toBe(200)
  expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(first.body.openapi).toBe('3.1.0')
  expect(first.body.servers[0].variables.base_url.default).toBe('https://hub.example.org')
  const again = await anonymous.call('GET', '/v1/openapi.json', undefined, { 'if-none-match': first.headers.get('etag')! })
  expect(again.status).toBe(304)
  expect(again.text).toBe('')
})

test('it has every route and nothing else, with its guard and audit action', () => {
  const described = operations.map(
    ({ path, method, operation }) =>
      `${method.toUpperCase()} ${path} ${operation['x-permission'] ?? ''} ${operation['x-audit-action'] ?? ''}`,
  )
  const real = specs.map(
    spec =>
      `${spec.method} ${spec.path.replaceAll(/:(\w+)/g, '{$1}')} ${spec.guard.includes('.') ? spec.guard : ''} ${spec.action ?? ''}`,
  )
  expect(described.sort()).toEqual(real.sort())
})

test('operations that require authentication are described as such', () => {
  for (const { operation } of operations) {
    const spec = specs.find(one => one.operationId === operation.operationId)!
    const requiresAuth = spec.guard !== 'anyone' && spec.guard !== 'ingest'
    expect([operation.operationId, operation.security]).toEqual([
      operation.operationId,
      spec.guard === 'session' ? [{ session: [] }] : requiresAuth ? [{ token: [] }, { session: [] }] : [],
    ])
    if (requiresAuth)
      expect([operation.operationId, Object.keys(operation.responses)]).toEqual([
        operation.operationId,
        expect.arrayContaining(['400', '401', '403', '404', '429', '500']),
      ])
  }
})

test('examples of bulk requests have the ids of the resources that their operations change', () => {
  const examples = operations
    .filter(one => one.path.endsWith('/bulk'))
    .map(({ path, operation }) => {
      const media = operation.requestBody.content['application/json']
      return [path, media.example.operations.map((one: any) => [one.op, one.id?.split('_')[0]])]
    })
  expect(Object.fromEntries(examples)).toMatchObject({
    '/v1/dns/records/bulk': [
      ['create', 'zone'],
      ['update', 'rec'],
      ['delete', 'rec'],
    ],
    '/v1/heartbeats/bulk': [
      ['create', undefined],
      ['update', 'hb'],
      ['delete', 'hb'],
      ['pause', 'hb'],
      ['resume', 'hb'],
    ],
  })
})

test('it has exactly the defined error codes', () => {
  expect(document.components.schemas.Problem!.properties.code.enum).toEqual(Object.keys(problemKinds))
  const named = new Set(
    JSON.stringify([document.components.responses, operations.map(one => one.operation.responses)]).match(
      /(?<=`)[a-z_]+(?=`[,.])/g,
    ),
  )
  for (const code of named) expect(Object.keys(problemKinds)).toContain(code)
})

test('it contains no keywords of our own validator', () => {
  expect(JSON.stringify(document)).not.toMatch(/"(\$id|x-rule|x-route|x-discriminator|x-group|patternProperties)":/)
})

test('each webhook message is described, and its example is valid', () => {
  expect(Object.keys(document.webhooks)).toEqual(eventKinds.map(one => one.kind))
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  ajv.addSchema(document, 'openapi.json', undefined, false)
  for (const [kind, { post }] of Object.entries(document.webhooks)) {
    const { schema, example } = post.requestBody.content['application/json']
    const check = ajv.compile({ $ref: `openapi.json${schema.$ref}` })
    expect([kind, check(example), check.errors]).toEqual([kind, true, null])
    expect(check({ ...example, extra: 1 })).toBe(false)
    expect(example.event).toBe(kind)
    const names = post.parameters.filter((one: { required: boolean }) => one.required).map((one: { name: string }) => one.name)
    expect(names).toEqual(expect.arrayContaining(['X-Service-Event', 'X-Service-Timestamp', 'X-Service-Signature', 'webhook-id']))
  }
})

test('undocumented responses are detected', async () => {
  const { acme } = await world()
  const created = await acme.call('POST', '/v1/tokens', { name: 'ci', permissions: ['dns.read'] })
  const responseWith = (status: number, headers: Record<string, string> = {}) =>
    new Response(null, {
      status,
      headers: {
        'content-type': 'application/json',
        'x-request-id': 'req_1',
        etag: '"1.a"',
        location: '/v1/tokens/x',
        ...headers,
      },
    })
  const { id, ...without } = created.body
  expect(() => checkResponse('POST', '/v1/tokens', responseWith(201), created.body)).not.toThrow()
  expect(() => checkResponse('POST', '/v1/tokens', responseWith(200), created.body)).toThrow(
    'a status that the document does not have',
  )
  expect(() => checkResponse('POST', '/v1/tokens', responseWith(201), without)).toThrow("must have required property 'id'")
  expect(() => checkResponse('POST', '/v1/tokens', responseWith(201), { ...created.body, secret_thing: 1 })).toThrow(
    'secret_thing',
  )
  expect(() =>
    checkResponse('POST', '/v1/tokens', responseWith(201, { 'content-type': 'application/xml' }), created.body),
  ).toThrow('as application/xml')
  expect(() =>
    checkResponse(
      'GET',
      `/v1/tokens/${id}`,
      new Response(null, { headers: { 'content-type': 'application/json', 'x-request-id': 'req_1' } }),
      without,
    ),
  ).toThrow('without the header ETag')
  expect(() => checkResponse('GET', '/v1/nonsense', responseWith(200), {})).toThrow('no such operation')
  expect(() =>
    checkResponse('GET', '/v1/nonsense', responseWith(404, { 'content-type': 'application/problem+json' }), {
      code: 'not_found',
    }),
  ).toThrow('does not match')
})

test('a body without required fields can be omitted, as documented', async () => {
  const { acme } = await world()
  const created = await acme.call('POST', '/v1/tokens', { name: 'ci', permissions: ['dns.read'] })
  const edited = await acme.call('PATCH', `/v1/tokens/${created.body.id}`)
  expect([edited.status, edited.body.name]).toEqual([200, 'ci'])
  expect(document.paths['/v1/tokens/{id}']!.patch!.requestBody.required).toBe(false)
  expect(document.paths['/v1/tokens']!.post!.requestBody.required).toBe(true)
})

test('API paths don’t accept a trailing slash', async () => {
  const { acme, anonymous } = await world()
  for (const path of ['/v1/tokens/', '/v1/limits/', '/v1/openapi.json/']) {
    const answer = await acme.call('GET', path)
    expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'not_found'])
  }
  expect((await acme.call('POST', '/v1/tokens/', { name: 'ci', permissions: ['dns.read'] })).status).toBe(404)
  expect((await anonymous.call('GET', '/docs/')).status).toBe(200)
})

test('a literal path only allows its own methods, not those of the resource path', async () => {
  const { acme } = await world()
  const allowed = async (path: string) => (await acme.call('PUT', path)).headers.get('allow')
  expect(await allowed('/v1/heartbeats/ping-key')).toBe('GET, HEAD')
  expect(await allowed('/v1/tokens/report')).toBe('POST')
  expect(await allowed('/v1/tokens/tok_1')).toBe('GET, PATCH, DELETE, HEAD')
})
