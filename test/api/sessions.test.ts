import { expect, test } from 'bun:test'
import { and, eq } from 'drizzle-orm'
import { memberships, roles, type Role } from '../../src/access/tables'
import { knownDevice } from '../../src/features/people/sign-in/known-devices'
import { addUser, findUser, newMembership, setDisabled, setPassword } from '../../src/features/people/users'
import { record } from '../../src/core/change'
import { auditEntries } from '../../src/core/db/tables'
import type { Hub } from '../../src/core/hub'
import { callerWith, world, type ApiResponse, type World } from '../support/world'

const password = 'correct horse battery'
const here = 'http://localhost:8484'
const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 10 }
const by = {
  actor: { type: 'operator' as const, id: 'cli', name: 'cli', hint: null },
  context: { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'cli' as const },
}
const addPerson = (hub: Hub, workspaceId: string, role: Role, email = 'ada@example.com', isOperator = false) =>
  addUser(hub, 'account.user.create', { email, name: 'Ada', password, role, workspaceId, isOperator }, by)

const signIn = ({ anonymous }: World, given: object = {}, headers: Record<string, string> = {}) =>
  anonymous.call('POST', '/v1/sessions', { email: 'ada@example.com', password, ...given }, headers)
const setCookie = (response: ApiResponse) => response.headers.getSetCookie()[0] ?? null
const cookieOf = (response: ApiResponse) => setCookie(response)!.split(';')[0]!

