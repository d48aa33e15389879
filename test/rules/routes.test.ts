import { describe, expect, test } from 'bun:test'
import type { TObject } from '@sinclair/typebox'
import { withSecretsOmitted } from '../../src/api/response'
import type { Route } from '../../src/api/route-declaration'
import { auditActions } from '../../src/features/audit-actions'
import { settleMs } from '../../src/features/certificates/gaps-job'
import { workOutAllGaps } from '../../src/features/coverage/schedule'
import { addUser } from '../../src/features/people/users'
import { jobContext, systemActor } from '../../src/core/change'
import { areas, permissions, type Permission } from '../../src/core/permissions'
import { fieldProblems } from '../../src/core/validate'
import { resourceEntries } from '../../src/registry'
import { AcmeDouble } from '../support/acme-double'
import { Authenticator } from '../support/authenticator'
import { AgentDouble } from '../support/agent-double'
import { cloudScene } from '../support/clouds/cloud-scene'
import { origin, password, person, type Call } from '../support/people'
import { callerWith, closeLater, world } from '../support/world'

// Checks every operation of the router, so that new operations are covered automatically.

// The tests send hundreds of unauthenticated requests, and the clock stands still.
const here = await world({
  BAILIWICK_ANONYMOUS_PER_MINUTE: '1000000',
  BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '1000000',
  // Passkeys need a hostname.
  BAILIWICK_BASE_URL: origin,
})
const { hub, app, acme, rival, readOnly, anonymous, scoped, audited, advance } = here

/** Operations without authentication, with the reason. This list may only shrink. */
const open: Record<string, string> = {
  'GET /v1/setup': 'needed before anyone can sign in; returns one boolean',
  'POST /v1/setup': 'creates the first user, with the token of the setup link',
  'POST /v1/sessions': 'signs in',
  'POST /v1/sessions/passkey/options': 'starts signing in; stores nothing',
  'POST /v1/sessions/passkey': 'signs in; the signature of the passkey is the credential',
  'POST /v1/password-resets': 'users who forgot their password can’t sign in; the response reveals nothing',
  'POST /v1/password-resets/redeem': 'users who forgot their password can’t sign in; the code is the credential',
  'GET /v1/sessions/methods': 'needed by the sign-in page; returns nothing about users',
  'POST /v1/invitations/preview': 'invited people may have no account yet; the code is the credential',
  'POST /v1/invitations/accept': 'invited people may have no account yet; the code is the credential',
  'GET /v1/sign-up': 'needed before anyone can sign in; only returns the mode',
  'POST /v1/sign-up': 'signs up, if the operator allows it; five an hour per IP address',
  'POST /v1/tokens/report': 'finders of a token have no account; it can only revoke the token that is sent',
}

/** Paths under /v1 that are not API operations. This list may only shrink. */
const otherPaths = ['/v1/openapi.json']

const served = app.routes.filter(one => one.path.startsWith('/v1/')) as unknown as {
  method: string
  path: string
  hooks: { detail?: { 'x-route'?: Route } }
}[]
const specs = served.flatMap(one => one.hooks.detail?.['x-route'] ?? [])
const nameOf = (spec: Route) => `${spec.method} ${spec.path}`
const ingest = specs.filter(spec => spec.guard === 'ingest')
const guarded = specs.filter(spec => spec.guard !== 'anyone' && spec.guard !== 'ingest')
/** Operations that a token can call, and those that only a signed-in user can. */
const forTokens = guarded.filter(spec => spec.guard !== 'session')
const forPeople = guarded.filter(spec => spec.guard === 'session')
const permitted = guarded.filter(spec => spec.guard.includes('.'))
const withBody = guarded.filter(spec => spec.body)
const byName = (list: Route[]) => list.map(spec => [nameOf(spec), spec] as const)

