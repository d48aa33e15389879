import { afterAll, expect, test } from 'bun:test'
import { person } from '../support/people'
import { receiver, stopReceivers } from '../support/receiver'
import { world, type World } from '../support/world'

afterAll(stopReceivers)

const suspend = (w: World, id: string, body: object = { reason: 'The invoice is unpaid.' }) =>
  w.acme.call('POST', `/v1/workspaces/${id}/suspend`, body)

test('a suspended workspace refuses all access until it is resumed', async () => {
  const w = await world()
  const id = w.rival.workspaceId
  const { call } = await person(w, id, 'owner', 'ada@example.com')
  expect((await w.rival.call('GET', '/v1/heartbeats')).status).toBe(200)
  const done = await suspend(w, id)
  expect([done.status, done.body.suspended_at, done.body.suspension_reason]).toEqual([
    200,
    '2026-11-21T10:00:00.000Z',
    'The invoice is unpaid.',
  ])
  for (const response of [
    await w.rival.call('GET', '/v1/heartbeats'),
    await w.rival.call('POST', '/v1/tokens', '{"broken'),
    await w.rival.call('GET', '/v1/events'),
    await w.rival.call('GET', '/v1/events?after=oldest', undefined, { prefer: 'wait=30' }),
    await w.rival.call('GET', '/v1/events/evt_01jd8f3q7eeb9bv0w0r8c7hq2m'),
    await w.rival.call('GET', '/v1/actions'),
    await w.rival.call('POST', '/v1/actions/act_01jd8f3q7eeb9bv0w0r8c7hq2m/cancel'),
    await call('GET', '/v1/members'),
  ]) {
    expect([response.status, response.body.code, response.body.suspended_at]).toEqual([
      403,
      'workspace_suspended',
      done.body.suspended_at,
    ])
    expect(response.body.detail).toContain('The invoice is unpaid.')
  }
  // Users can still view their profile, switch to other workspaces, and sign out.
  expect((await call('GET', '/v1/users/me')).status).toBe(200)
  expect((await call('GET', '/v1/sessions/current')).status).toBe(200)
  // And replace a password that others may know.
  const changed = await call('POST', '/v1/users/me/password', { current: 'not the password', new: 'correct horse battery' })
  expect([changed.status, changed.body.errors[0].pointer]).toEqual([422, '#/current'])

  const listed = async (word: string) =>
    (await w.acme.call('GET', `/v1/workspaces?suspended=${word}`)).body.data.map((one: any) => one.name)
  expect([await listed('true'), await listed('false')]).toEqual([['rival'], ['default']])
  const resumed = await w.acme.call('POST', `/v1/workspaces/${id}/resume`)
  expect([resumed.status, resumed.body.suspended_at, resumed.body.suspension_reason]).toEqual([200, null, null])
  expect((await w.rival.call('GET', '/v1/heartbeats')).status).toBe(200)
  expect((await w.audited()).filter(action => action.startsWith('account.workspace'))).toEqual([
    'account.workspace.suspend',
    'account.workspace.resume',
  ])
})

test('only the operator can suspend, and neither their own workspace nor one that does not exist', async () => {
  const w = await world()
  const own = await suspend(w, w.acme.workspaceId)
  expect([own.status, own.body.code]).toEqual([409, 'conflict'])
  expect((await suspend(w, 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m')).status).toBe(404)
  for (const verb of ['suspend', 'resume'])
    expect((await w.rival.call('POST', `/v1/workspaces/${w.rival.workspaceId}/${verb}`)).body.required_permission).toBe(
      'operator',
    )
  const wrong = await suspend(w, w.rival.workspaceId, { reason: '' })
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, '#/reason'])
})

test('no one can join a suspended workspace', async () => {
  const w = await world({ BAILIWICK_SIGN_UP: 'invitation' })
  const { code } = (await w.rival.call('POST', '/v1/invitations', { email: 'grace@example.com' })).body
  await suspend(w, w.rival.workspaceId)
  const accept = () =>
    w.anonymous.call('POST', '/v1/invitations/accept', { code, name: 'Grace', password: 'correct horse battery' })
  expect((await accept()).body.code).toBe('workspace_suspended')
  await w.acme.call('POST', `/v1/workspaces/${w.rival.workspaceId}/resume`)
  expect((await accept()).status).toBe(201)
})

test('while suspended, pings are accepted, and webhook deliveries wait until it is resumed', async () => {
  const w = await world()
  await w.acme.call('PATCH', `/v1/workspaces/${w.rival.workspaceId}`, {
    network_policy: { allow_private: true, allow_ranges: [] },
  })
  const { url, received } = receiver()
  const endpoint = (await w.rival.call('POST', '/v1/webhook-endpoints', { url, events: ['monitor.alert'] })).body
  const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 10 }
  const beat = (await w.rival.call('POST', '/v1/heartbeats', { name: 'nightly', schedule })).body
  await suspend(w, w.rival.workspaceId)
  const ping = new URL(beat.ping_url).pathname
  expect(await (await w.app.handle(new Request(`http://localhost:8484${ping}`))).text()).toBe('OK')
  await w.advance(71_000)
  await w.advance(600_000)
  expect(received).toHaveLength(0)
  await w.acme.call('POST', `/v1/workspaces/${w.rival.workspaceId}/resume`)
  expect((await w.rival.call('GET', `/v1/webhook-deliveries?endpoint_id=${endpoint.id}`)).body.data).toMatchObject([
    { status: 'pending', attempt_count: 0 },
  ])
  await w.advance(300_000)
  expect(received).toHaveLength(1)
})

test('an audit stream is paused while suspended, and continues without a gap', async () => {
  const w = await world()
  await w.acme.call('PATCH', `/v1/workspaces/${w.rival.workspaceId}`, {
    network_policy: { allow_private: true, allow_ranges: [] },
  })
  const { url, received } = receiver()
  const stream = (await w.rival.call('POST', '/v1/audit-streams', { name: 'SIEM', url })).body
  await suspend(w, w.rival.workspaceId)
  await w.advance(1_000)
  expect((await w.rival.call('GET', '/v1/heartbeats')).status).toBe(403)
  await w.advance(600_000)
  expect(received).toHaveLength(0)
  await w.acme.call('POST', `/v1/workspaces/${w.rival.workspaceId}/resume`)
  await w.advance(300_000)
  const entries = received.flatMap(one => JSON.parse(one.body).data.entries)
  expect(entries.map(one => [one.action, one.outcome])).toEqual([
    ['account.audit_stream.create', 'success'],
    ['account.resource.read', 'denied'],
  ])
  expect((await w.rival.call('GET', `/v1/audit-streams/${stream.id}`)).body).toMatchObject({ status: 'ok', lag: 0 })
})
