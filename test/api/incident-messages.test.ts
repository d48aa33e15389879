import { afterAll, describe, expect, test } from 'bun:test'
import { newId } from '../../src/core/ids'
import { channelAt, openToLocal } from '../support/channels'
import { endOutage, openOutage } from '../support/outages'
import { receiver, stopReceivers } from '../support/receiver'
import { world, type World } from '../support/world'

afterAll(stopReceivers)

const at = (id: string, rest = '') => `/v1/incidents/${id}${rest}`

/** A channel that is told at once and alone, and what it was told. */
async function scene(more: object = {}) {
  const w = await openToLocal(await world())
  const r = receiver()
  const channel = await channelAt(w, r.url, { name: 'Ops', group_seconds: 0, ...more })
  const said = async () => {
    await w.pass(2_000)
    return r.received.splice(0).map(one => JSON.parse(one.body))
  }
  return { w, channel, said }
}

async function down(w: World, more?: Parameters<typeof openOutage>[2]) {
  const subject = newId('mon')
  const { incident } = await openOutage(w, subject, more)
  return { subject, id: incident.id }
}

const fact = (message: any, name: string) =>
  message.facts
    .map((one: any) => (Array.isArray(one) ? one : [one.name, one.value]))
    .find(([each]: string[]) => each === name)?.[1]

describe('people are told', () => {
  test('that something is down and that it is up again, for how long and what the first error was', async () => {
    const { w, said } = await scene()
    const { subject, id } = await down(w)
    const [opened] = await said()
    expect(opened).toMatchObject({
      kind: 'incident.opened',
      state: 'problem',
      severity: 'critical',
      title: 'Shop is down',
      text: 'HTTP 503',
      thread: id,
      resource: { type: 'monitor', id: subject, name: 'Shop' },
    })
    expect(fact(opened, 'Locations')).toBe('local')
    w.clock.advance(366_000)
    await endOutage(w, subject)
    const [resolved] = await said()
    expect(resolved).toMatchObject({
      kind: 'incident.resolved',
      state: 'recovery',
      title: 'Shop is up',
      text: 'Recovered after 6 min 23 s.',
    })
    expect([fact(resolved, 'First error'), fact(resolved, 'Lasted')]).toEqual(['HTTP 503', '6 min 23 s'])
    const { timeline } = (await w.acme.call('GET', at(id))).body
    expect(timeline.map((one: any) => `${one.kind}: ${one.text}`)).toEqual([
      'opened: HTTP 503',
      'notified: Told over Ops (webhook).',
      'resolved: Recovered after 6 min 23 s.',
      'notified: Told over Ops (webhook).',
    ])
  })

  test('who sees to it, when nobody does any more, when it gets worse, and notes that ask for it', async () => {
    const { w, said } = await scene()
    const { subject, id } = await down(w, { kind: 'monitor.degraded', severity: 'warning', cause: '2.1 s' })
    await said()
    await w.acme.call('POST', at(id, '/acknowledge'), { expires_in_seconds: 60 })
    expect(await said()).toMatchObject([
      { kind: 'incident.acknowledged', state: 'information', title: 'Shop is degraded: full token sees to it' },
    ])
    await w.pass(60_000)
    expect(await said()).toMatchObject([{ kind: 'incident.unacknowledged', state: 'problem', severity: 'warning' }])
    await openOutage(w, subject)
    expect(await said()).toMatchObject([{ kind: 'incident.worsened', title: 'Shop is down', severity: 'critical' }])
    await w.acme.call('POST', at(id, '/updates'), { text: 'quiet' })
    await w.acme.call('POST', at(id, '/updates'), { text: 'loud', notify: true })
    expect(await said()).toMatchObject([{ kind: 'incident.note', state: 'information', text: 'loud' }])
    await w.acme.call('POST', at(id, '/resolve'), { note: 'Known.' })
    expect(await said()).toMatchObject([{ kind: 'incident.resolved', title: 'Shop is down: resolved', text: 'Known.' }])
    await w.acme.call('POST', at(id, '/reopen'))
    expect(await said()).toMatchObject([{ kind: 'incident.reopened', state: 'problem', title: 'Shop is down again' }])
  })

  test('which failure it is when it fails again, since when, and how long that lasts in reminders', async () => {
    const { w, said } = await scene({ remind_every_seconds: 600 })
    const first = w.clock.now() - 15_000
    const { subject } = await down(w)
    await said()
    await endOutage(w, subject)
    await said()
    await w.pass(60_000)
    const second = w.clock.now() - 15_000
    await openOutage(w, subject, { cause: 'connection refused' })
    const [reopened] = await said()
    expect(reopened).toMatchObject({ kind: 'incident.reopened', text: 'connection refused' })
    expect(fact(reopened, 'Since')).toBe(new Date(second).toISOString())
    expect(fact(reopened, 'First failure')).toBe(new Date(first).toISOString())
    await w.pass(600_000)
    await said()
    await w.pass(598_000)
    const [reminder] = await said()
    expect(reminder.text).toBe('connection refused. This is reminder 2.')
    expect(fact(reminder, 'Since')).toBe(new Date(second).toISOString())
    expect(fact(reminder, 'Lasting')).toMatch(/^20 min( \d+ s)?$/)
  })

  test('again and again until somebody acknowledges, and again when that ends', async () => {
    const { w, said } = await scene({ remind_every_seconds: 600, most_reminders: 3 })
    const { id } = await down(w)
    await said()
    await w.pass(600_000)
    expect((await said()).map(one => one.kind)).toEqual(['incident.reminder'])
    await w.acme.call('POST', at(id, '/acknowledge'), { expires_in_seconds: 3600 })
    expect((await said()).map(one => one.kind)).toEqual(['incident.acknowledged'])
    await w.pass(1_800_000)
    expect(await said()).toEqual([])
    await w.pass(1_800_000)
    expect((await said()).map(one => one.kind)).toEqual(['incident.unacknowledged'])
    await w.pass(600_000)
    expect((await said()).map(one => one.kind)).toEqual(['incident.reminder'])
  })

  test('of what people open by hand, and of heartbeats', async () => {
    const { w, said } = await scene()
    const made = await w.acme.call('POST', '/v1/incidents', { title: 'Payments fail' })
    expect(await said()).toMatchObject([
      { kind: 'incident.opened', title: 'Payments fail', resource: { type: 'incident', id: made.body.id } },
    ])
    const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 60 }
    const beat = (await w.acme.call('POST', '/v1/heartbeats', { name: 'backup', schedule, tags: ['db'] })).body
    await w.app.handle(new Request(`http://localhost:8484/ping/${beat.uuid}/fail`))
    expect(await said()).toMatchObject([{ title: 'backup missed a ping', tags: ['db'], resource: { id: beat.id } }])
  })
})