/** A valid ID that no resource has. */
const unusedId = '01jd8f3q7eeb9bv0w0r8c7hq2m'
/** The path of an operation with values for its parameters. */
const pathOf = (spec: Route, id = unusedId) => spec.path.replace(':id', id).replace(/:[a-z_]+/g, '1')
const exampleOf = (spec: Route): unknown => {
  const example = (spec.body as { examples?: object[] } | undefined)?.examples?.[0]
  // Example hostnames would be resolved, but there may be no network.
  return example && 'url' in example ? { ...example, url: 'http://127.0.0.1:9/alerts' } : example
}
/** Example body and headers of an operation. */
const exampleRequest = (spec: Route): [body: unknown, headers?: Record<string, string>] => {
  const [text] = Object.entries(spec.textBody?.types ?? {})
  return text ? [text[1], { 'content-type': text[0] }] : [spec.body && exampleOf(spec)]
}

test('every path under /v1 is an operation with a guard', () => {
  expect(
    served
      .filter(one => !one.hooks.detail?.['x-route'] && !otherPaths.includes(one.path))
      .map(one => `${one.method} ${one.path}`),
  ).toEqual([])
  expect(guarded.length).toBeGreaterThan(20)
})

test('every resource with a path has operations there', () => {
  const isServed = (path: string) => specs.some(spec => `${spec.path}/`.startsWith(`/v1${path}/`))
  expect(resourceEntries.flatMap(({ path }) => (path === undefined || isServed(path) ? [] : [path]))).toEqual([])
})

test('only the listed operations need no authentication', () => {
  expect(
    specs
      .filter(spec => spec.guard === 'anyone')
      .map(nameOf)
      .sort(),
  ).toEqual(Object.keys(open).sort())
})

/** Ingest paths without a secret. Their clients send it in a header or in the query, or need none. */
const withoutSecret: readonly string[] = [
  '/v1/ingest/dynamic-ips/update',
  '/v1/ingest/dynamic-ips/offline',
  '/v1/ingest/dynamic-ips/address',
  '/v1/ingest/agents/enrol',
  '/v1/ingest/agents/reports',
  '/v1/ingest/agents/commands',
  '/v1/ingest/agents/live',
  '/v1/ingest/agents/command-results',
]

test('ingest paths are under /v1/ingest, with the secret of their source, but for calendars', () => {
  expect(ingest.length).toBeGreaterThan(0)
  const others = ingest.filter(spec => !/^\/v1\/(?:ingest\/[a-z-]+|calendar-feeds)\/:/.test(spec.path)).map(spec => spec.path)
  expect([...new Set(others)].sort()).toEqual([...withoutSecret].sort())
})

test('every write has an audit action of the catalog', () => {
  const actions: ReadonlySet<string | undefined> = new Set(auditActions.map(one => one.action))
  expect(guarded.filter(spec => spec.method !== 'GET' && !actions.has(spec.action)).map(nameOf)).toEqual([])
})

test('writes require a write permission', () => {
  const wrong = permitted.filter(spec => spec.method !== 'GET' && !spec.guard.endsWith('.write'))
  expect(wrong.map(nameOf)).toEqual([])
})

test('operation IDs are unique, and bodies have examples', () => {
  expect(new Set(specs.map(spec => spec.operationId)).size).toBe(specs.length)
  expect(specs.filter(spec => spec.body && exampleOf(spec) === undefined).map(nameOf)).toEqual([])
})

test.each(byName(specs.filter(spec => spec.secretFields)))('a replay of %s fits its response schema', (_, spec) => {
  const response = spec.response as TObject
  const examples = response.examples as object[]
  expect(examples).not.toBeEmpty()
  for (const example of examples)
    expect(fieldProblems(response, withSecretsOmitted(response, spec.secretFields!, example))).toEqual([])
})

