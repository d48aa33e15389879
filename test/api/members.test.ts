import { expect, test } from 'bun:test'
import { roles, type Role } from '../../src/access/tables'
import { addUser, setDisabled } from '../../src/features/people/users'
import { permissions } from '../../src/core/permissions'
import { addPerson, person, signedIn } from '../support/people'
import { runSource } from '../support/command'
import { callerWith, world } from '../support/world'

const by = {
  actor: { type: 'operator' as const, id: 'cli', name: 'cli', hint: null },
  context: { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'cli' as const },
}

test('the list contains only members of the workspace, with filters, sorting and pagination', async () => {
  const w = await world()
  const { rival } = w
  for (const [name, role] of [
    ['dora', 'owner'],
    ['alan', 'member'],
    ['grace', 'viewer'],
  ] as const)
    await addPerson(w.hub, rival.workspaceId, role, `${name}@example.com`)
  await addPerson(w.hub, w.acme.workspaceId, 'owner', 'other@example.com')
  const names = async (query = '') => (await rival.call('GET', `/v1/members?${query}`)).body.data.map((one: any) => one.name)
  expect(await names()).toEqual(['dora', 'alan', 'grace'])
  expect(await names('sort=-joined_at')).toEqual(['grace', 'alan', 'dora'])
  expect(await names('role=owner,viewer')).toEqual(['dora', 'grace'])
  expect(await names('q=RAC')).toEqual(['grace'])
  expect(await names('q=%25')).toEqual([])
  expect(await names('q=alan@example')).toEqual(['alan'])
  expect(await names('q=example%20Gra')).toEqual(['grace'])
  const page = (await rival.call('GET', '/v1/members?limit=2&include=total&q=example.com')).body
  expect(page.pagination).toMatchObject({ has_more: true, total: 3 })
  expect(await names(`limit=2&q=example.com&cursor=${page.pagination.next_cursor}`)).toEqual(['grace'])
})

test('a member shows when they were last seen, and how many tokens they created', async () => {
  const w = await world()
  const { user, call } = await person(w, w.acme.workspaceId, 'admin', 'ada@example.com')
  const seen = async () => (await w.acme.call('GET', `/v1/members/${user.id}`)).body
  expect(await seen()).toMatchObject({
    id: user.id,
    email: 'ada@example.com',
    role: 'admin',
    disabled: false,
    tokens: 0,
    joined_at: '2026-11-21T10:00:00.000Z',
    last_seen_at: '2026-11-21T10:00:00.000Z',
  })
  w.clock.advance(120_000)
  await call('POST', '/v1/tokens', { name: 'ci', permissions: ['dns.read'] })
  expect(await seen()).toMatchObject({ tokens: 1, last_seen_at: '2026-11-21T10:02:00.000Z' })
  const created = (await w.acme.call('GET', `/v1/tokens?created_by=${user.id}`)).body.data
  expect(created.map((one: any) => one.name)).toEqual(['ci'])
})

test('a new role takes effect with the next request', async () => {
  const w = await world()
  const { user, call } = await person(w, w.acme.workspaceId, 'member', 'ada@example.com')
  const owner = await person(w, w.acme.workspaceId, 'owner', 'olga@example.com')
  await w.audited()
  expect((await call('GET', '/v1/members')).status).toBe(200)
  expect((await call('PATCH', `/v1/members/${user.id}`, { role: 'admin' })).status).toBe(403)
  const changed = await owner.call('PATCH', `/v1/members/${user.id}`, { role: 'admin' })
  expect([changed.status, changed.body.role, changed.body.version]).toEqual([200, 'admin', 2])
  expect((await call('PATCH', `/v1/members/${user.id}`, { role: 'viewer' })).status).toBe(200)
  expect((await call('GET', '/v1/members')).status).toBe(403)
  expect(await w.audited()).toEqual([
    'account.member.update denied',
    'account.member.update',
    'account.member.update',
    'account.resource.read denied',
  ])
  const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=account.member.update&outcome=success&limit=1')).body.data
  expect([entry.targets, entry.changes]).toEqual([
    [{ type: 'user', id: user.id, name: 'ada' }],
    { before: { role: 'admin' }, after: { role: 'viewer' } },
  ])
})

const rank = (role: Role) => roles.length - roles.indexOf(role)