test('a channel that cannot be told is on the timeline too', async () => {
  const w = await openToLocal(await world())
  const r = receiver()
  r.answer = () => new Response('no', { status: 400 })
  await channelAt(w, r.url, { name: 'Broken', group_seconds: 0 })
  const { id } = await down(w)
  await w.pass(2_000)
  const { timeline } = (await w.acme.call('GET', at(id))).body
  expect(timeline.at(-1)).toMatchObject({ kind: 'notification_failed', details: { message: 'incident.opened', reminder: false } })
  expect(timeline.at(-1).text).toStartWith('Could not be told over Broken (webhook): ')
})

test('a channel that is found to be gone is on the timeline too', async () => {
  const w = await openToLocal(await world())
  const r = receiver()
  r.answer = () => new Response('no_service', { status: 404 })
  await channelAt(w, r.url, { kind: 'slack', name: 'Gone', group_seconds: 0 })
  const { id } = await down(w)
  await w.pass(2_000)
  const { timeline } = (await w.acme.call('GET', at(id))).body
  expect(timeline.at(-1).text).toBe('Could not be told over Gone (slack): Slack answered with status 404: no_service')
})

test('what goes on in the same incident is told on the channels that it has by then', async () => {
  const { w, said } = await scene()
  const other = receiver()
  const apart = await channelAt(w, other.url, { for_everything: false, group_seconds: 0 })
  const { subject } = await down(w)
  await said()
  await endOutage(w, subject)
  await said()
  await openOutage(w, subject, { channelIds: [apart.id] })
  expect(await said()).toEqual([])
  expect(other.received.map(one => JSON.parse(one.body).title)).toEqual(['Shop is down again'])
})