describe('an unauthenticated client', () => {
  test.each(byName(guarded))('gets 401 from %s, whatever it sends', async (_, spec) => {
    const bare = await anonymous.call(spec.method, pathOf(spec))
    expect({ status: bare.status, code: bare.body.code, challenge: bare.headers.get('www-authenticate') }).toEqual({
      status: 401,
      code: 'unauthenticated',
      challenge: 'Bearer realm="bailiwick"',
    })
    expect((await anonymous.call(spec.method, `${pathOf(spec)}?nonsense=1`)).status).toBe(401)
    if (spec.method !== 'GET') expect((await anonymous.call(spec.method, pathOf(spec), '{"broken')).status).toBe(401)
    expect(
      (await anonymous.call(spec.method, pathOf(spec), undefined, { authorization: 'Bearer bw_live_nonsense' })).body.code,
    ).toBe('invalid_token')
  })
})

describe('a wrong secret', () => {
  test('in a header or in the query gets 401', async () => {
    const open = withoutSecret.filter(path => !path.endsWith('/address'))
    for (const spec of ingest.filter(one => open.includes(one.path))) {
      expect([spec.path, (await anonymous.call(spec.method, spec.path)).status]).toEqual([spec.path, 401])
      // An API token doesn't work as the secret of a source.
      expect([spec.path, (await acme.call(spec.method, spec.path)).status]).toEqual([spec.path, 401])
    }
  })

  test.each(byName(ingest.filter(spec => !withoutSecret.includes(spec.path))))('gets 404 from %s', async (_, spec) => {
    const path = spec.path
      .replace(/:[a-z_]+/, '00000000-0000-4000-8000-000000000000')
      .replace(/:[a-z_]+/, 'fail')
      .replace(/:[a-z_]+/, '1')
    expect([400, 404]).toContain((await anonymous.call(spec.method, path)).status)
    // An API token doesn't work as the secret of a source.
    expect([400, 404]).toContain((await acme.call(spec.method, path)).status)
  })
})

describe('a token without permission', () => {
  test.each(byName(permitted))('gets 403 with the missing permission from %s, and the attempt is audited', async (_, spec) => {
    const lacking = permissions.filter(one => !implies(one, spec.guard as Permission))
    const caller = await scoped(...lacking)
    await audited()
    const refused = await caller.call(spec.method, pathOf(spec), spec.body && exampleOf(spec))
    expect({ status: refused.status, code: refused.body.code, missing: refused.body.required_permission }).toEqual({
      status: 403,
      code: 'insufficient_permission',
      missing: spec.guard,
    })
    expect(await audited()).toEqual([`${spec.action ?? 'account.resource.read'} denied`])
    // The request itself was not validated.
    expect((await caller.call(spec.method, `${pathOf(spec)}?nonsense=1`)).status).toBe(403)
  })

  test.each(byName(guarded.filter(spec => spec.guard === 'operator')))(
    'of another workspace gets 403 from %s',
    async (_, spec) => {
      const refused = await rival.call(spec.method, pathOf(spec), spec.body && exampleOf(spec))
      expect({ status: refused.status, missing: refused.body.required_permission }).toEqual({ status: 403, missing: 'operator' })
    },
  )

  test('several areas are covered', () => {
    const seen = new Set(permitted.map(spec => spec.guard.split('.')[0]))
    for (const area of ['monitoring', 'webhooks', 'account'] as const) expect(areas.includes(area) && seen.has(area)).toBe(true)
  })
})

describe('a token, where a session is required', () => {
  test.each(byName(forPeople))('gets 403 from %s, and the attempt is audited', async (_, spec) => {
    await audited()
    const refused = await acme.call(spec.method, pathOf(spec), spec.body && exampleOf(spec))
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 403, code: 'session_required' })
    expect(await audited()).toEqual([`${spec.action ?? 'account.resource.read'} denied`])
  })
})

