import { afterAll, expect, test } from 'bun:test'
import { allowPrivateNetwork } from '../support/channels'
import { world } from '../support/world'

const received: { authorization: string | null; body: any }[] = []
let rejects = false
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    received.push({ authorization: request.headers.get('authorization'), body: await request.json() })
    return rejects ? new Response('no such topic for tk_very_secret', { status: 403 }) : Response.json({ id: 'm1' })
  },
})
afterAll(() => server.stop(true))

const path = '/v1/notification-channels'
const settings = { server_url: `http://127.0.0.1:${server.port}`, topic: 'alerts', token: 'tk_very_secret' }

test('tests unsaved settings and stores nothing but an audit event', async () => {
  const w = await allowPrivateNetwork(await world())
  await w.audited()
  const tested = await w.acme.call('POST', `${path}/test`, { kind: 'ntfy', name: 'Phone', settings })
  expect([tested.status, tested.body]).toEqual([200, { sent: true, response: 'Message m1', error: null }])
  expect(received.at(-1)).toMatchObject({
    authorization: 'Bearer tk_very_secret',
    body: { topic: 'alerts', title: 'Test message for “Phone”' },
  })
  expect(await w.audited()).toEqual(['notification.channel.test_settings'])
  expect((await w.acme.call('GET', path)).body.data).toEqual([])
  expect((await w.acme.call('GET', '/v1/notifications')).body.data).toEqual([])
  rejects = true
  const rejected = await w.acme.call('POST', `${path}/test`, { kind: 'ntfy', settings })
  expect(rejected.body).toMatchObject({ sent: false, response: null, error: { code: 'gone' } })
  expect(rejected.text).not.toContain('very_secret')
  rejects = false
  expect((await w.readOnly.call('POST', `${path}/test`, { kind: 'ntfy', settings })).status).toBe(403)
  const wrong = await w.acme.call('POST', `${path}/test`, { kind: 'ntfy', settings: { ...settings, topic: 'no topic' } })
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, '#/settings/topic'])
})

test('allows five tests a minute', async () => {
  const w = await allowPrivateNetwork(await world())
  const statuses = []
  for (let n = 0; n < 6; n++) statuses.push((await w.acme.call('POST', `${path}/test`, { kind: 'ntfy', settings })).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  await w.advance(60_000)
  expect((await w.acme.call('POST', `${path}/test`, { kind: 'ntfy', settings })).status).toBe(200)
})

test('lists topics with their parents, and accepts each of them', async () => {
  const w = await world()
  const { data } = (await w.readOnly.call('GET', `${path}/topics`)).body
  expect(data.slice(0, 2).map((one: any) => [one.topic, one.parent])).toEqual([
    ['incidents', null],
    ['notices', null],
  ])
  expect(data.find((one: any) => one.topic === 'dns_zone.drifted')).toMatchObject({ parent: 'notices' })
  const topics = data.map((one: any) => one.topic)
  const created = await w.acme.call('POST', path, { kind: 'ntfy', name: 'All', settings: { topic: 'alerts' }, topics })
  expect(created.body.topics).toEqual(topics)
})
