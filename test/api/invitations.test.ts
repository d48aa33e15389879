import { invitations } from '../../src/features/people/invitations/tables'
import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { pruneInvitations } from '../../src/features/people/invitations/invitations'
import { users, type Role } from '../../src/access/tables'
import { setDisabled } from '../../src/features/people/users'
import { jobContext, systemActor } from '../../src/core/change'
import { addPerson, browser, cookieOf, password, person, signedIn } from '../support/people'
import { callerWith, world, type World } from '../support/world'

const day = 86_400_000
const email = 'grace@example.com'
const newcomer = { name: 'Grace', password }

const invite = async (w: World, given: object = {}) => (await w.acme.call('POST', '/v1/invitations', { email, ...given })).body
const accept = ({ anonymous }: World, code: string, given: object = newcomer) =>
  anonymous.call('POST', '/v1/invitations/accept', { code, ...given })
const unlike = ({ status, body }: { status: number; body: any }) => ({ status, body: { ...body, request_id: '', instance: '' } })

test('an invitation adds one member and signs them in; its code is shown once and stored as a hash', async () => {
  const w = await world()
  const created = await w.acme.call('POST', '/v1/invitations', { email: 'Grace@Example.com', role: 'admin' })
  expect([created.status, created.headers.get('location')]).toEqual([201, `/v1/invitations/${created.body.id}`])
  const { code, link, note, ...shown } = created.body
  expect(note).toBeNull()
  expect(code).toMatch(/^bw_inv_[0-9A-Za-z]{32}$/)
  expect(link).toBe(`http://127.0.0.1:8484/invite#${code}`)
  expect(shown).toMatchObject({
    email,
    role: 'admin',
    status: 'pending',
    expires_at: '2026-11-28T10:00:00.000Z',
    accepted_at: null,
  })
  expect((await w.acme.call('GET', `/v1/invitations/${shown.id}`)).body).toEqual(shown)
  const [row] = await w.hub.read.select().from(invitations)
  expect(JSON.stringify(row)).not.toContain(code.slice(7))

  const preview = await w.anonymous.call('POST', '/v1/invitations/preview', { code })
  expect(preview.body).toEqual({
    workspace: 'default',
    email,
    role: 'admin',
    expires_at: shown.expires_at,
    allows_sign_up: true,
  })
  const joined = await accept(w, code)
  expect([joined.status, joined.body.workspace_id, joined.body.user.email]).toEqual([201, w.acme.workspaceId, email])
  const call = browser(w, cookieOf(joined))
  expect((await call('GET', '/v1/users/me')).body).toMatchObject({
    name: 'Grace',
    operator: false,
    workspaces: [{ role: 'admin' }],
  })
  expect(await signedIn(w, email)).toBeFunction()
  expect((await w.acme.call('GET', `/v1/invitations/${shown.id}`)).body).toMatchObject({
    status: 'accepted',
    accepted_by: joined.body.user.id,
    accepted_at: '2026-11-21T10:00:00.000Z',
  })
  expect(await w.audited()).toEqual([
    'account.invitation.create',
    'account.invitation.accept',
    'account.session.create',
    'account.session.create',
  ])
  expect((await w.acme.call('GET', '/v1/audit-events')).text).not.toContain(code)
})

test('used, revoked, renewed, expired and unknown codes get the same response', async () => {
  const w = await world()
  const used = await invite(w, { email: 'a@example.com' })
  await accept(w, used.code)
  const revoked = await invite(w, { email: 'b@example.com' })
  expect((await w.acme.call('DELETE', `/v1/invitations/${revoked.id}`)).status).toBe(204)
  const renewed = await invite(w, { email: 'c@example.com' })
  const again = (await w.acme.call('POST', `/v1/invitations/${renewed.id}/renew`, {})).body
  expect(again).toMatchObject({ id: renewed.id, version: 2, status: 'pending' })
  const expired = await invite(w, { email: 'd@example.com', expires_in_seconds: 3600 })
  w.clock.advance(3_600_000)
  const codes = [used.code, revoked.code, renewed.code, expired.code, `bw_inv_${'x'.repeat(32)}`, '', "' or 1=1 --"]
  for (const path of ['accept', 'preview']) {
    const responses = await Promise.all(
      codes.map(code => w.anonymous.call('POST', `/v1/invitations/${path}`, { code, ...(path === 'accept' && newcomer) })),
    )
    expect([responses[0]!.status, responses[0]!.body.code]).toEqual([404, 'not_found'])
    for (const response of responses) expect(unlike(response)).toEqual(unlike(responses[0]!))
  }
  expect((await accept(w, again.code)).status).toBe(201)
  expect((await w.acme.call('POST', `/v1/invitations/${used.id}/renew`, {})).status).toBe(409)
})