describe('a read-only token', () => {
  test.each(byName(permitted.filter(spec => spec.guard.endsWith('.write'))))('gets 403 from %s', async (_, spec) => {
    const refused = await readOnly.call(spec.method, pathOf(spec), spec.body && exampleOf(spec))
    expect({ status: refused.status, missing: refused.body.required_permission }).toEqual({ status: 403, missing: spec.guard })
  })
})

// Shared by all workspaces. This list may only shrink.
const shared = ['/v1/plans/:id']

describe('another workspace', () => {
  test.each(
    byName(forTokens.filter(spec => spec.path.includes(':id') && spec.guard !== 'operator' && !shared.includes(spec.path))),
  )('gets 404 from %s', async (_, spec) => {
    const id = await ownId(spec.path.slice(0, spec.path.indexOf('/:id')))
    const refused = await rival.call(spec.method, pathOf(spec, id), ...exampleRequest(spec))
    expect({ status: refused.status, code: refused.body?.code }).toEqual({ status: 404, code: 'not_found' })
    expect(refused.text).not.toContain(acme.workspaceId)
  })

  test('did not change any resource', async () => {
    for (const [collection, id] of made)
      if (!(collection in personal)) expect((await acme.call('GET', `${collection}/${id}`)).status).toBe(200)
    expect(made.size).toBeGreaterThan(0)
  })
})

// Operations that don't depend on the workspace. This list may only shrink.
const workspaceIndependent = [
  'GET /v1/acme-directories',
  'GET /v1/plans',
  'GET /v1/plans/:id',
  'GET /v1/event-kinds',
  'GET /v1/cloud-kinds',
  'GET /v1/contacts/options',
  'GET /v1/controller-kinds',
  'GET /v1/dns/provider-kinds',
  'GET /v1/registrar-kinds',
  'GET /v1/dns/record-types',
  'GET /v1/heartbeats/due-times',
  'GET /v1/maintenance-windows/next-occurrences',
  'GET /v1/notification-channels/topics',
  'GET /v1/monitors/types',
  'GET /v1/notification-channels/kinds',
  'GET /v1/event-kinds/:kind',
  'GET /v1/audit-events/catalog',
  'GET /v1/registries',
  'GET /v1/registries/:tld',
]

/** Resources of a user, which other users and tokens can't access. */
const personal: Record<string, (call: Call) => Promise<string>> = {
  '/v1/sessions': async call => (await call('GET', '/v1/sessions/current')).body.id,
  '/v1/passkeys': async call => {
    const options = (await call('POST', '/v1/passkeys/options', { password })).body
    const credential = await new Authenticator(origin).create(options)
    return (await call('POST', '/v1/passkeys', { credential })).body.id
  },
}
const isPersonal = (spec: Route) => Object.keys(personal).some(path => spec.path.startsWith(`${path}/:id`))

describe('another user', () => {
  test.each(byName(guarded.filter(isPersonal)))('gets 404 from %s', async (_, spec) => {
    const own = await personOf('own@example.com')
    const other = await personOf('other@example.com')
    const collection = spec.path.slice(0, spec.path.indexOf('/:id'))
    const id = await ownId(collection)
    const refused = await other(spec.method, pathOf(spec, id), ...exampleRequest(spec))
    expect({ status: refused.status, code: refused.body?.code }).toEqual({ status: 404, code: 'not_found' })
    expect((await own('GET', `${collection}/${id}`)).status).toBe(200)
  })
})

// Operations that filter by access themselves and have their own tests. This list may only shrink.
const filteredByAccess = ['GET /v1/stream']