test.each(['owner', 'admin'] as const)('an %s cannot assign, remove or change a role above their own', async acting => {
  const w = await world()
  await addPerson(w.hub, w.acme.workspaceId, 'owner', 'first@example.com')
  const { call } = await person(w, w.acme.workspaceId, acting, 'acting@example.com')
  for (const from of roles) {
    const target = await addPerson(w.hub, w.acme.workspaceId, from, `${from}@example.com`)
    for (const to of roles.filter(role => role !== from)) {
      const response = await call('PATCH', `/v1/members/${target.id}`, { role: to })
      const allowed = Math.max(rank(from), rank(to)) <= rank(acting)
      expect([from, to, response.status]).toEqual([from, to, allowed ? 200 : 403])
      if (!allowed) expect(response.body).toMatchObject({ code: 'insufficient_permission', required_role: 'owner' })
      if (allowed) await call('PATCH', `/v1/members/${target.id}`, { role: from })
    }
    expect((await call('DELETE', `/v1/members/${target.id}`)).status).toBe(rank(from) <= rank(acting) ? 204 : 403)
  }
})

test('a token acts as an admin, the operator as an owner', async () => {
  const w = await world()
  const user = await addPerson(w.hub, w.rival.workspaceId, 'viewer', 'ada@example.com')
  const create = (role: Role) => w.rival.call('PATCH', `/v1/members/${user.id}`, { role })
  expect([(await create('admin')).status, (await create('owner')).status]).toEqual([200, 403])
  const own = await addPerson(w.hub, w.acme.workspaceId, 'viewer', 'eve@example.com')
  expect((await w.acme.call('PATCH', `/v1/members/${own.id}`, { role: 'owner' })).status).toBe(200)
  const scoped = await w.scoped('account.write')
  expect((await scoped.call('DELETE', `/v1/members/${own.id}`)).body.required_role).toBe('owner')
})

test('a token cannot assign a role with permissions it lacks, by update or invitation', async () => {
  const w = await world()
  const { call } = w.acme
  const user = await addPerson(w.hub, w.acme.workspaceId, 'viewer', 'ada@example.com')
  const own = (await call('POST', '/v1/invitations', { email: 'boss@example.com', role: 'admin' })).body
  const scoped = await w.scoped('account.write')
  const path = `/v1/members/${user.id}`
  for (const response of [
    await scoped.call('POST', '/v1/invitations', { email: 'friend@example.com', role: 'admin' }),
    await scoped.call('POST', '/v1/invitations', { email: 'friend@example.com', role: 'viewer' }),
    await scoped.call('POST', `/v1/invitations/${own.id}/renew`, {}),
    await scoped.call('PATCH', path, { role: 'admin' }),
  ])
    expect([response.status, response.body.code, response.body.required_permission]).toEqual([
      403,
      'insufficient_permission',
      'domains.read',
    ])
  // Removing access only requires the permission.
  expect((await scoped.call('DELETE', `/v1/invitations/${own.id}`)).status).toBe(204)
  expect((await scoped.call('DELETE', path)).status).toBe(204)
  const everything = await w.scoped(...permissions.filter(one => one.endsWith('.write')))
  expect((await everything.call('POST', '/v1/invitations', { email: 'friend@example.com', role: 'admin' })).status).toBe(201)
})

test('the last owner who can sign in cannot be demoted or removed', async () => {
  const w = await world()
  const { user, call } = await person(w, w.rival.workspaceId, 'owner', 'ada@example.com')
  const path = `/v1/members/${user.id}`
  const refused = async () => {
    const responses = [await call('PATCH', path, { role: 'admin' }), await call('DELETE', path)]
    expect(responses.map(one => [one.status, one.body.code])).toEqual([
      [409, 'conflict'],
      [409, 'conflict'],
    ])
  }
  await refused()
  const second = await addPerson(w.hub, w.rival.workspaceId, 'owner', 'olga@example.com')
  await setDisabled(w.hub, second, true, by)
  await refused()
  expect((await call('PATCH', path, { role: 'owner' })).status).toBe(200)
  await setDisabled(w.hub, second, false, by)
  expect((await call('DELETE', path)).status).toBe(204)
})

test('the last operator who can sign in cannot be removed from their only workspace, and is disabled only with force', async () => {
  const w = await world()
  const { acme } = w
  await addPerson(w.hub, acme.workspaceId, 'owner', 'olga@example.com')
  const ada = await addPerson(w.hub, acme.workspaceId, 'owner', 'ada@example.com', true)
  const remove = (id: string) => acme.call('DELETE', `/v1/members/${id}`)
  expect((await acme.call('PATCH', `/v1/members/${ada.id}`, { role: 'member' })).status).toBe(200)
  const refused = await remove(ada.id)
  expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
  expect(refused.body.detail).toContain('last operator who can sign in')

  const { config } = w.hub
  const disable = (...more: string[]) =>
    runSource(['user', 'disable', 'ada@example.com', ...more], {
      BAILIWICK_DATA: config.data,
      BAILIWICK_MASTER_KEY_FILE: config.masterKeyFile!,
      BAILIWICK_DATABASE_URL: config.databaseUrl ?? '',
    })
  expect(await disable()).toEqual({
    code: 1,
    out: '',
    err:
      'ada@example.com is the last operator who can sign in. Create another one first with bailiwick user create --operator.\n' +
      'Use --force to disable the user anyway.\n',
  })
  const second = await addPerson(w.hub, acme.workspaceId, 'member', 'mia@example.com', true)
  expect((await remove(second.id)).status).toBe(204)
  // She has no workspace anymore and cannot sign in.
  expect((await remove(ada.id)).status).toBe(409)
  expect(await disable('--force')).toMatchObject({
    code: 0,
    err: 'Warning: ada@example.com is the last operator who can sign in.\n',
  })
  expect((await remove(ada.id)).status).toBe(204)
}, 180_000)