/** Calls as a signed-in browser; writes come from the page of this origin. */
function browser({ app }: World, response: ApiResponse, origin: string | null = here) {
  const caller = callerWith(app, '', '')
  const cookie = cookieOf(response)
  return (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    caller.call(method, path, body, {
      cookie,
      ...(method !== 'GET' && origin !== null && { origin, 'bailiwick-csrf': '1' }),
      ...headers,
    })
}

async function signedIn(role: Role = 'owner', isOperator = false) {
  const w = await world()
  const user = await addPerson(w.hub, w.acme.workspaceId, role, 'ada@example.com', isOperator)
  const response = await signIn(w)
  expect(response.status).toBe(201)
  return { w, user, response, call: browser(w, response) }
}

test('signing in creates a session, with a cookie for its origin', async () => {
  const { w, user, response, call } = await signedIn()
  expect(response.body).toMatchObject({ user: { id: user.id, email: 'ada@example.com' }, workspace_id: w.acme.workspaceId })
  expect(response.body.expires_at).toBe('2026-12-21T10:00:00.000Z')
  expect(setCookie(response)).toMatch(/^bailiwick=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/)
  const me = await call('GET', '/v1/users/me')
  expect(me.body.workspaces).toEqual([{ id: w.acme.workspaceId, name: 'default', role: 'owner' }])
  expect((await signIn(w, { email: 'ADA@Example.com' })).status).toBe(201)
})

test('over HTTPS the cookie is bound to its origin, and writes must come from there', async () => {
  const w = await world({ BAILIWICK_BASE_URL: 'https://hub.example.org' })
  await addPerson(w.hub, w.acme.workspaceId, 'owner')
  const response = await signIn(w)
  expect(setCookie(response)).toMatch(/^__Host-bailiwick=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000; Secure$/)
  const created = (origin: string) => browser(w, response, origin)('POST', '/v1/tokens', { name: 'x', permissions: ['dns.read'] })
  expect((await created('https://hub.example.org')).status).toBe(201)
  expect((await created('http://hub.example.org')).body.code).toBe('origin_not_allowed')
  expect((await created('http://localhost:8484')).body.code).toBe('origin_not_allowed')
})

test('a write with a session needs the same origin and the CSRF header; a read does not', async () => {
  const { w, response, call } = await signedIn()
  const path = '/v1/tokens'
  const body = { name: 'x', permissions: ['dns.read'] }
  const bare = browser(w, response, null)
  const wrong: Record<string, string>[] = [
    {},
    { origin: here },
    { 'bailiwick-csrf': '1' },
    { origin: here, 'bailiwick-csrf': '0' },
    { origin: 'null', 'bailiwick-csrf': '1' },
    { origin: 'http://evil.example', 'bailiwick-csrf': '1' },
    { origin: 'https://localhost:8484', 'bailiwick-csrf': '1' },
    { origin: 'http://localhost:8485', 'bailiwick-csrf': '1' },
    { origin: 'http://localhost', 'bailiwick-csrf': '1' },
  ]
  for (const headers of wrong) {
    const refused = await bare('POST', path, body, headers)
    expect([headers, refused.status, refused.body.code]).toEqual([headers, 403, 'origin_not_allowed'])
  }
  expect((await call('POST', path, body)).status).toBe(201)
  expect((await bare('GET', path, undefined, { origin: 'http://evil.example' })).status).toBe(200)
})

test('Bailiwick-Workspace selects one of the user’s workspaces, and the last one is the default', async () => {
  const { w, user, call } = await signedIn('owner', true)
  const rival = { 'bailiwick-workspace': w.rival.workspaceId }
  for (const named of [w.rival.workspaceId, 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m', 'x']) {
    const refused = await call('GET', '/v1/tokens', undefined, { 'bailiwick-workspace': named })
    expect([refused.status, refused.body.code]).toEqual([404, 'not_found'])
  }
  await record(w.hub, async tx => {
    await tx.insert(memberships).values(newMembership(w.rival.workspaceId, user.id, 'viewer', w.clock.now()))
    return { result: undefined }
  })
  const beat = (await w.rival.call('POST', '/v1/heartbeats', { name: 'rivals', schedule })).body
  const names = async (headers = {}) =>
    (await call('GET', '/v1/heartbeats', undefined, headers)).body.data.map((one: any) => one.name)
  expect([await names(), await names(rival), beat.name]).toEqual([[], ['rivals'], 'rivals'])
  w.clock.advance(61_000)
  await names(rival)
  expect(await names()).toEqual(['rivals'])
})

test('a Bearer token takes precedence over the cookie', async () => {
  const { w, call } = await signedIn()
  const token = (authorization: string) => ({ authorization })
  const seen = await call('GET', '/v1/workspaces', undefined, token(`Bearer ${w.rival.token}`))
  expect(seen.body.data.map((one: any) => one.name)).toEqual(['rival'])
  const wrong = await call('GET', '/v1/tokens', undefined, token('Bearer bw_live_nonsense'))
  expect([wrong.status, wrong.body.code]).toEqual([401, 'invalid_token'])
  // Writes with a token need no origin: browsers do not send tokens on their own.
  const created = await w.rival.call('POST', '/v1/tokens', { name: 'x', permissions: ['dns.read'] }, { cookie: 'bailiwick=x' })
  expect(created.status).toBe(201)
})

const asks: Record<string, [method: string, path: string, body?: unknown]> = {
  readHeartbeats: ['GET', '/v1/heartbeats'],
  writeHeartbeat: ['POST', '/v1/heartbeats', { name: 'nightly', schedule }],
  writeToken: ['POST', '/v1/tokens', { name: 'x', permissions: ['dns.read'] }],
  operate: ['POST', '/v1/workspaces', { name: 'customer' }],
}
const allowed: Record<Role, string[]> = {
  viewer: ['readHeartbeats'],
  member: ['readHeartbeats', 'writeHeartbeat'],
  admin: ['readHeartbeats', 'writeHeartbeat', 'writeToken'],
  owner: ['readHeartbeats', 'writeHeartbeat', 'writeToken'],
}

test.each([...roles])('permissions of the role %s', async role => {
  const { call } = await signedIn(role)
  const may: string[] = []
  for (const [name, ask] of Object.entries(asks)) {
    const response = await call(...ask)
    if (response.status < 300) may.push(name)
    else expect([name, response.status, response.body.code]).toEqual([name, 403, 'insufficient_permission'])
  }
  expect(may).toEqual(allowed[role])
  expect((await call('GET', '/v1/tokens')).status).toBe(role === 'viewer' ? 403 : 200)
})

test('an operator’s session has operator powers', async () => {
  const { call } = await signedIn('owner', true)
  expect((await call(...asks.operate!)).status).toBe(201)
})

const ended = async (call: ReturnType<typeof browser>) => {
  const response = await call('GET', '/v1/users/me')
  return [response.status, response.body.code]
}

test('signing out ends the session and clears the cookie', async () => {
  const { w, response, call } = await signedIn()
  expect((await browser(w, response, null)('DELETE', '/v1/sessions')).status).toBe(403)
  w.clock.advance(61_000)
  const out = await call('DELETE', '/v1/sessions')
  expect([out.status, setCookie(out)]).toEqual([204, 'bailiwick=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0'])
  expect(await ended(call)).toEqual([401, 'session_ended'])
  expect((await w.audited()).filter(action => action.startsWith('account.session'))).toEqual([
    'account.session.create',
    'account.session.delete denied',
    'account.session.delete',
  ])
})

test('a used session is extended, with its cookie sent again; an unused one ends after 30 days', async () => {
  const { w, response, call } = await signedIn()
  const day = 24 * 3600 * 1000
  expect(setCookie(await call('GET', '/v1/users/me'))).toBeNull()
  for (let days = 0; days < 40; days += 20) {
    w.clock.advance(20 * day)
    const used = await call('GET', '/v1/users/me')
    expect([used.status, setCookie(used)]).toEqual([200, setCookie(response)])
    expect(setCookie(await call('GET', '/v1/users/me'))).toBeNull()
  }
  w.clock.advance(30 * day)
  expect(await ended(call)).toEqual([401, 'session_ended'])
})

test('disabling a user ends their sessions and blocks sign-in', async () => {
  const { w, user, call } = await signedIn()
  await setDisabled(w.hub, user, true, by)
  expect(await ended(call)).toEqual([401, 'session_ended'])
  expect((await signIn(w)).body.code).toBe('invalid_login')
  await setDisabled(w.hub, (await findUser(w.hub.read, user.email))!, false, by)
  expect((await signIn(w)).status).toBe(201)
})

test('a new password ends all sessions, and the old one no longer works', async () => {
  const { w, user, call } = await signedIn()
  await setPassword(w.hub, user, 'another horse battery', by)
  expect(await ended(call)).toEqual([401, 'session_ended'])
  expect((await signIn(w)).body.code).toBe('invalid_login')
  expect((await signIn(w, { password: 'another horse battery' })).status).toBe(201)
})

const guesser = async (most: string) => {
  const w = await world({ BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: most, BAILIWICK_TRUSTED_PROXIES: '127.0.0.1' })
  await addPerson(w.hub, w.acme.workspaceId, 'owner')
  const from = (ip: string, input: object = {}) => signIn(w, input, { 'x-forwarded-for': ip })
  return { w, from }
}

test('after too many wrong passwords from an address, sign-in is blocked, even with the right one', async () => {
  const { w, from } = await guesser('3')
  for (const email of ['a@example.com', 'b@example.com', 'c@example.com']) {
    expect((await from('192.0.2.7', { email, password: 'wrong' })).body.code).toBe('invalid_login')
  }
  const refused = await from('192.0.2.7')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '20'])
  expect(refused.body['violated-policies']).toEqual(['failed-credentials'])
  expect((await from('192.0.2.8')).status).toBe(201)
  w.clock.advance(20_000)
  expect((await from('192.0.2.7')).status).toBe(201)
})