describe('a token restricted to a resource', async () => {
  const made = await acme.call('POST', '/v1/tokens', { name: 'restricted', mode: 'full', resource_ids: [`hb_${unusedId}`] })
  const restricted = callerWith(app, acme.workspaceId, made.body.token)
  const isOpen = (spec: Route) => workspaceIndependent.includes(nameOf(spec))
  const withId = forTokens.filter(spec => spec.path.includes(':') && !isOpen(spec) && spec.guard !== 'operator')
  const lists = forTokens.filter(spec => !spec.path.includes(':') && !isOpen(spec) && spec.query?.properties.cursor)
  const rest = forTokens.filter(
    spec =>
      !spec.path.includes(':') &&
      !isOpen(spec) &&
      !filteredByAccess.includes(nameOf(spec)) &&
      !lists.includes(spec) &&
      spec.guard !== 'operator',
  )

  test('can use operations that don’t depend on the workspace', async () => {
    expect(
      specs
        .filter(spec => spec.restrictedTokens === 'all')
        .map(nameOf)
        .sort(),
    ).toEqual([...workspaceIndependent].sort())
    for (const spec of specs.filter(spec => spec.restrictedTokens === 'all'))
      expect((await restricted.call('GET', pathOf(spec))).status).not.toBe(403)
  })

  test.each(byName(withId))('gets 404 for other resources from %s', async (_, spec) => {
    const id = await ownId(spec.path.slice(0, spec.path.indexOf('/:id')))
    const refused = await restricted.call(spec.method, pathOf(spec, id), ...exampleRequest(spec))
    expect({ status: refused.status, code: refused.body?.code }).toEqual({ status: 404, code: 'not_found' })
  })

  test.each(byName(lists))('gets no other resources from %s', async (_, spec) => {
    // Coverage is worked out together with gaps.
    await ownId(spec.path.replace(/\/agenda$/, '').replace('/certificates/coverage', '/certificate-gaps'))
    const counts = spec.query?.properties.include !== undefined
    const of = counts ? 'include=total' : 'from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z'
    const seen = await restricted.call('GET', `${spec.path}?${of}`)
    expect({ status: seen.status, data: seen.body.data, total: seen.body.pagination?.total }).toEqual({
      status: 200,
      data: [],
      total: counts ? 0 : undefined,
    })
  })

  test.each(byName(rest))('gets 403 from %s, and the attempt is audited', async (_, spec) => {
    await audited()
    const refused = await restricted.call(spec.method, pathOf(spec), spec.body && exampleOf(spec))
    expect({ status: refused.status, code: refused.body?.code }).toEqual({ status: 403, code: 'restricted_token' })
    expect(await audited()).toEqual([`${spec.action ?? 'account.resource.read'} denied`])
  })

  test.each(byName(guarded.filter(spec => spec.guard === 'operator')))('has no operator powers at %s', async (_, spec) => {
    const refused = await restricted.call(spec.method, pathOf(spec), spec.body && exampleOf(spec))
    expect({ status: refused.status, missing: refused.body.required_permission }).toEqual({ status: 403, missing: 'operator' })
  })
})