test('of two concurrent acceptances, only one succeeds', async () => {
  const w = await world()
  const { code } = await invite(w)
  const both = await Promise.all([accept(w, code), accept(w, code)])
  expect(both.map(one => one.status).filter(status => status === 201)).toHaveLength(1)
  expect(await w.hub.read.select().from(users).where(eq(users.email, email))).toHaveLength(1)
})

test('an existing user authenticates by password or session', async () => {
  const w = await world()
  const user = await addPerson(w.hub, w.rival.workspaceId, 'owner', email)
  const first = await invite(w, { role: 'viewer' })
  const wrong = await accept(w, first.code, { name: 'Mallory', password: 'another horse battery' })
  expect([wrong.status, wrong.body.code]).toEqual([401, 'invalid_login'])
  const joined = await accept(w, first.code)
  expect([joined.status, joined.body.user.id, joined.body.user.name]).toEqual([201, user.id, 'grace'])
  await w.acme.call('DELETE', `/v1/members/${user.id}`)

  const second = await invite(w)
  const call = await signedIn(w, email)
  const bySession = await call('POST', '/v1/invitations/accept', { code: second.code })
  expect([bySession.status, bySession.body.workspace_id, bySession.headers.get('set-cookie')]).toEqual([
    201,
    w.acme.workspaceId,
    null,
  ])
  expect((await call('GET', '/v1/workspaces')).status).toBe(200)
})

test('a session of another user cannot accept the invitation, and neither can a page of another site', async () => {
  const w = await world()
  const { code } = await invite(w)
  const { call } = await person(w, w.rival.workspaceId, 'owner', 'eve@example.com')
  const other = await call('POST', '/v1/invitations/accept', { code })
  expect([other.status, other.body.code]).toEqual([409, 'conflict'])
  for (const headers of [{ origin: 'http://evil.example' }, { 'bailiwick-csrf': '0' }] as Record<string, string>[])
    expect((await call('POST', '/v1/invitations/accept', { code }, headers)).body.code).toBe('origin_not_allowed')
  expect((await accept(w, code, {})).body.errors.map((one: any) => one.pointer)).toEqual(['#/name', '#/password'])
  // An expired session counts as none.
  const ended = await w.anonymous.call('POST', '/v1/invitations/accept', { code, ...newcomer }, { cookie: 'bailiwick=nonsense' })
  expect(ended.status).toBe(201)
})

test('no one can create or renew an invitation to a role above their own', async () => {
  const w = await world()
  await addPerson(w.hub, w.acme.workspaceId, 'owner', 'olga@example.com')
  const expected: Record<Role, number[]> = { owner: [201, 201], admin: [403, 201], member: [403, 403], viewer: [403, 403] }
  const owners = await invite(w, { email: 'boss@example.com', role: 'owner' })
  for (const [role, statuses] of Object.entries(expected) as [Role, number[]][]) {
    const { call } = await person(w, w.acme.workspaceId, role, `${role}@example.com`)
    const ask = (to: Role) => call('POST', '/v1/invitations', { email: `${role}-${to}@example.net`, role: to })
    expect([role, (await ask('owner')).status, (await ask('admin')).status]).toEqual([role, ...statuses] as never)
    expect((await call('POST', `/v1/invitations/${owners.id}/renew`, {})).status).toBe(role === 'owner' ? 200 : 403)
  }
  expect((await w.rival.call('POST', '/v1/invitations', { email, role: 'owner' })).body.required_role).toBe('owner')
})