test('after too many wrong passwords for one email address, only their IP address is blocked for it, whether or not it has an account', async () => {
  const { from } = await guesser('9')
  for (const email of ['ada@example.com', 'nobody@example.com']) {
    for (let n = 0; n < 3; n++) expect((await from('192.0.2.7', { email, password: 'wrong' })).body.code).toBe('invalid_login')
    const refused = await from('192.0.2.7', { email: email.toUpperCase() })
    expect([refused.status, refused.body['violated-policies']]).toEqual([429, ['failed-logins']])
  }
  expect((await from('192.0.2.8')).status).toBe(201)
})

test('wrong passwords of others delay the sign-in with a new browser, and do not affect a known one', async () => {
  const { w, from } = await guesser('3')
  const before = await from('192.0.2.7')
  const device = before.headers.getSetCookie().find(one => one.startsWith('bailiwick_device='))!
  expect(device).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Max-Age=31536000$/)
  const known = { cookie: device.split(';')[0]!, 'x-forwarded-for': '192.0.2.1' }
  // From the same address too, which is then blocked for others.
  for (const n of [1, 2, 3]) await from(`192.0.2.${n}`, { password: 'wrong' })
  for (const email of ['a@example.com', 'b@example.com']) await from('192.0.2.1', { email, password: 'wrong' })
  expect((await from('192.0.2.1', { email: 'c@example.com' })).status).toBe(429)

  expect((await signIn(w, {}, known)).status).toBe(201)
  const { after } = w.clock
  const delay = new Promise<number>(resolve => {
    w.clock.after = (ms, fn) => {
      resolve(ms)
      return after.call(w.clock, ms, fn)
    }
  })
  const slow = from('198.51.100.1')
  w.clock.advance(await delay)
  expect([await delay, (await slow).status]).toEqual([5000, 201])

  // A known browser has a limit of its own, and a cookie is only valid for the user who signed in.
  for (let n = 0; n < 3; n++) expect((await signIn(w, { password: 'wrong' }, known)).status).toBe(401)
  expect((await signIn(w, {}, known)).body['violated-policies']).toEqual(['failed-logins-per-device'])
  const other = await signIn(w, { email: 'd@example.com' }, known)
  expect(other.body['violated-policies']).toEqual(['failed-credentials'])
  expect((await signIn(w, {}, { ...known, cookie: `${known.cookie.slice(0, -1)}x` })).body['violated-policies']).toContain(
    'failed-credentials',
  )
})