describe('request validation', () => {
  test.each(byName(guarded))('%s rejects unknown query parameters', async (_, spec) => {
    const refused = await (await callOf(spec))(spec.method, `${pathOf(spec)}?nonsense=1`, spec.body && exampleOf(spec))
    expect({ status: refused.status, code: refused.body?.code }).toEqual({ status: 400, code: 'unknown_parameter' })
  })

  test.each(byName(withBody))('%s only accepts JSON up to the size limit', async (_, spec) => {
    const call = await callOf(spec)
    const text = await call(spec.method, pathOf(spec), JSON.stringify(exampleOf(spec)), { 'content-type': 'text/plain' })
    expect({ status: text.status, code: text.body?.code }).toEqual({ status: 415, code: 'unsupported_media_type' })
    const broken = await call(spec.method, pathOf(spec), '{"broken')
    expect({ status: broken.status, code: broken.body?.code }).toEqual({ status: 400, code: 'malformed_json' })
    const limit = (spec.guard === 'anyone' ? 64 : 1024) * 1024
    const large = await call(spec.method, pathOf(spec), `{"name": "${'x'.repeat(limit)}"}`)
    expect({ status: large.status, code: large.body?.code }).toEqual({ status: 413, code: 'payload_too_large' })
  })

  test.each(byName(withBody))('%s rejects unknown fields with a pointer', async (_, spec) => {
    const refused = await (await callOf(spec))(spec.method, pathOf(spec), { ...(exampleOf(spec) as object), nonsense: 1 })
    expect({ status: refused.status, pointers: refused.body?.errors?.map((one: any) => one.pointer) }).toEqual({
      status: 422,
      pointers: ['#/nonsense'],
    })
  })

  test.each([...new Set(specs.map(spec => spec.path))])('%s returns 405 with its methods', async path => {
    const concrete = path.replace(/:[a-z_]+/g, '1')
    const methods = ['PUT', 'PATCH', 'DELETE', 'POST', 'GET'].filter(
      method => !served.some(one => one.method === method && matches(one.path, concrete)),
    )
    expect(methods).not.toBeEmpty()
    const refused = await acme.call(methods[0]!, concrete)
    expect({ status: refused.status, code: refused.body?.code }).toEqual({ status: 405, code: 'method_not_allowed' })
    const allowed = refused.headers.get('allow')!.split(', ')
    for (const spec of specs.filter(one => one.path === path)) expect(allowed).toContain(spec.method)
    expect(allowed).not.toContain(methods[0]!)
  })
})

const authority = new AcmeDouble()
closeLater(async () => authority.stop())

/** Resources to create where the example of the operation needs another resource. */
const examples: Record<string, object> = {
  '/v1/servers': { name: 'nas' },
  '/v1/acme-accounts': { name: 'CA', directory_url: authority.directoryUrl, ca_pem: authority.ca, terms_agreed: true },
}

/** Creates a managed certificate in a zone of its own. */
async function createManaged(): Promise<string> {
  await acme.call('POST', '/v1/dns/zones', { name: 'routes.example' })
  const body = { names: ['routes.example'], acme_account_id: await ownId('/v1/acme-accounts') }
  return (await acme.call('POST', '/v1/managed-certificates', body)).body.id
}

/** Collections of resources that need an account at a cloud. */
const inCloud = ['/v1/volumes', '/v1/snapshots']

/** Creates a volume and a snapshot of a server, all at once: the double of the cloud ends with the test. */
async function createInCloud(): Promise<void> {
  const scene = await cloudScene(here)
  const server = (await scene.create('routes')).body
  await scene.finish(server.action_id)
  const bodies = [{ account_id: scene.account.id, size_bytes: 10 * 2 ** 30, location: 'fsn1' }, { server_id: server.id }]
  for (const [at, collection] of inCloud.entries()) {
    const body = { name: 'routes', max_monthly_price: '5', currency: 'EUR', ...bodies[at] }
    const created = (await acme.call('POST', collection, body, { 'idempotency-key': collection })).body
    await scene.finish(created.action_id)
    made.set(collection, created.id)
  }
}

const made = new Map<string, string>()

/** Creates a resource of acme from its example. */
function create(collection: string, creator: Route) {
  const [body, headers] = examples[collection] ? [examples[collection]] : exampleRequest(creator)
  return acme.call('POST', collection, body, { ...headers, 'idempotency-key': collection })
}

/** Returns the ID of a resource of acme in a collection: created from the example of its POST operation, or the first in the list. */
async function ownId(collection: string): Promise<string> {
  if (inCloud.includes(collection) && !made.has(collection)) await createInCloud()
  if (collection === '/v1/agents' && !made.has(collection))
    made.set(collection, (await AgentDouble.enroll(here, await ownId('/v1/servers'))).id)
  if (collection === '/v1/managed-certificates' && !made.has(collection)) made.set(collection, await createManaged())
  const known = made.get(collection)
  if (known) return known
  const createPersonal = personal[collection]
  const creator = createPersonal ? undefined : specs.find(spec => spec.method === 'POST' && spec.path === collection)
  const found = createPersonal
    ? { id: await createPersonal(await personOf('own@example.com')) }
    : creator
      ? (await create(collection, creator)).body
      : await firstOf(collection)
  expect(found?.id).toBeString()
  made.set(collection, found.id)
  return found.id
}