describe('the link of a message', () => {
  const open = async (w: World, link: string, method = 'GET') => {
    const answer = await w.app.handle(new Request(link.replace(/^https?:\/\/[^/]+/, 'http://localhost:8484'), { method }))
    return { status: answer.status, html: await answer.text(), headers: answer.headers }
  }

  test('shows a page, and its button acknowledges in the name of the channel', async () => {
    const { w, channel, said } = await scene()
    const { id } = await down(w, { cause: 'HTTP 503 <b>' })
    await w.audited()
    const [{ acknowledge_link: link }] = await said()
    expect(link).toStartWith(`${w.hub.baseUrl}/ack/`)
    const seen = await open(w, link)
    expect(seen.status).toBe(200)
    expect(seen.html).toContain('<button type="submit">Acknowledge</button>')
    expect(seen.html).toContain('HTTP 503 &lt;b&gt;')
    expect(seen.headers.get('referrer-policy')).toBe('no-referrer')
    expect(seen.headers.get('cache-control')).toContain('no-store')
    // Looking at it is not acknowledging: mail scanners look at everything.
    expect((await w.acme.call('GET', at(id))).body.status).toBe('open')
    const pressed = await open(w, link, 'POST')
    expect([pressed.status, pressed.html.includes('<button')]).toEqual([200, false])
    expect((await w.acme.call('GET', at(id))).body).toMatchObject({
      status: 'acknowledged',
      acknowledged_by: { type: 'ingest', id: channel.id, name: 'Ops' },
    })
    const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=incident.acknowledge')).body.data
    expect(entry).toMatchObject({ actor: { type: 'ingest', id: channel.id, name: 'Ops' }, context: { channel: 'ingest' } })
    // Pressed again, or by somebody else, it changes nothing.
    const { version } = (await w.acme.call('GET', at(id))).body
    await open(w, link, 'POST')
    await w.acme.call('POST', at(id, '/resolve'))
    expect((await open(w, link, 'POST')).html).toContain('nothing left to acknowledge')
    expect((await w.acme.call('GET', at(id))).body.version).toBe(version + 1)
  })

  test('is good for a week, for one incident and one channel, and not when it was altered', async () => {
    const { w, channel, said } = await scene()
    await down(w)
    const [{ acknowledge_link: link }] = await said()
    const altered = link.slice(0, -2) + (link.endsWith('A') ? 'BB' : 'AA')
    for (const one of [altered, `${link}x`, `${w.hub.baseUrl}/ack/nonsense`])
      expect([one, (await open(w, one, 'POST')).status]).toEqual([one, 404])
    await w.pass(6 * 86_400_000)
    expect((await open(w, link)).status).toBe(200)
    await w.pass(86_400_001)
    expect((await open(w, link, 'POST')).status).toBe(404)
    await down(w)
    const later = (await said()).at(-1)
    await w.acme.call('DELETE', `/v1/notification-channels/${channel.id}`)
    expect((await open(w, later.acknowledge_link)).status).toBe(404)
  })

  test('is not shown by the log of notifications', async () => {
    const { w, said } = await scene()
    await down(w)
    await said()
    expect((await w.acme.call('GET', '/v1/notifications')).text).not.toContain('/ack')
  })
})

test('heartbeats and incidents that are opened by hand name the channels that are told', async () => {
  const { w, said } = await scene()
  const other = receiver()
  const apart = await channelAt(w, other.url, { for_everything: false, group_seconds: 0 })
  const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 60 }
  const input = { name: 'backup', schedule, channel_ids: [apart.id] }
  const beat = (await w.acme.call('POST', '/v1/heartbeats', input)).body
  expect(beat.channel_ids).toEqual([apart.id])
  await w.app.handle(new Request(`http://localhost:8484/ping/${beat.uuid}/fail`))
  await w.acme.call('POST', '/v1/incidents', { title: 'Payments fail', channel_ids: [apart.id] })
  await w.acme.call('POST', '/v1/incidents', { title: 'Nobody is told', channel_ids: [] })
  // One after the other, as the channel's pace has it.
  expect([...(await said()), ...(await said())]).toEqual([])
  expect(other.received.map(one => JSON.parse(one.body).title).sort()).toEqual(['Payments fail', 'backup missed a ping'])
  expect((await w.acme.call('PATCH', `/v1/heartbeats/${beat.id}`, { channel_ids: null })).body.channel_ids).toBeNull()
  for (const [method, path, body] of [
    ['POST', '/v1/heartbeats', { ...input, channel_ids: [apart.id, newId('chan')] }],
    ['PATCH', `/v1/heartbeats/${beat.id}`, { channel_ids: [apart.id, newId('chan')] }],
    ['POST', '/v1/incidents', { title: 'x', channel_ids: [apart.id, newId('chan')] }],
  ] as const) {
    const refused = await w.acme.call(method, path, body)
    expect([path, refused.status, refused.body.errors[0].pointer]).toEqual([path, 422, '#/channel_ids/1'])
  }
})