test('invitations are revoked when their creator loses the required role', async () => {
  const w = await world()
  await addPerson(w.hub, w.acme.workspaceId, 'owner', 'olga@example.com')
  const { user, call } = await person(w, w.acme.workspaceId, 'owner', 'ada@example.com')
  const create = async (to: string, role: Role) => (await call('POST', '/v1/invitations', { email: to, role })).body.code
  const codes = [await create('a@example.com', 'owner'), await create('b@example.com', 'viewer')]
  await w.acme.call('PATCH', `/v1/members/${user.id}`, { role: 'admin' })
  const open = async () => (await w.acme.call('GET', '/v1/invitations')).body.data.map((one: any) => one.role)
  expect(await open()).toEqual(['viewer'])
  expect((await accept(w, codes[0]!)).status).toBe(404)
  await setDisabled(w.hub, user, true, { actor: systemActor('test'), context: jobContext })
  expect(await open()).toEqual([])
  expect((await accept(w, codes[1]!)).status).toBe(404)
})

test('revoking or reporting a token revokes its pending invitations', async () => {
  const w = await world()
  const make = async (to: string) => {
    const { id, token } = (await w.acme.call('POST', '/v1/tokens', { name: 'ci', mode: 'full' })).body
    const created = await callerWith(w.app, w.acme.workspaceId, token).call('POST', '/v1/invitations', {
      email: to,
      role: 'admin',
    })
    return { id, token, code: created.body.code }
  }
  const [revoked, reported] = [await make('a@example.com'), await make('b@example.com')]
  await w.acme.call('DELETE', `/v1/tokens/${revoked.id}`)
  await w.anonymous.call('POST', '/v1/tokens/report', { token: reported.token })
  for (const { code } of [revoked, reported]) expect((await accept(w, code)).status).toBe(404)
  const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=account.token.revoke')).body.data
  expect(entry.reason).toBe('Pending invitations created by this token were revoked (1).')
})

test('an invitation created or renewed while its creator loses the required role has no working code', async () => {
  const w = await world()
  const owner = await person(w, w.acme.workspaceId, 'owner', 'olga@example.com')
  for (let n = 0; n < 5; n++) {
    const { user, call } = await person(w, w.acme.workspaceId, 'admin', `ada${n}@example.com`)
    const others = await invite(w, { email: `others${n}@example.com` })
    const path = `/v1/members/${user.id}`
    const [gone, ...requests] = await Promise.all([
      n % 2 ? owner.call('DELETE', path) : owner.call('PATCH', path, { role: 'member' }),
      call('POST', '/v1/invitations', { email: `friend${n}@example.com`, role: 'viewer' }),
      call('POST', `/v1/invitations/${others.id}/renew`, {}),
    ])
    expect(gone.status).toBeLessThan(300)
    for (const response of requests) {
      if (response.status >= 400) continue
      expect((await w.anonymous.call('POST', '/v1/invitations/preview', { code: response.body.code })).status).toBe(404)
    }
  }
})

test('inviting does not reveal accounts; members and invited people are named', async () => {
  const w = await world()
  await addPerson(w.hub, w.rival.workspaceId, 'owner', email)
  const shape = ({ status, body }: any) => [status, Object.keys(body), body.status]
  const known = await w.acme.call('POST', '/v1/invitations', { email })
  expect(shape(known)).toEqual(shape(await w.acme.call('POST', '/v1/invitations', { email: 'nobody@example.com' })))
  const twice = await w.acme.call('POST', '/v1/invitations', { email: 'GRACE@example.com' })
  expect([twice.status, twice.body.code]).toEqual([409, 'already_exists'])
  expect((await w.rival.call('POST', '/v1/invitations', { email })).body.code).toBe('already_exists')
  w.clock.advance(7 * day)
  expect((await w.acme.call('POST', '/v1/invitations', { email })).status).toBe(201)
})

