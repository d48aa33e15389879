import { describe, expect, test } from 'bun:test'
import type { Route } from '../../src/access/route'
import { addUser } from '../../src/access/users'
import { jobContext, systemActor } from '../../src/core/change'
import { areas, permissions, type Permission } from '../../src/core/permissions'
import { Authenticator } from '../support/authenticator'
import { origin, password, person, type Call } from '../support/people'
import { callerWith, world } from '../support/world'

// Walks every operation the router serves, so that one that is added is held to the same rules without a word here.

// Strangers ask some hundred times below, in a minute that does not pass.
const here = await world({
  BAILIWICK_ANONYMOUS_PER_MINUTE: '1000000',
  BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '1000000',
  // Passkeys are bound to a name.
  BAILIWICK_BASE_URL: origin,
})
const { hub, app, acme, rival, readOnly, stranger, scoped, audited, pass } = here

/** Open to anyone, with the reason. This list may only shrink. */
const open: Record<string, string> = {
  'GET /v1/setup': 'asked before anyone can sign in; tells one boolean',
  'POST /v1/setup': 'makes the first user, with the token of the setup link',
  'POST /v1/sessions': 'signing in',
  'POST /v1/sessions/passkey/options': 'begins signing in; a challenge of which nothing is stored',
  'POST /v1/sessions/passkey': 'signing in; the signature of the passkey is the credential',
  'POST /v1/password-resets': 'whoever lost their password cannot sign in; the answer tells nothing',
  'POST /v1/password-resets/redeem': 'whoever lost their password cannot sign in; the code is the credential',
  'GET /v1/sessions/methods': 'asked by the page of sign-in; tells of the installation, and of nobody',
  'POST /v1/invitations/preview': 'whoever was invited has no login yet; the code is the credential',
  'POST /v1/invitations/accept': 'whoever was invited has no login yet; the code is the credential',
  'GET /v1/sign-up': 'asked before anyone can sign in; tells the mode alone',
  'POST /v1/sign-up': 'signing up, where the operator opened it; five an hour from one address',
  'POST /v1/tokens/report': 'whoever finds a token has no login; it can only revoke the token it holds',
}

/** Paths under /v1 that are no operations of the API. This list may only shrink. */
const plain = ['/v1/openapi.json']

const served = app.routes.filter(one => one.path.startsWith('/v1/')) as unknown as {
  method: string
  path: string
  hooks: { detail?: { 'x-route'?: Route } }
}[]
const specs = served.flatMap(one => one.hooks.detail?.['x-route'] ?? [])
const nameOf = (spec: Route) => `${spec.method} ${spec.path}`
const ingest = specs.filter(spec => spec.guard === 'ingest')
const guarded = specs.filter(spec => spec.guard !== 'anyone' && spec.guard !== 'ingest')
const permitted = guarded.filter(spec => spec.guard.includes('.'))
const withBody = guarded.filter(spec => spec.body)
const byName = (list: Route[]) => list.map(spec => [nameOf(spec), spec] as const)

/** An id of the right form that no resource has. */
const nobody = '01jd8f3q7eeb9bv0w0r8c7hq2m'
/** A path with its parameters filled in. */
const pathOf = (spec: Route, id = nobody) => spec.path.replace(':id', id).replace(/:[a-z_]+/g, '1')
const exampleOf = (spec: Route): unknown => {
  const example = (spec.body as { examples?: object[] } | undefined)?.examples?.[0]
  // The examples name hosts of the world, which are looked up; here there may be no network.
  return example && 'url' in example ? { ...example, url: 'http://127.0.0.1:9/alerts' } : example
}
/** The example of what an operation takes, and how it is sent. */
const asked = (spec: Route): [body: unknown, headers?: Record<string, string>] => {
  const [text] = Object.entries(spec.takes?.types ?? {})
  return text ? [text[1], { 'content-type': text[0] }] : [spec.body && exampleOf(spec)]
}

test('every path under /v1 is an operation with its guard', () => {
  expect(
    served.filter(one => !one.hooks.detail?.['x-route'] && !plain.includes(one.path)).map(one => `${one.method} ${one.path}`),
  ).toEqual([])
  expect(guarded.length).toBeGreaterThan(20)
})

test('only the listed operations are open to anyone', () => {
  expect(
    specs
      .filter(spec => spec.guard === 'anyone')
      .map(nameOf)
      .sort(),
  ).toEqual(Object.keys(open).sort())
})

test('ingest is below /v1/ingest, with the secret of its source in the path', () => {
  expect(ingest.length).toBeGreaterThan(0)
  expect(ingest.filter(spec => !/^\/v1\/ingest\/[a-z-]+\/:/.test(spec.path)).map(nameOf)).toEqual([])
})

