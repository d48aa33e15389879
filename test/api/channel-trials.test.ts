import { afterAll, expect, test } from 'bun:test'
import { openToLocal } from '../support/channels'
import { world } from '../support/world'

const taken: { authorization: string | null; body: any }[] = []
let refuses = false
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    taken.push({ authorization: request.headers.get('authorization'), body: await request.json() })
    return refuses ? new Response('no such topic for tk_very_secret', { status: 403 }) : Response.json({ id: 'm1' })
  },
})
afterAll(() => server.stop(true))

const path = '/v1/notification-channels'
const settings = { server_url: `http://127.0.0.1:${server.port}`, topic: 'alerts', token: 'tk_very_secret' }

test('settings are tried before a channel has them, and nothing is kept of it but the audit entry', async () => {
  const w = await openToLocal(await world())
  await w.audited()
  const tried = await w.acme.call('POST', `${path}/try`, { kind: 'ntfy', name: 'Phone', settings })
  expect([tried.status, tried.body]).toEqual([200, { sent: true, said: 'Message m1', last_error: null }])
  expect(taken.at(-1)).toMatchObject({
    authorization: 'Bearer tk_very_secret',
    body: { topic: 'alerts', title: 'Test of the channel “Phone”' },
  })
  expect(await w.audited()).toEqual(['notification.channel.try'])
  expect((await w.acme.call('GET', path)).body.data).toEqual([])
  expect((await w.acme.call('GET', '/v1/notifications')).body.data).toEqual([])
  refuses = true
  const refused = await w.acme.call('POST', `${path}/try`, { kind: 'ntfy', settings })
  expect(refused.body).toMatchObject({ sent: false, said: null, last_error: { failure: 'gone' } })
  expect(refused.text).not.toContain('very_secret')
  refuses = false
  expect((await w.readOnly.call('POST', `${path}/try`, { kind: 'ntfy', settings })).status).toBe(403)
  const wrong = await w.acme.call('POST', `${path}/try`, { kind: 'ntfy', settings: { ...settings, topic: 'no topic' } })
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, '#/settings/topic'])
})

test('tries are five a minute', async () => {
  const w = await openToLocal(await world())
  const statuses = []
  for (let at = 0; at < 6; at++) statuses.push((await w.acme.call('POST', `${path}/try`, { kind: 'ntfy', settings })).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  await w.pass(60_000)
  expect((await w.acme.call('POST', `${path}/try`, { kind: 'ntfy', settings })).status).toBe(200)
})

test('the topics are told with what they are a part of, and each of them is taken', async () => {
  const w = await world()
  const { data } = (await w.readOnly.call('GET', `${path}/topics`)).body
  expect(data.slice(0, 2).map((one: any) => [one.topic, one.within])).toEqual([
    ['incidents', null],
    ['notices', null],
  ])
  expect(data.find((one: any) => one.topic === 'dns_zone.drifted')).toMatchObject({ within: 'notices' })
  const topics = data.map((one: any) => one.topic)
  const made = await w.acme.call('POST', path, { kind: 'ntfy', name: 'All', settings: { topic: 'alerts' }, topics })
  expect(made.body.topics).toEqual(topics)
})