const loginNeeded = { allows_sign_up: false, note: expect.stringContaining('BAILIWICK_SIGN_UP is closed') }

test('if sign-up is closed, invitations by anyone but the operator require an account', async () => {
  const w = await world()
  await addPerson(w.hub, w.acme.workspaceId, 'member', email)
  const { call } = await person(w, w.rival.workspaceId, 'owner', 'olga@example.com')
  const by = async (to: string, ask: typeof call = w.rival.call) => (await ask('POST', '/v1/invitations', { email: to })).body
  const known = await by(email)
  const unknown = await by('nobody@example.com')
  const third = await by('third@example.com', call)
  // The response is the same for both, so it does not reveal who has an account.
  for (const one of [known, unknown, third]) expect(one).toMatchObject(loginNeeded)
  expect((await w.rival.call('GET', `/v1/invitations/${unknown.id}`)).body.allows_sign_up).toBe(false)
  expect((await w.anonymous.call('POST', '/v1/invitations/preview', { code: unknown.code })).body.allows_sign_up).toBe(false)

  const wrong = await accept(w, known.code, { name: 'x', password: 'another horse battery' })
  for (const { code } of [unknown, third]) {
    const refused = await accept(w, code)
    expect([refused.status, unlike(refused)]).toEqual([401, unlike(wrong)])
  }
  expect(await w.hub.read.select().from(users).where(eq(users.email, 'nobody@example.com'))).toEqual([])
  expect((await accept(w, known.code)).status).toBe(201)
})

test('if sign-up is closed, the operator can invite new people to any workspace', async () => {
  const w = await world()
  const makes = { allows_sign_up: true, note: null }
  const path = `/v1/workspaces/${w.rival.workspaceId}/invitations`
  const byToken = (await w.acme.call('POST', path, { email })).body
  const ada = await addPerson(w.hub, w.rival.workspaceId, 'member', 'ada@example.com')
  await w.hub.store.transact(tx => tx.update(users).set({ isOperator: true }).where(eq(users.id, ada.id)))
  const call = await signedIn(w, 'ada@example.com')
  const byUser = (await call('POST', path, { email: 'ben@example.com' })).body
  expect([byToken, byUser]).toMatchObject([makes, makes])
  expect([(await accept(w, byToken.code)).status, (await accept(w, byUser.code)).status]).toEqual([201, 201])
})

test(
  'renewing an invitation reveals its code, so an operator’s invitation renewed by the workspace does not allow ' + 'sign-up',
  async () => {
    const w = await world()
    const path = `/v1/workspaces/${w.rival.workspaceId}/invitations`
    const { id } = (await w.acme.call('POST', path, { email, role: 'member' })).body
    const renewed = (await w.rival.call('POST', `/v1/invitations/${id}/renew`, {})).body
    expect(renewed).toMatchObject(loginNeeded)
    expect((await accept(w, renewed.code)).status).toBe(401)
  },
)

test.each(['invitation', 'open'])('with mode %s every workspace can invite new people', async mode => {
  const w = await world({ BAILIWICK_SIGN_UP: mode })
  const created = (await w.rival.call('POST', '/v1/invitations', { email })).body
  expect(created).toMatchObject({ allows_sign_up: true, note: null })
  expect((await accept(w, created.code)).status).toBe(201)
})

test('guessing codes is rate limited, which also blocks valid codes', async () => {
  const w = await world({ BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '3' })
  const { code } = await invite(w)
  for (let n = 0; n < 3; n++)
    expect((await w.anonymous.call('POST', '/v1/invitations/preview', { code: `${n}` })).status).toBe(404)
  expect((await w.anonymous.call('POST', '/v1/invitations/preview', { code })).status).toBe(429)
  expect((await accept(w, code)).status).toBe(429)
  w.clock.advance(20_000)
  expect((await accept(w, code)).status).toBe(201)
})