test('every write has a name for the audit log', () => {
  expect(guarded.filter(spec => spec.method !== 'GET' && !spec.action).map(nameOf)).toEqual([])
})

test('reading needs a read permission, and what changes something a write permission', () => {
  const wrong = permitted.filter(spec => spec.method !== 'GET' && !spec.guard.endsWith('.write'))
  expect(wrong.map(nameOf)).toEqual([])
})

test('operation ids, and bodies with an example, are complete', () => {
  expect(new Set(specs.map(spec => spec.operationId)).size).toBe(specs.length)
  expect(specs.filter(spec => spec.body && exampleOf(spec) === undefined).map(nameOf)).toEqual([])
})

describe('a stranger', () => {
  test.each(byName(guarded))('gets 401 from %s, whatever they send', async (_, spec) => {
    const bare = await stranger.call(spec.method, pathOf(spec))
    expect({ status: bare.status, code: bare.body.code, challenge: bare.headers.get('www-authenticate') }).toEqual({
      status: 401,
      code: 'unauthenticated',
      challenge: 'Bearer realm="bailiwick"',
    })
    expect((await stranger.call(spec.method, `${pathOf(spec)}?nonsense=1`)).status).toBe(401)
    if (spec.method !== 'GET') expect((await stranger.call(spec.method, pathOf(spec), '{"broken')).status).toBe(401)
    expect(
      (await stranger.call(spec.method, pathOf(spec), undefined, { authorization: 'Bearer bw_live_nonsense' })).body.code,
    ).toBe('invalid_token')
  })
})

describe('a wrong secret', () => {
  test.each(byName(ingest))('finds nothing at %s', async (_, spec) => {
    const path = spec.path
      .replace(/:[a-z_]+/, '00000000-0000-4000-8000-000000000000')
      .replace(/:[a-z_]+/, 'fail')
      .replace(/:[a-z_]+/, '1')
    expect([400, 404]).toContain((await stranger.call(spec.method, path)).status)
    // A token of the API is none of this source.
    expect([400, 404]).toContain((await acme.call(spec.method, path)).status)
  })
})

describe('a token without the permission', () => {
  test.each(byName(permitted))('gets 403 from %s, which names it and is audited', async (_, spec) => {
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
    // What it asked for was not looked at.
    expect((await caller.call(spec.method, `${pathOf(spec)}?nonsense=1`)).status).toBe(403)
  })

  test.each(byName(guarded.filter(spec => spec.guard === 'operator')))(
    'of another workspace gets 403 from %s',
    async (_, spec) => {
      const refused = await rival.call(spec.method, pathOf(spec), spec.body && exampleOf(spec))
      expect({ status: refused.status, missing: refused.body.required_permission }).toEqual({ status: 403, missing: 'operator' })
    },
  )

  test('every area has operations of this table', () => {
    const seen = new Set(permitted.map(spec => spec.guard.split('.')[0]))
    for (const area of ['monitoring', 'webhooks', 'account'] as const) expect(areas.includes(area) && seen.has(area)).toBe(true)
  })
})

describe('a read-only token', () => {
  test.each(byName(permitted.filter(spec => spec.guard.endsWith('.write'))))('gets 403 from %s', async (_, spec) => {
    const refused = await readOnly.call(spec.method, pathOf(spec), spec.body && exampleOf(spec))
    expect({ status: refused.status, missing: refused.body.required_permission }).toEqual({ status: 403, missing: spec.guard })
  })
})

// What the installation has and every workspace may see: this list may only shrink.
const shared = ['/v1/plans/:id']

describe('another workspace', () => {
  test.each(
    byName(guarded.filter(spec => spec.path.includes(':id') && spec.guard !== 'operator' && !shared.includes(spec.path))),
  )('finds nothing at %s', async (_, spec) => {
    const id = await ownId(spec.path.slice(0, spec.path.indexOf('/:id')))
    const refused = await rival.call(spec.method, pathOf(spec, id), ...asked(spec))
    expect({ status: refused.status, code: refused.body?.code }).toEqual({ status: 404, code: 'not_found' })
    expect(refused.text).not.toContain(acme.workspaceId)
  })

  test('and what it reached for is still there', async () => {
    for (const [collection, id] of made)
      if (!(collection in personal)) expect((await acme.call('GET', `${collection}/${id}`)).status).toBe(200)
    expect(made.size).toBeGreaterThan(0)
  })
})