async function firstOf(collection: string) {
  // These are created by the hub: deliveries and notifications by tests, notices by reported tokens, events by missed heartbeats.
  if (collection === '/v1/webhook-deliveries')
    await acme.call('POST', `/v1/webhook-endpoints/${await ownId('/v1/webhook-endpoints')}/test`, {})
  if (collection === '/v1/notifications') {
    const channel = { kind: 'webhook', name: 'unreachable', settings: { url: 'http://127.0.0.1:9/' } }
    await acme.call(
      'POST',
      `/v1/notification-channels/${(await acme.call('POST', '/v1/notification-channels', channel)).body.id}/test`,
    )
  }
  if (collection === '/v1/notices') {
    const { token } = (await acme.call('POST', '/v1/tokens', { name: 'lost', permissions: ['dns.read'] })).body
    await anonymous.call('POST', '/v1/tokens/report', { token })
  }
  if (collection === '/v1/actions')
    await acme.call('POST', `/v1/webhook-endpoints/${await ownId('/v1/webhook-endpoints')}/recover`, {
      since: '2026-11-20T00:00:00Z',
      until: '2026-11-21T00:00:00Z',
    })
  if (collection === '/v1/events') {
    await acme.call('POST', '/v1/heartbeats', {
      name: 'silent',
      schedule: { kind: 'period', period_seconds: 60, grace_seconds: 60 },
      first_ping_within_seconds: 60,
    })
    await advance(3_600_000)
  }
  if (collection === '/v1/dns/plans')
    return (
      await acme.call('POST', `/v1/dns/zones/${await ownId('/v1/dns/zones')}/plan`, {
        rrsets: [{ name: 'planned', type: 'A', records: [{ content: '192.0.2.1' }] }],
      })
    ).body
  if (collection === '/v1/dns/template-bindings')
    await acme.call('POST', '/v1/dns/templates/tmpl_builtin_acme_delegation/apply', {
      zone_id: await ownId('/v1/dns/zones'),
      variables: { target: 'acme.example.net' },
    })
  if (collection === '/v1/certificate-gaps') {
    // A zone without CAA records. The example of TLS endpoints has another name.
    const record = { name: 'blog', type: 'A', ttl: 300, content: '192.0.2.1' }
    await acme.call('POST', `/v1/dns/zones/${await ownId('/v1/dns/zones')}/records`, record)
    await workOutAllGaps(hub)
    await here.advance(settleMs)
  }
  if (collection === '/v1/members') await addPerson()
  return (await acme.call('GET', collection)).body.data[0]
}

const people = new Map<string, Call>()
async function personOf(email: string): Promise<Call> {
  const known = people.get(email) ?? (await person(here, acme.workspaceId, 'viewer', email)).call
  people.set(email, known)
  return known
}

/** Calls an operation with the credential that it requires. */
const callOf = async (spec: Route): Promise<Call> => (spec.guard === 'session' ? await personOf('form@example.com') : acme.call)

/** Adds a member. There is no POST operation for members: they are added by the command line, an invitation or setup. */
const addPerson = () =>
  addUser(
    hub,
    'account.user.create',
    {
      email: 'ada@example.com',
      name: 'Ada',
      password: 'correct horse battery',
      role: 'viewer',
      workspaceId: acme.workspaceId,
      isOperator: false,
    },
    { actor: systemActor('test'), context: jobContext },
  )

function implies(permission: Permission, required: Permission): boolean {
  return permission === required || permission === required.replace('.read', '.write')
}

function matches(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const parts = path.split('/')
  return expected.length === parts.length && expected.every((part, at) => part.startsWith(':') || part === parts[at])
}