test('a browser is known to each user who signed in with it', async () => {
  const { w } = await guesser('3')
  await addPerson(w.hub, w.acme.workspaceId, 'owner', 'bob@example.com')
  let cookie = ''
  for (const email of ['ada@example.com', 'bob@example.com']) {
    const response = await signIn(w, { email }, { cookie })
    cookie = response.headers.getSetCookie()[1]!.split(';')[0]!
  }
  const request = new Request('http://localhost/', { headers: { cookie } })
  const users = await Promise.all(['ada@example.com', 'bob@example.com'].map(email => findUser(w.hub.read, email)))
  const known = async () => {
    const now = await Promise.all(['ada@example.com', 'bob@example.com'].map(email => findUser(w.hub.read, email)))
    return await Promise.all(now.map(user => knownDevice(w.hub, request, user!)))
  }
  const [device] = await known()
  expect(device).toBeString()
  expect(await known()).toEqual([device!, device!])
  await setPassword(w.hub, users[0]!, 'another horse battery', by)
  expect(await known()).toEqual([null, device!])
  w.clock.advance(366 * 24 * 3600 * 1000)
  expect(await known()).toEqual([null, null])
})

test('the wrong passwords of a user at a browser do not affect other users who name the same browser', async () => {
  const { w } = await guesser('3')
  await addPerson(w.hub, w.acme.workspaceId, 'owner', 'bob@example.com')
  const known = async (email: string, device: string) => {
    const response = await signIn(w, { email }, { cookie: `bailiwick_device=${device}` })
    return { cookie: response.headers.getSetCookie()[1]!.split(';')[0]! }
  }
  const device = 'd'.repeat(22)
  const [ada, bob] = [await known('ada@example.com', device), await known('bob@example.com', device)]
  for (let n = 0; n < 3; n++) await signIn(w, { email: 'bob@example.com', password: 'wrong' }, bob)
  expect((await signIn(w, { email: 'bob@example.com' }, bob)).status).toBe(429)
  expect((await signIn(w, {}, ada)).status).toBe(201)
})