// What belongs to no workspace: this list may only shrink.
const ofNobody = [
  'GET /v1/plans',
  'GET /v1/plans/:id',
  'GET /v1/event-kinds',
  'GET /v1/dns/provider-kinds',
  'GET /v1/dns/record-types',
  'GET /v1/heartbeats/due-times',
  'GET /v1/maintenance-windows/next-occurrences',
  'GET /v1/notification-channels/topics',
  'GET /v1/monitors/types',
  'GET /v1/notification-channels/kinds',
  'GET /v1/event-kinds/:kind',
  'GET /v1/audit-events/catalog',
]

/** What belongs to a person, whom no token stands for: another person, and every token, finds nothing there. */
const personal: Record<string, (call: Call) => Promise<string>> = {
  '/v1/sessions': async call => (await call('GET', '/v1/sessions/current')).body.id,
  '/v1/passkeys': async call => {
    const options = (await call('POST', '/v1/passkeys/options', { password })).body
    const credential = await new Authenticator(origin).create(options)
    return (await call('POST', '/v1/passkeys', { credential })).body.id
  },
}
const isPersonal = (spec: Route) => Object.keys(personal).some(path => spec.path.startsWith(`${path}/:id`))

describe('another person', () => {
  test.each(byName(guarded.filter(isPersonal)))('finds nothing at %s', async (_, spec) => {
    const own = await personOf('own@example.com')
    const other = await personOf('other@example.com')
    const collection = spec.path.slice(0, spec.path.indexOf('/:id'))
    const id = await ownId(collection)
    const refused = await other(spec.method, pathOf(spec, id), ...asked(spec))
    expect({ status: refused.status, code: refused.body?.code }).toEqual({ status: 404, code: 'not_found' })
    expect((await own('GET', `${collection}/${id}`)).status).toBe(200)
  })
})

// Without an id, and made of what the caller reaches, which tests of their own see to: this list may only shrink.
const madeForEach = ['GET /v1/stream']

describe('a token narrowed to a resource', async () => {
  const made = await acme.call('POST', '/v1/tokens', { name: 'narrowed', mode: 'full', resource_ids: [`hb_${nobody}`] })
  const narrowed = callerWith(app, acme.workspaceId, made.body.token)
  const isOpen = (spec: Route) => ofNobody.includes(nameOf(spec))
  const withId = guarded.filter(spec => spec.path.includes(':') && !isOpen(spec) && spec.guard !== 'operator')
  const lists = guarded.filter(spec => !spec.path.includes(':') && !isOpen(spec) && spec.query?.properties.cursor)
  const rest = guarded.filter(
    spec =>
      !spec.path.includes(':') &&
      !isOpen(spec) &&
      !madeForEach.includes(nameOf(spec)) &&
      !lists.includes(spec) &&
      spec.guard !== 'operator',
  )

  test('is let through to what belongs to nobody', async () => {
    expect(
      specs
        .filter(spec => spec.narrowed === 'open')
        .map(nameOf)
        .sort(),
    ).toEqual([...ofNobody].sort())
    for (const spec of specs.filter(spec => spec.narrowed === 'open'))
      expect((await narrowed.call('GET', pathOf(spec))).status).not.toBe(403)
  })

  test.each(byName(withId))('finds nothing of another at %s', async (_, spec) => {
    const id = await ownId(spec.path.slice(0, spec.path.indexOf('/:id')))
    const refused = await narrowed.call(spec.method, pathOf(spec, id), ...asked(spec))
    expect({ status: refused.status, code: refused.body?.code }).toEqual({ status: 404, code: 'not_found' })
  })

  test.each(byName(lists))('is shown none of the others by %s', async (_, spec) => {
    await ownId(spec.path.replace(/\/agenda$/, ''))
    const counts = spec.query?.properties.include !== undefined
    const of = counts ? 'include=total' : 'from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z'
    const seen = await narrowed.call('GET', `${spec.path}?${of}`)
    expect({ status: seen.status, data: seen.body.data, total: seen.body.pagination?.total }).toEqual({
      status: 200,
      data: [],
      total: counts ? 0 : undefined,
    })
  })

  test.each(byName(rest))('is turned away from %s, which is audited', async (_, spec) => {
    await audited()
    const refused = await narrowed.call(spec.method, pathOf(spec), spec.body && exampleOf(spec))
    expect({ status: refused.status, code: refused.body?.code }).toEqual({ status: 403, code: 'narrowed_token' })
    expect(await audited()).toEqual([`${spec.action ?? 'account.resource.read'} denied`])
  })

  test.each(byName(guarded.filter(spec => spec.guard === 'operator')))('is no operator at %s', async (_, spec) => {
    const refused = await narrowed.call(spec.method, pathOf(spec), spec.body && exampleOf(spec))
    expect({ status: refused.status, missing: refused.body.required_permission }).toEqual({ status: 403, missing: 'operator' })
  })
})

