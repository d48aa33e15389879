import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import type { Route } from '../../src/access/route'
import { eventKinds } from '../../src/core/events'
import { problemKinds } from '../../src/core/problem'
import { apiAreas, ingestAreas } from '../../src/hub/areas'
import { openapiDocument } from '../../src/hub/openapi'
import { checkAnswer } from '../support/answers'
import { world } from '../support/world'

const golden = join(import.meta.dir, '../golden/openapi.json')
const document = await openapiDocument('https://hub.example.net')
const specs = [...apiAreas, ...ingestAreas]
  .flatMap(area => area.routes)
  .map(one => (one.hooks as { detail?: { 'x-route'?: Route } }).detail?.['x-route'])
  .filter(spec => spec !== undefined)
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

test('the description is the one that was reviewed; UPDATE_GOLDEN=1 takes on a change', async () => {
  const text = `${JSON.stringify(document, null, 2)}\n`
  if (process.env.UPDATE_GOLDEN === '1') await Bun.write(golden, text)
  // Compared as values first: the difference is shown by member, not as one long text.
  expect(JSON.parse(text)).toEqual(await Bun.file(golden).json())
  expect(text).toBe(await Bun.file(golden).text())
})

test('it breaks none of Redocly’s strict rules, as it is served', async () => {
  const { stranger } = await world()
  const served = await stranger.call('GET', '/v1/openapi.json')
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
}, 60_000)

test('it is served to strangers, names the address of the hub, and is not sent twice', async () => {
  const { stranger } = await world({ BAILIWICK_BASE_URL: 'https://hub.example.org' })
  const first = await stranger.call('GET', '/v1/openapi.json')
  expect(first.status).toBe(200)
  expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(first.body.openapi).toBe('3.1.0')
  expect(first.body.servers[0].variables.base_url.default).toBe('https://hub.example.org')
  const again = await stranger.call('GET', '/v1/openapi.json', undefined, { 'if-none-match': first.headers.get('etag')! })
  expect(again.status).toBe(304)
  expect(again.text).toBe('')
})

test('it has every route and nothing else, with the guard and the audit action of each', () => {
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

test('a caller who must be known is described as one', () => {
  for (const { operation } of operations) {
    const spec = specs.find(one => one.operationId === operation.operationId)!
    const known = spec.guard !== 'anyone' && spec.guard !== 'ingest'
    expect([operation.operationId, operation.security]).toEqual([
      operation.operationId,
      known ? [{ token: [] }, { session: [] }] : [],
    ])
    if (known)
      expect([operation.operationId, Object.keys(operation.responses)]).toEqual([
        operation.operationId,
        expect.arrayContaining(['400', '401', '403', '404', '429', '500']),
      ])
  }
})

test('the codes of errors are the closed list', () => {
  expect(document.components.schemas.Problem!.properties.code.enum).toEqual(Object.keys(problemKinds))
  const named = new Set(
    JSON.stringify([document.components.responses, operations.map(one => one.operation.responses)]).match(
      /(?<=`)[a-z_]+(?=`[,.])/g,
    ),
  )
  for (const code of named) expect(Object.keys(problemKinds)).toContain(code)
})

test('no word of our own validator is left in it', () => {
  expect(JSON.stringify(document)).not.toMatch(/"(\$id|x-rule|x-route|x-discriminator|patternProperties)":/)
})

test('each webhook message is described, and its example fits', () => {
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

test('answers that the description does not have are found', async () => {
  const { acme } = await world()
  const made = await acme.call('POST', '/v1/tokens', { name: 'ci', permissions: ['dns.read'] })
  const answer = (status: number, headers: Record<string, string> = {}) =>
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
  const { id, ...without } = made.body
  expect(() => checkAnswer('POST', '/v1/tokens', answer(201), made.body)).not.toThrow()
  expect(() => checkAnswer('POST', '/v1/tokens', answer(200), made.body)).toThrow('a status that the document does not have')
  expect(() => checkAnswer('POST', '/v1/tokens', answer(201), without)).toThrow("must have required property 'id'")
  expect(() => checkAnswer('POST', '/v1/tokens', answer(201), { ...made.body, secret_thing: 1 })).toThrow('secret_thing')
  expect(() => checkAnswer('POST', '/v1/tokens', answer(201, { 'content-type': 'application/xml' }), made.body)).toThrow(
    'as application/xml',
  )
  expect(() =>
    checkAnswer(
      'GET',
      `/v1/tokens/${id}`,
      new Response(null, { headers: { 'content-type': 'application/json', 'x-request-id': 'req_1' } }),
      without,
    ),
  ).toThrow('without the header ETag')
  expect(() => checkAnswer('GET', '/v1/nonsense', answer(200), {})).toThrow('no such operation')
  expect(() =>
    checkAnswer('GET', '/v1/nonsense', answer(404, { 'content-type': 'application/problem+json' }), { code: 'not_found' }),
  ).toThrow('does not fit')
})

test('a body in which nothing is required may be left out, and the description says so', async () => {
  const { acme } = await world()
  const made = await acme.call('POST', '/v1/tokens', { name: 'ci', permissions: ['dns.read'] })
  const edited = await acme.call('PATCH', `/v1/tokens/${made.body.id}`)
  expect([edited.status, edited.body.name]).toEqual([200, 'ci'])
  expect(document.paths['/v1/tokens/{id}']!.patch!.requestBody.required).toBe(false)
  expect(document.paths['/v1/tokens']!.post!.requestBody.required).toBe(true)
})

test('an address of the API has no other form with a slash at its end', async () => {
  const { acme, stranger } = await world()
  for (const path of ['/v1/tokens/', '/v1/limits/', '/v1/openapi.json/']) {
    const answer = await acme.call('GET', path)
    expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'not_found'])
  }
  expect((await acme.call('POST', '/v1/tokens/', { name: 'ci', permissions: ['dns.read'] })).status).toBe(404)
  expect((await stranger.call('GET', '/docs/')).status).toBe(200)
})

test('a path of its own allows its own methods, and not those of the resources beside it', async () => {
  const { acme } = await world()
  const asked = async (path: string) => (await acme.call('PUT', path)).headers.get('allow')
  expect(await asked('/v1/heartbeats/ping-key')).toBe('GET, HEAD')
  expect(await asked('/v1/tokens/report')).toBe('POST')
  expect(await asked('/v1/tokens/tok_1')).toBe('GET, PATCH, DELETE, HEAD')
})