test('at most ten attempts for an email address are delayed at a time', async () => {
  const { w, from } = await guesser('3')
  for (const n of [1, 2, 3]) await from(`192.0.2.${n}`, { password: 'wrong' })
  const { after } = w.clock
  let count = 0
  const full = new Promise<void>(resolve => {
    w.clock.after = (ms, fn) => {
      if (ms === 5000 && ++count === 10) resolve()
      return after.call(w.clock, ms, fn)
    }
  })
  const delayed = Array.from({ length: 10 }, (_, n) => from(`198.51.100.${n}`))
  await full
  const refused = await from('203.0.113.1')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
  expect(refused.body['violated-policies']).toEqual(['failed-logins-per-email'])
  w.clock.advance(5000)
  expect((await Promise.all(delayed)).map(one => one.status)).toEqual(Array.from({ length: 10 }, () => 201))
  w.clock.advance(60_000)
  expect((await from('203.0.113.1')).status).toBe(201)
})

test('concurrent guesses are counted, and correct passwords are not', async () => {
  const { from } = await guesser('9')
  for (let n = 0; n < 5; n++) expect((await from('192.0.2.7')).status).toBe(201)
  const guesses = await Promise.all(Array.from({ length: 8 }, () => from('192.0.2.7', { password: 'wrong' })))
  expect(guesses.map(one => one.status).sort()).toEqual([401, 401, 401, 429, 429, 429, 429, 429])
})

test('an unknown email address is handled and audited like a known one', async () => {
  const { w, from } = await guesser('30')
  const known = await from('192.0.2.7', { password: 'wrong' })
  await from('192.0.2.7', { email: 'nobody@example.com' })
  const unknown = await from('192.0.2.7', { email: 'nobody@example.com' })
  const comparable = ({ status, body }: ApiResponse) => ({ status, body: { ...body, request_id: '', instance: '' } })
  expect(comparable(unknown)).toEqual(comparable(known))
  const rows = await w.hub.read
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.workspaceId, w.acme.workspaceId), eq(auditEntries.action, 'account.session.create')))
    .orderBy(auditEntries.seq)
  expect(rows.map(row => [row.outcome, row.actorType, row.targets.length])).toEqual([
    ['failure', 'user', 1],
    ['failure', 'anonymous', 0],
    ['failure', 'anonymous', 0],
  ])
  expect(JSON.stringify(rows)).not.toContain('nobody@example.com')
})

test('a valid X-Request-Id of the client is stored in the audit log', async () => {
  const { acme, audited } = await world()
  const created = (id: string) =>
    acme.call(
      'POST',
      '/v1/tokens',
      { name: 'x', permissions: ['dns.read'] },
      {
        'x-request-id': id,
        'user-agent': 'u'.repeat(300),
      },
    )
  const responses = [await created('trace-1'), await created('x'.repeat(129)), await created('two words')]
  expect(await audited()).toHaveLength(3)
  const entries = (await acme.call('GET', '/v1/audit-events?action=account.token.create&limit=3')).body.data.reverse()
  expect(entries.map((one: any) => one.context.client_request_id)).toEqual(['trace-1', null, null])
  expect(entries.map((one: any) => one.context.request_id)).toEqual(responses.map(one => one.headers.get('x-request-id')))
  expect(entries.map((one: any) => one.context.user_agent.length)).toEqual([200, 200, 200])
})

test('a token in a URL is refused, and the workspace is informed of the leak', async () => {
  const w = await world({ BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '3' })
  const leaked = w.readOnly.token
  for (const address of [leaked, leaked.replaceAll('_', '%5F')]) {
    const refused = await w.anonymous.call('GET', `/v1/tokens?q=${address}`)
    expect([refused.status, refused.body.code]).toEqual([400, 'token_in_query'])
  }
  expect((await w.anonymous.call('GET', `/v1/tokens?q=${leaked.slice(0, -1)}`)).body.code).toBe('token_in_query')
  expect(await w.audited()).toEqual(['account.token.use denied', 'account.token.use denied'])
  const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=account.token.use&limit=1')).body.data
  expect([entry.actor.hint, entry.targets[0].id]).toEqual([`bw_live_…${leaked.slice(-4)}`, entry.actor.id])
  expect(entry.reason).toContain('URL')
  expect((await w.anonymous.call('GET', `/v1/tokens?q=${leaked}`)).status).toBe(429)
  expect(await w.audited()).toEqual([])
})