test('a workspace can have 100 pending invitations, and create 100 an hour', async () => {
  const w = await world()
  const statuses: number[] = []
  for (let n = 0; n < 100; n++)
    statuses.push((await w.acme.call('POST', '/v1/invitations', { email: `${n}@example.com` })).status)
  expect(new Set(statuses)).toEqual(new Set([201]))
  const fast = await w.acme.call('POST', '/v1/invitations', { email })
  expect([fast.status, fast.body['violated-policies']]).toEqual([429, ['invitations']])
  w.clock.advance(3_600_000)
  const full = await w.acme.call('POST', '/v1/invitations', { email })
  expect([full.status, full.body.detail]).toEqual([409, expect.stringContaining('100 pending invitations')])
}, 180_000)

test('the list can be filtered, and old invitations are removed from it', async () => {
  const w = await world()
  const a = await invite(w, { email: 'a@example.com', role: 'viewer' })
  await accept(w, a.code)
  await invite(w, { email: 'b@example.com', expires_in_seconds: 3600 })
  await invite(w, { email: 'c@example.com', expires_in_seconds: 30 * 86_400 })
  w.clock.advance(2 * 3_600_000)
  const emails = async (query: string) =>
    (await w.acme.call('GET', `/v1/invitations?include=total&${query}`)).body.data.map((one: any) => one.email[0])
  expect(await emails('')).toEqual(['c', 'b', 'a'])
  expect(await emails('status=pending')).toEqual(['c'])
  expect(await emails('status=expired,accepted&sort=id')).toEqual(['a', 'b'])
  expect(await emails('role=viewer')).toEqual(['a'])
  expect(await emails('q=B%40')).toEqual(['b'])
  expect((await w.rival.call('GET', '/v1/invitations')).body.data).toEqual([])
  w.clock.advance(91 * day)
  await pruneInvitations(w.hub)
  expect(await emails('')).toEqual(['c'])
})

test('invalid input is reported, replays omit the code, and invitations of other workspaces are not found', async () => {
  const w = await world()
  const wrong = await w.acme.call('POST', '/v1/invitations', { email: 'grace', role: 'king', expires_in_seconds: 60 })
  expect([wrong.status, wrong.body.errors.map((one: any) => one.pointer).sort()]).toEqual([
    422,
    ['#/email', '#/expires_in_seconds', '#/role'],
  ])
  const key = { 'idempotency-key': 'k1' }
  const first = await w.acme.call('POST', '/v1/invitations', { email }, key)
  const replay = await w.acme.call('POST', '/v1/invitations', { email }, key)
  expect([replay.body.id, replay.body.code, replay.body.link, replay.body.secret_shown_before]).toEqual([
    first.body.id,
    undefined,
    undefined,
    true,
  ])
  const path = `/v1/invitations/${first.body.id}`
  expect((await w.rival.call('GET', path)).status).toBe(404)
  expect((await w.rival.call('DELETE', path)).status).toBe(404)
  expect((await w.rival.call('POST', `${path}/renew`, {})).status).toBe(404)
  expect((await w.acme.call('POST', `${path}/renew`, {}, { 'if-match': '"9"' })).status).toBe(412)
  expect((await w.acme.call('DELETE', path, undefined, { 'if-match': '"9"' })).status).toBe(412)
})

test('the operator invites the owner of a workspace they created, and others cannot', async () => {
  const w = await world()
  const { id } = (await w.acme.call('POST', '/v1/workspaces', { name: 'hopper' })).body
  const created = await w.acme.call('POST', `/v1/workspaces/${id}/invitations`, { email })
  expect([created.status, created.body.role]).toEqual([201, 'owner'])
  const joined = await accept(w, created.body.code)
  expect(joined.body.user.workspaces).toEqual([{ id, name: 'hopper', role: 'owner' }])
  expect((await w.acme.call('GET', '/v1/invitations')).body.data).toEqual([])
  expect((await w.rival.call('POST', `/v1/workspaces/${id}/invitations`, { email })).status).toBe(403)
  const nowhere = await w.acme.call('POST', '/v1/workspaces/ws_01jd8f3q7eeb9bv0w0r8c7hq2m/invitations', { email })
  expect(nowhere.status).toBe(404)
})