test('of two owners who remove each other at the same time, one stays', async () => {
  const w = await world()
  const ada = await person(w, w.rival.workspaceId, 'owner', 'ada@example.com')
  const olga = await person(w, w.rival.workspaceId, 'owner', 'olga@example.com')
  const both = await Promise.all([
    ada.call('DELETE', `/v1/members/${olga.user.id}`),
    olga.call('PATCH', `/v1/members/${ada.user.id}`, { role: 'viewer' }),
  ])
  const left = (await w.rival.call('GET', '/v1/members?role=owner')).body.data
  expect([left.length, both.filter(one => one.status < 300).length]).toEqual([1, 1])
})

test('a removed member loses access and their invitations immediately; their tokens stay and are reported', async () => {
  const w = await world()
  const { user, call } = await person(w, w.acme.workspaceId, 'admin', 'ada@example.com')
  await addPerson(w.hub, w.acme.workspaceId, 'owner', 'olga@example.com')
  const token = (await call('POST', '/v1/tokens', { name: 'ci', permissions: ['dns.read'] })).body
  await call('POST', '/v1/invitations', { email: 'friend@example.com' })
  await w.audited()
  expect((await w.acme.call('DELETE', `/v1/members/${user.id}`)).status).toBe(204)
  expect((await call('GET', '/v1/users/me')).body.code).toBe('session_ended')
  expect((await w.acme.call('GET', `/v1/members/${user.id}`)).status).toBe(404)
  expect((await w.acme.call('GET', `/v1/tokens/${token.id}`)).body.revoked_at).toBeNull()
  expect((await w.acme.call('GET', '/v1/invitations')).body.data).toEqual([])
  expect(await w.audited()).toEqual(['account.member.remove'])
  const [entry] = (await w.acme.call('GET', '/v1/audit-events?limit=1')).body.data
  expect(entry.reason).toBe(
    'API tokens created by the member keep working (1). Pending invitations created by the member were revoked (1).',
  )
  expect(
    (await w.anonymous.call('POST', '/v1/sessions', { email: 'ada@example.com', password: 'correct horse battery' })).body.code,
  ).toBe('invalid_login')
})

test('revoke_tokens revokes the tokens of the removed member', async () => {
  const w = await world()
  const { user, call } = await person(w, w.acme.workspaceId, 'admin', 'ada@example.com')
  const token = (await call('POST', '/v1/tokens', { name: 'ci', permissions: ['dns.read'] })).body
  expect((await w.acme.call('DELETE', `/v1/members/${user.id}?revoke_tokens=true`)).status).toBe(204)
  const used = await w.anonymous.call('GET', '/v1/tokens', undefined, { authorization: `Bearer ${token.token}` })
  expect(used.body.code).toBe('token_revoked')
})

test('revoke_tokens includes tokens created by their tokens, and the invitations of those', async () => {
  const w = await world()
  const { user, call } = await person(w, w.rival.workspaceId, 'admin', 'ada@example.com')
  await addPerson(w.hub, w.rival.workspaceId, 'owner', 'olga@example.com')
  const make = async (by: (method: string, path: string, body?: unknown) => Promise<{ body: any }>) =>
    callerWith(w.app, w.rival.workspaceId, (await by('POST', '/v1/tokens', { name: 'ci', mode: 'full' })).body.token)
  const first = await make(call)
  const second = await make(first.call)
  const third = await make(second.call)
  const firstId = (await first.call('GET', '/v1/tokens?sort=id')).body.data.find((one: any) => one.created_by === user.id).id
  const rotated = callerWith(
    w.app,
    w.rival.workspaceId,
    (await third.call('POST', `/v1/tokens/${firstId}/rotate`, { grace_seconds: 0 })).body.token,
  )
  const { code } = (await third.call('POST', '/v1/invitations', { email: 'friend@example.com', role: 'admin' })).body
  expect((await w.rival.call('DELETE', `/v1/members/${user.id}?revoke_tokens=true`)).status).toBe(204)
  for (const token of [first, second, third, rotated])
    expect((await token.call('GET', '/v1/tokens')).body.code).toBe('token_revoked')
  expect((await w.anonymous.call('POST', '/v1/invitations/preview', { code })).status).toBe(404)
  const [entry] = (await w.rival.call('GET', '/v1/audit-events?action=account.member.remove')).body.data
  expect(entry.reason).toBe(
    'API tokens created by the member, and tokens created by those, were revoked (3). ' +
      'Pending invitations created by the member were revoked (1).',
  )
})