describe('the form of a request', () => {
  test.each(byName(guarded))('%s refuses a query parameter it does not know', async (_, spec) => {
    const refused = await acme.call(spec.method, `${pathOf(spec)}?nonsense=1`, spec.body && exampleOf(spec))
    expect({ status: refused.status, code: refused.body?.code }).toEqual({ status: 400, code: 'unknown_parameter' })
  })

  test.each(byName(withBody))('%s takes JSON alone, of a size', async (_, spec) => {
    const text = await acme.call(spec.method, pathOf(spec), JSON.stringify(exampleOf(spec)), { 'content-type': 'text/plain' })
    expect({ status: text.status, code: text.body?.code }).toEqual({ status: 415, code: 'unsupported_media_type' })
    const broken = await acme.call(spec.method, pathOf(spec), '{"broken')
    expect({ status: broken.status, code: broken.body?.code }).toEqual({ status: 400, code: 'malformed_json' })
    const large = await acme.call(spec.method, pathOf(spec), `{"name": "${'x'.repeat(1024 * 1024)}"}`)
    expect({ status: large.status, code: large.body?.code }).toEqual({ status: 413, code: 'payload_too_large' })
  })

  test.each(byName(withBody))('%s refuses a member it does not know, and names it', async (_, spec) => {
    const refused = await acme.call(spec.method, pathOf(spec), { ...(exampleOf(spec) as object), nonsense: 1 })
    expect({ status: refused.status, pointers: refused.body?.errors?.map((one: any) => one.pointer) }).toEqual({
      status: 422,
      pointers: ['#/nonsense'],
    })
  })

  test.each([...new Set(specs.map(spec => spec.path))])('%s tells which methods it has', async path => {
    const concrete = path.replace(/:[a-z_]+/g, '1')
    const methods = ['PUT', 'PATCH', 'DELETE', 'POST', 'GET'].filter(
      method => !served.some(one => one.method === method && fits(one.path, concrete)),
    )
    expect(methods).not.toBeEmpty()
    const refused = await acme.call(methods[0]!, concrete)
    expect({ status: refused.status, code: refused.body?.code }).toEqual({ status: 405, code: 'method_not_allowed' })
    const allowed = refused.headers.get('allow')!.split(', ')
    for (const spec of specs.filter(one => one.path === path)) expect(allowed).toContain(spec.method)
    expect(allowed).not.toContain(methods[0]!)
  })
})

const made = new Map<string, string>()

/** The id of something that acme has below this path: made from the example of the operation that makes it, or the first of the list. */
async function ownId(collection: string): Promise<string> {
  const known = made.get(collection)
  if (known) return known
  const mine = personal[collection]
  const maker = mine ? undefined : specs.find(spec => spec.method === 'POST' && spec.path === collection)
  const found = mine
    ? { id: await mine(await personOf('own@example.com')) }
    : maker
      ? (await acme.call('POST', collection, exampleOf(maker))).body
      : await firstOf(collection)
  expect(found?.id).toBeString()
  made.set(collection, found.id)
  return found.id
}

async function firstOf(collection: string) {
  // These are made by the hub: a test message to an endpoint is a delivery, a test of a channel a notification, a reported token a notice, a missed heartbeat an event.
  if (collection === '/v1/webhook-deliveries')
    await acme.call('POST', `/v1/webhook-endpoints/${await ownId('/v1/webhook-endpoints')}/test`, {})
  if (collection === '/v1/notifications') {
    const channel = { kind: 'webhook', name: 'nobody listens', settings: { url: 'http://127.0.0.1:9/' } }
    await acme.call(
      'POST',
      `/v1/notification-channels/${(await acme.call('POST', '/v1/notification-channels', channel)).body.id}/test`,
    )
  }
  if (collection === '/v1/notices') {
    const { token } = (await acme.call('POST', '/v1/tokens', { name: 'lost', permissions: ['dns.read'] })).body
    await stranger.call('POST', '/v1/tokens/report', { token })
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
    await pass(3_600_000)
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
  if (collection === '/v1/members') await addPerson()
  return (await acme.call('GET', collection)).body.data[0]
}

const people = new Map<string, Call>()
async function personOf(email: string): Promise<Call> {
  const known = people.get(email) ?? (await person(here, acme.workspaceId, 'viewer', email)).call
  people.set(email, known)
  return known
}

/** A person joins acme by the command line, by an invitation or by setup; none of these is a POST to the collection. */
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

function implies(held: Permission, wanted: Permission): boolean {
  return held === wanted || held === wanted.replace('.read', '.write')
}

function fits(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return wanted.length === given.length && wanted.every((part, place) => part.startsWith(':') || part === given[place])
}
