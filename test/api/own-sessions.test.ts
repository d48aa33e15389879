import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { sessions } from '../../src/access/tables'
import { addPerson, browser, cookieOf, password, person, signedIn } from '../support/people'
import { world, type World } from '../support/world'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

async function from(w: World, userAgent: string) {
  const response = await w.anonymous.call(
    'POST',
    '/v1/sessions',
    { email: 'ada@example.com', password },
    { 'user-agent': userAgent },
  )
  return { id: response.body.id as string, call: browser(w, cookieOf(response)) }
}

async function twice() {
  const w = await world()
  await addPerson(w.hub, w.acme.workspaceId, 'viewer', 'ada@example.com')
  const desk = await from(w, firefox)
  w.clock.advance(61_000)
  const phone = await from(w, 'something else')
  await w.audited()
  return { w, desk, phone }
}

test('users see their sessions, last used first', async () => {
  const { w, desk, phone } = await twice()
  const { body } = await desk.call('GET', '/v1/sessions')
  expect(body.data.map((one: any) => [one.id, one.current, one.client])).toEqual([
    [phone.id, false, null],
    [desk.id, true, 'Firefox on Linux'],
  ])
  expect(body.data[1]).toMatchObject({ ip: '127.0.0.1', user_agent: firefox, workspace_id: w.acme.workspaceId })
  expect(JSON.stringify(body)).not.toContain('hash')
  const first = await desk.call('GET', '/v1/sessions?limit=1&include=total')
  expect([first.body.data[0].id, first.body.pagination.total]).toEqual([phone.id, 2])
  const next = await desk.call('GET', `/v1/sessions?limit=1&cursor=${first.body.pagination.next_cursor}`)
  expect(next.body.data.map((one: any) => one.id)).toEqual([desk.id])
})

test('they can revoke one, which is signed out with its next request', async () => {
  const { w, desk, phone } = await twice()
  expect((await desk.call('DELETE', `/v1/sessions/${phone.id}`)).status).toBe(204)
  expect((await phone.call('GET', '/v1/users/me')).body.code).toBe('session_ended')
  expect((await desk.call('GET', '/v1/users/me')).status).toBe(200)
  expect((await desk.call('DELETE', `/v1/sessions/${phone.id}`)).status).toBe(404)
  expect(await w.audited()).toEqual(['account.session.delete'])
})

test('they can revoke all others', async () => {
  const { w, desk, phone } = await twice()
  const { call: grace } = await person(w, w.acme.workspaceId, 'viewer', 'grace@example.com')
  await from(w, 'a third')
  await w.audited()
  expect((await desk.call('DELETE', '/v1/sessions/others')).status).toBe(204)
  expect((await desk.call('GET', '/v1/sessions')).body.data.map((one: any) => one.id)).toEqual([desk.id])
  expect((await phone.call('GET', '/v1/users/me')).status).toBe(401)
  expect((await grace('GET', '/v1/users/me')).status).toBe(200)
  expect(await w.audited()).toEqual(['account.session.delete', 'account.session.delete'])
})

test('a token has no sessions and cannot revoke any', async () => {
  const { w, desk } = await twice()
  const codeOf = async (method: string, path: string) => (await w.acme.call(method, path)).body.code
  expect(await codeOf('GET', '/v1/sessions')).toBe('session_required')
  expect(await codeOf('DELETE', `/v1/sessions/${desk.id}`)).toBe('session_required')
  expect(await codeOf('DELETE', '/v1/sessions/others')).toBe('session_required')
})

test('above 100 sessions, the least recently used one ends', async () => {
  const { w, desk, phone } = await twice()
  const [row] = await w.hub.read.select().from(sessions).where(eq(sessions.id, phone.id))
  await w.hub.store.transact(async tx => {
    for (let n = 0; n < 98; n++) await tx.insert(sessions).values({ ...row!, id: `ses_${n}`, tokenHash: `hash-${n}` })
  })
  expect((await phone.call('GET', '/v1/sessions?include=total')).body.pagination.total).toBe(100)
  await signedIn(w, 'ada@example.com')
  expect((await phone.call('GET', '/v1/users/me')).status).toBe(200)
  expect((await desk.call('GET', '/v1/users/me')).status).toBe(401)
}, 180_000)

test('the session shows the permissions in the workspace of the request', async () => {
  const w = await world()
  const { call } = await person(w, w.acme.workspaceId, 'viewer', 'ada@example.com')
  const { workspace } = (await call('GET', '/v1/sessions/current')).body
  expect(workspace).toMatchObject({ id: w.acme.workspaceId, name: 'default', role: 'viewer', operator: true, plan: 'unlimited' })
  expect(workspace.permissions).toContain('dns.read')
  expect(workspace.permissions).not.toContain('dns.write')
  expect(workspace.permissions).not.toContain('account.read')
})

test('the sign-in page gets the available methods', async () => {
  const w = await world({ BAILIWICK_SIGN_UP: 'open' })
  const methods = async () => (await w.anonymous.call('GET', '/v1/sessions/methods')).body
  expect(await methods()).toMatchObject({ setup_open: true, sign_up: { mode: 'open', open: false } })
  await addPerson(w.hub, w.acme.workspaceId, 'owner', 'ada@example.com')
  expect(await methods()).toMatchObject({ setup_open: false, sign_up: { mode: 'open', open: true } })
})