test('a session in another workspace continues after removal from one', async () => {
  const w = await world()
  const user = await addPerson(w.hub, w.acme.workspaceId, 'member', 'ada@example.com')
  const invited = await w.rival.call('POST', '/v1/invitations', { email: user.email })
  const call = await signedIn(w, user.email)
  expect((await call('POST', '/v1/invitations/accept', { code: invited.body.code })).body.workspace_id).toBe(w.rival.workspaceId)
  expect((await w.acme.call('DELETE', `/v1/members/${user.id}`)).status).toBe(204)
  const me = await call('GET', '/v1/users/me')
  expect(me.body.workspaces.map((one: any) => one.name)).toEqual(['rival'])
  expect((await call('GET', '/v1/heartbeats', undefined, { 'bailiwick-workspace': w.acme.workspaceId })).status).toBe(404)
})

test('a session can only switch to a workspace of the user', async () => {
  const w = await world()
  const user = await addPerson(w.hub, w.acme.workspaceId, 'member', 'ada@example.com')
  const invited = await w.rival.call('POST', '/v1/invitations', { email: user.email, role: 'admin' })
  const call = await signedIn(w, user.email)
  const switchTo = (workspace_id: string) => call('PATCH', '/v1/sessions/current', { workspace_id })
  expect((await switchTo(w.rival.workspaceId)).status).toBe(404)
  await call('POST', '/v1/invitations/accept', { code: invited.body.code })
  const back = await switchTo(w.acme.workspaceId)
  expect([back.status, back.body.workspace_id]).toEqual([200, w.acme.workspaceId])
  expect(back.body.user.workspaces.map((one: any) => [one.name, one.role])).toEqual([
    ['default', 'member'],
    ['rival', 'admin'],
  ])
  expect((await call('GET', '/v1/workspaces')).body.data.map((one: any) => one.name)).toEqual(['default'])
  await switchTo(w.rival.workspaceId)
  expect((await call('GET', '/v1/workspaces')).body.data.map((one: any) => one.name)).toEqual(['rival'])
  expect((await call('GET', '/v1/sessions/current')).body).toMatchObject({
    workspace_id: w.rival.workspaceId,
    user: { id: user.id },
  })
  expect((await w.acme.call('GET', '/v1/sessions/current')).body.code).toBe('session_required')
  expect((await w.acme.call('PATCH', '/v1/sessions/current', { workspace_id: w.acme.workspaceId })).status).toBe(403)
})

test('signing in sets a new cookie and ends the browser’s previous session', async () => {
  const w = await world()
  await addUser(
    w.hub,
    'account.user.create',
    {
      email: 'ada@example.com',
      name: 'Ada',
      password: 'correct horse battery',
      role: 'owner',
      workspaceId: w.acme.workspaceId,
      isOperator: false,
    },
    by,
  )
  const login = { email: 'ada@example.com', password: 'correct horse battery' }
  const first = (await w.anonymous.call('POST', '/v1/sessions', login)).headers.get('set-cookie')!.split(';')[0]!
  const second = (await w.anonymous.call('POST', '/v1/sessions', login, { cookie: first })).headers
    .get('set-cookie')!
    .split(';')[0]!
  expect(second).not.toBe(first)
  expect((await w.anonymous.call('GET', '/v1/users/me', undefined, { cookie: first })).body.code).toBe('session_ended')
  expect((await w.anonymous.call('GET', '/v1/users/me', undefined, { cookie: second })).status).toBe(200)
})

test('invalid input is reported, updates honor If-Match, and members of other workspaces are not found', async () => {
  const w = await world()
  const user = await addPerson(w.hub, w.acme.workspaceId, 'member', 'ada@example.com')
  const path = `/v1/members/${user.id}`
  const wrong = await w.acme.call('PATCH', path, { role: 'king' })
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, '#/role'])
  expect((await w.acme.call('PATCH', path, { role: 'viewer' }, { 'if-match': '"2"' })).status).toBe(412)
  expect((await w.acme.call('DELETE', path, undefined, { 'if-match': '"2"' })).status).toBe(412)
  for (const [method, body] of [['GET'], ['PATCH', { role: 'admin' }], ['DELETE']] as const)
    expect((await w.rival.call(method, path, body)).status).toBe(404)
  expect((await w.acme.call('GET', path)).body).toMatchObject({ role: 'member', version: 1 })
})
