import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { pruneInvitations } from '../../src/access/invitations'
import { invitations, users, type Role } from '../../src/access/tables'
import { setDisabled } from '../../src/access/users'
import { jobContext, systemActor } from '../../src/core/change'
import { addPerson, browser, cookieOf, password, person, signedIn } from '../support/people'
import { callerWith, world, type World } from '../support/world'

const day = 86_400_000
const email = 'grace@example.com'
const newcomer = { name: 'Grace', password }

const invite = async (w: World, given: object = {}) => (await w.acme.call('POST', '/v1/invitations', { email, ...given })).body
const accept = ({ stranger }: World, code: string, given: object = newcomer) =>
  stranger.call('POST', '/v1/invitations/accept', { code, ...given })
const unlike = ({ status, body }: { status: number; body: any }) => ({ status, body: { ...body, request_id: '', instance: '' } })

test('an invitation makes a member once, who is signed in; its code is told once and stored as a hash', async () => {
  const w = await world()
  const made = await w.acme.call('POST', '/v1/invitations', { email: 'Grace@Example.com', role: 'admin' })
  expect([made.status, made.headers.get('location')]).toEqual([201, `/v1/invitations/${made.body.id}`])
  const { code, link, note, ...shown } = made.body
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

  const preview = await w.stranger.call('POST', '/v1/invitations/preview', { code })
  expect(preview.body).toEqual({
    workspace: 'default',
    email,
    role: 'admin',
    expires_at: shown.expires_at,
    makes_login: true,
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

test('codes that are used, withdrawn, renewed, expired and unknown are answered alike', async () => {
  const w = await world()
  const used = await invite(w, { email: 'a@example.com' })
  await accept(w, used.code)
  const withdrawn = await invite(w, { email: 'b@example.com' })
  expect((await w.acme.call('DELETE', `/v1/invitations/${withdrawn.id}`)).status).toBe(204)
  const renewed = await invite(w, { email: 'c@example.com' })
  const again = (await w.acme.call('POST', `/v1/invitations/${renewed.id}/renew`, {})).body
  expect(again).toMatchObject({ id: renewed.id, version: 2, status: 'pending' })
  const expired = await invite(w, { email: 'd@example.com', expires_in_seconds: 3600 })
  w.clock.advance(3_600_000)
  const codes = [used.code, withdrawn.code, renewed.code, expired.code, `bw_inv_${'x'.repeat(32)}`, '', "' or 1=1 --"]
  for (const path of ['accept', 'preview']) {
    const answers = await Promise.all(
      codes.map(code => w.stranger.call('POST', `/v1/invitations/${path}`, { code, ...(path === 'accept' && newcomer) })),
    )
    expect([answers[0]!.status, answers[0]!.body.code]).toEqual([404, 'not_found'])
    for (const answer of answers) expect(unlike(answer)).toEqual(unlike(answers[0]!))
  }
  expect((await accept(w, again.code)).status).toBe(201)
  expect((await w.acme.call('POST', `/v1/invitations/${used.id}/renew`, {})).status).toBe(409)
})

test('of two who accept at once, one joins', async () => {
  const w = await world()
  const { code } = await invite(w)
  const both = await Promise.all([accept(w, code), accept(w, code)])
  expect(both.map(one => one.status).filter(status => status === 201)).toHaveLength(1)
  expect(await w.hub.read.select().from(users).where(eq(users.email, email))).toHaveLength(1)
})

test('who has the login already proves themself, by password or session', async () => {
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

test('a session of somebody else does not take the invitation, and a page elsewhere accepts nothing', async () => {
  const w = await world()
  const { code } = await invite(w)
  const { call } = await person(w, w.rival.workspaceId, 'owner', 'eve@example.com')
  const other = await call('POST', '/v1/invitations/accept', { code })
  expect([other.status, other.body.code]).toEqual([409, 'conflict'])
  for (const headers of [{ origin: 'http://evil.example' }, { 'bailiwick-csrf': '0' }] as Record<string, string>[])
    expect((await call('POST', '/v1/invitations/accept', { code }, headers)).body.code).toBe('origin_not_allowed')
  expect((await accept(w, code, {})).body.errors.map((one: any) => one.pointer)).toEqual(['#/name', '#/password'])
  // A session that has ended is no session.
  const ended = await w.stranger.call('POST', '/v1/invitations/accept', { code, ...newcomer }, { cookie: 'bailiwick=nonsense' })
  expect(ended.status).toBe(201)
})

test('nobody invites, or renews an invitation, to a role above their own', async () => {
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

test('invitations do not outlive the power of who made them', async () => {
  const w = await world()
  await addPerson(w.hub, w.acme.workspaceId, 'owner', 'olga@example.com')
  const { user, call } = await person(w, w.acme.workspaceId, 'owner', 'ada@example.com')
  const made = async (to: string, role: Role) => (await call('POST', '/v1/invitations', { email: to, role })).body.code
  const codes = [await made('a@example.com', 'owner'), await made('b@example.com', 'viewer')]
  await w.acme.call('PATCH', `/v1/members/${user.id}`, { role: 'admin' })
  const open = async () => (await w.acme.call('GET', '/v1/invitations')).body.data.map((one: any) => one.role)
  expect(await open()).toEqual(['viewer'])
  expect((await accept(w, codes[0]!)).status).toBe(404)
  await setDisabled(w.hub, user, true, { actor: systemActor('test'), context: jobContext })
  expect(await open()).toEqual([])
  expect((await accept(w, codes[1]!)).status).toBe(404)
})

test('a token that is revoked or reported takes its open invitations along', async () => {
  const w = await world()
  const make = async (to: string) => {
    const { id, token } = (await w.acme.call('POST', '/v1/tokens', { name: 'ci', mode: 'full' })).body
    const made = await callerWith(w.app, w.acme.workspaceId, token).call('POST', '/v1/invitations', { email: to, role: 'admin' })
    return { id, token, code: made.body.code }
  }
  const [revoked, reported] = [await make('a@example.com'), await make('b@example.com')]
  await w.acme.call('DELETE', `/v1/tokens/${revoked.id}`)
  await w.stranger.call('POST', '/v1/tokens/report', { token: reported.token })
  for (const { code } of [revoked, reported]) expect((await accept(w, code)).status).toBe(404)
  const [told] = (await w.acme.call('GET', '/v1/audit-events?action=account.token.revoke')).body.data
  expect(told.reason).toBe('Open invitations it made were withdrawn (1).')
})

test('who invites, or renews, in the moment they lose the power is left with no code that works', async () => {
  const w = await world()
  const owner = await person(w, w.acme.workspaceId, 'owner', 'olga@example.com')
  for (let n = 0; n < 5; n++) {
    const { user, call } = await person(w, w.acme.workspaceId, 'admin', `ada${n}@example.com`)
    const others = await invite(w, { email: `others${n}@example.com` })
    const path = `/v1/members/${user.id}`
    const [gone, ...asked] = await Promise.all([
      n % 2 ? owner.call('DELETE', path) : owner.call('PATCH', path, { role: 'member' }),
      call('POST', '/v1/invitations', { email: `friend${n}@example.com`, role: 'viewer' }),
      call('POST', `/v1/invitations/${others.id}/renew`, {}),
    ])
    expect(gone.status).toBeLessThan(300)
    for (const answer of asked) {
      if (answer.status >= 400) continue
      expect((await w.stranger.call('POST', '/v1/invitations/preview', { code: answer.body.code })).status).toBe(404)
    }
  }
})

test('inviting tells nothing of logins elsewhere; who belongs here or is invited is named', async () => {
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

const loginNeeded = { makes_login: false, note: expect.stringContaining('BAILIWICK_SIGN_UP is closed') }

test('where sign-up is closed invitations by others than the operator are for those who have a login', async () => {
  const w = await world()
  await addPerson(w.hub, w.acme.workspaceId, 'member', email)
  const { call } = await person(w, w.rival.workspaceId, 'owner', 'olga@example.com')
  const by = async (to: string, ask: typeof call = w.rival.call) => (await ask('POST', '/v1/invitations', { email: to })).body
  const known = await by(email)
  const unknown = await by('nobody@example.com')
  const third = await by('third@example.com', call)
  // The answer is the same for both: it does not tell who has a login.
  for (const one of [known, unknown, third]) expect(one).toMatchObject(loginNeeded)
  expect((await w.rival.call('GET', `/v1/invitations/${unknown.id}`)).body.makes_login).toBe(false)
  expect((await w.stranger.call('POST', '/v1/invitations/preview', { code: unknown.code })).body.makes_login).toBe(false)

  const wrong = await accept(w, known.code, { name: 'x', password: 'another horse battery' })
  for (const { code } of [unknown, third]) {
    const refused = await accept(w, code)
    expect([refused.status, unlike(refused)]).toEqual([401, unlike(wrong)])
  }
  expect(await w.hub.read.select().from(users).where(eq(users.email, 'nobody@example.com'))).toEqual([])
  expect((await accept(w, known.code)).status).toBe(201)
})

test('where sign-up is closed the operator invites people who are new, to any workspace', async () => {
  const w = await world()
  const makes = { makes_login: true, note: null }
  const path = `/v1/workspaces/${w.rival.workspaceId}/invitations`
  const byToken = (await w.acme.call('POST', path, { email })).body
  const ada = await addPerson(w.hub, w.rival.workspaceId, 'member', 'ada@example.com')
  await w.hub.store.transact(tx => tx.update(users).set({ isOperator: true }).where(eq(users.id, ada.id)))
  const call = await signedIn(w, 'ada@example.com')
  const byUser = (await call('POST', path, { email: 'ben@example.com' })).body
  expect([byToken, byUser]).toMatchObject([makes, makes])
  expect([(await accept(w, byToken.code)).status, (await accept(w, byUser.code)).status]).toEqual([201, 201])
})

test('who renews an invitation knows its code: of the operator’s one that a workspace renewed makes no login', async () => {
  const w = await world()
  const path = `/v1/workspaces/${w.rival.workspaceId}/invitations`
  const { id } = (await w.acme.call('POST', path, { email, role: 'member' })).body
  const renewed = (await w.rival.call('POST', `/v1/invitations/${id}/renew`, {})).body
  expect(renewed).toMatchObject(loginNeeded)
  expect((await accept(w, renewed.code)).status).toBe(401)
})

test.each(['invitation', 'open'])('with the mode %s every workspace invites people who are new', async mode => {
  const w = await world({ BAILIWICK_SIGN_UP: mode })
  const made = (await w.rival.call('POST', '/v1/invitations', { email })).body
  expect(made).toMatchObject({ makes_login: true, note: null })
  expect((await accept(w, made.code)).status).toBe(201)
})

test('guessing codes is limited, and a right one has to wait as well', async () => {
  const w = await world({ BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '3' })
  const { code } = await invite(w)
  for (let n = 0; n < 3; n++)
    expect((await w.stranger.call('POST', '/v1/invitations/preview', { code: `${n}` })).status).toBe(404)
  expect((await w.stranger.call('POST', '/v1/invitations/preview', { code })).status).toBe(429)
  expect((await accept(w, code)).status).toBe(429)
  w.clock.advance(20_000)
  expect((await accept(w, code)).status).toBe(201)
})

test('a workspace has a hundred open invitations at most, and makes a hundred an hour', async () => {
  const w = await world()
  const statuses: number[] = []
  for (let n = 0; n < 100; n++)
    statuses.push((await w.acme.call('POST', '/v1/invitations', { email: `${n}@example.com` })).status)
  expect(new Set(statuses)).toEqual(new Set([201]))
  const fast = await w.acme.call('POST', '/v1/invitations', { email })
  expect([fast.status, fast.body['violated-policies']]).toEqual([429, ['invitations']])
  w.clock.advance(3_600_000)
  const full = await w.acme.call('POST', '/v1/invitations', { email })
  expect([full.status, full.body.detail]).toEqual([409, expect.stringContaining('100 open invitations')])
}, 60_000)

test('the list is filtered, and what was over long ago leaves it', async () => {
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

test('bad input is named, replays hold no code, and other workspaces’ invitations are not found', async () => {
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

test('the operator invites the owner of a workspace they made, and others cannot', async () => {
  const w = await world()
  const { id } = (await w.acme.call('POST', '/v1/workspaces', { name: 'hopper' })).body
  const made = await w.acme.call('POST', `/v1/workspaces/${id}/invitations`, { email })
  expect([made.status, made.body.role]).toEqual([201, 'owner'])
  const joined = await accept(w, made.body.code)
  expect(joined.body.user.workspaces).toEqual([{ id, name: 'hopper', role: 'owner' }])
  expect((await w.acme.call('GET', '/v1/invitations')).body.data).toEqual([])
  expect((await w.rival.call('POST', `/v1/workspaces/${id}/invitations`, { email })).status).toBe(403)
  const nowhere = await w.acme.call('POST', '/v1/workspaces/ws_01jd8f3q7eeb9bv0w0r8c7hq2m/invitations', { email })
  expect(nowhere.status).toBe(404)
})
