import { afterAll, describe, expect, test } from 'bun:test'
import { formatUtcSecond } from '../../src/core/clock'
import { newId } from '../../src/core/ids'
import { channelAt, allowPrivateNetwork } from '../support/channels'
import { endOutage, openOutage } from '../support/outages'
import { receiver, stopReceivers } from '../support/receiver'
import { world, type World } from '../support/world'

afterAll(stopReceivers)

const at = (id: string, rest = '') => `/v1/incidents/${id}${rest}`

/** A channel without grouping, and a function that returns the messages it received. */
async function setUp(more: { settings?: object; [field: string]: unknown } = {}) {
  const w = await allowPrivateNetwork(await world())
  const r = receiver()
  const { settings = {}, ...rest } = more
  const channel = await channelAt(w, r.url, { name: 'Ops', group_seconds: 0, ...rest, settings: { url: r.url, ...settings } })
  const receivedMessages = async () => {
    await w.advance(2_000)
    return r.received.splice(0).map(one => JSON.parse(one.body))
  }
  return { w, channel, receivedMessages }
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

describe('channels are notified', () => {
  test('of the address that was checked, without the secrets in it', async () => {
    const { w, receivedMessages } = await setUp()
    const target = 'https://shop.example.com/?token=changeme&page=2'
    await down(w, { subject: { type: 'monitor', id: newId('mon'), name: 'Shop', tags: [], target } })
    const [opened] = await receivedMessages()
    expect(fact(opened, 'Address')).toBe('https://shop.example.com/?token=***&page=2')
    expect(opened.hub).toEqual({ name: new URL(w.hub.baseUrl).host, url: w.hub.baseUrl })
  })

  test('when an incident opens and resolves, with duration and first error', async () => {
    const { w, receivedMessages } = await setUp()
    const { subject, id } = await down(w)
    const [opened] = await receivedMessages()
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
    expect(fact(opened, 'Address')).toBe('https://shop.example.com/')
    // The text is the error already.
    expect(fact(opened, 'Error')).toBeUndefined()
    w.clock.advance(366_000)
    await endOutage(w, subject)
    const [resolved] = await receivedMessages()
    expect(resolved).toMatchObject({
      kind: 'incident.resolved',
      state: 'recovery',
      title: 'Shop is up',
      text: 'Recovered after 6 min 23 s.',
    })
    expect([fact(resolved, 'First error'), fact(resolved, 'Duration')]).toEqual(['HTTP 503', undefined])
    const { timeline } = (await w.acme.call('GET', at(id))).body
    expect(timeline.map((one: any) => `${one.kind}: ${one.text}`)).toEqual([
      'opened: HTTP 503',
      'notified: Sent to Ops (webhook).',
      'resolved: Recovered after 6 min 23 s.',
      'notified: Sent to Ops (webhook).',
    ])
  })

  test('of acknowledgements and their end, when it gets worse, and of notes with notify', async () => {
    const { w, receivedMessages } = await setUp()
    const { subject, id } = await down(w, { kind: 'monitor.degraded', severity: 'warning', cause: '2.1 s' })
    await receivedMessages()
    await w.acme.call('POST', at(id, '/acknowledge'), { expires_in_seconds: 60 })
    expect(await receivedMessages()).toMatchObject([
      { kind: 'incident.acknowledged', state: 'information', title: 'Acknowledged by full token: Shop is degraded', text: '' },
    ])
    await w.advance(60_000)
    expect(await receivedMessages()).toMatchObject([{ kind: 'incident.unacknowledged', state: 'problem', severity: 'warning' }])
    await openOutage(w, subject)
    expect(await receivedMessages()).toMatchObject([{ kind: 'incident.worsened', title: 'Shop is down', severity: 'critical' }])
    await w.acme.call('POST', at(id, '/updates'), { text: 'quiet' })
    await w.acme.call('POST', at(id, '/updates'), { text: 'loud', notify: true })
    expect(await receivedMessages()).toMatchObject([{ kind: 'incident.note', state: 'information', text: 'loud' }])
    await w.acme.call('POST', at(id, '/resolve'), { note: 'Known.' })
    expect(await receivedMessages()).toMatchObject([
      { kind: 'incident.resolved', title: 'Resolved: Shop is down', text: 'Known.' },
    ])
    await w.acme.call('POST', at(id, '/reopen'))
    expect(await receivedMessages()).toMatchObject([{ kind: 'incident.reopened', state: 'problem', title: 'Shop is down again' }])
  })

  test('of the current failure and its start when an incident is reopened, and in reminders', async () => {
    const { w, receivedMessages } = await setUp({ remind_every_seconds: 600 })
    const first = w.clock.now() - 15_000
    const { subject } = await down(w)
    await receivedMessages()
    await endOutage(w, subject)
    await receivedMessages()
    await w.advance(60_000)
    const second = w.clock.now() - 15_000
    await openOutage(w, subject, { cause: 'connection refused' })
    const [reopened] = await receivedMessages()
    expect(reopened).toMatchObject({ kind: 'incident.reopened', text: 'Connection refused' })
    expect(fact(reopened, 'Started')).toBe(formatUtcSecond(second))
    expect(fact(reopened, 'First failure')).toBe(formatUtcSecond(first))
    await w.advance(600_000)
    await receivedMessages()
    await w.advance(598_000)
    const [reminder] = await receivedMessages()
    expect(reminder.text).toBe('Connection refused. This is reminder 2.')
    expect(fact(reminder, 'Started')).toBe(formatUtcSecond(second))
    expect(fact(reminder, 'Duration')).toMatch(/^20 min( \d+ s)?$/)
  })

  test('by reminders, which pause while the incident is acknowledged', async () => {
    const { w, receivedMessages } = await setUp({ remind_every_seconds: 600, max_reminders: 3 })
    const { id } = await down(w)
    await receivedMessages()
    await w.advance(600_000)
    expect((await receivedMessages()).map(one => one.kind)).toEqual(['incident.reminder'])
    await w.acme.call('POST', at(id, '/acknowledge'), { expires_in_seconds: 3600 })
    expect((await receivedMessages()).map(one => one.kind)).toEqual(['incident.acknowledged'])
    await w.advance(1_800_000)
    expect(await receivedMessages()).toEqual([])
    await w.advance(1_800_000)
    expect((await receivedMessages()).map(one => one.kind)).toEqual(['incident.unacknowledged'])
    await w.advance(600_000)
    expect((await receivedMessages()).map(one => one.kind)).toEqual(['incident.reminder'])
  })

  test('of manual incidents and of heartbeats', async () => {
    const { w, receivedMessages } = await setUp()
    const created = await w.acme.call('POST', '/v1/incidents', { title: 'Payments fail' })
    const opened = await receivedMessages()
    expect(opened).toMatchObject([
      { kind: 'incident.opened', title: 'Payments fail', text: '', resource: { type: 'incident', id: created.body.id } },
    ])
    expect(fact(opened[0], 'Error')).toBeUndefined()
    const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 60 }
    const beat = (await w.acme.call('POST', '/v1/heartbeats', { name: 'backup', schedule, tags: ['db'] })).body
    await w.app.handle(new Request(`http://localhost:8484/ping/${beat.uuid}/fail`))
    expect(await receivedMessages()).toMatchObject([
      { title: 'backup reported a failure', tags: ['db'], resource: { id: beat.id } },
    ])
  })
})

test('a failed notification is recorded on the timeline', async () => {
  const w = await allowPrivateNetwork(await world())
  const r = receiver()
  r.answer = () => new Response('no', { status: 400 })
  await channelAt(w, r.url, { name: 'Broken', group_seconds: 0 })
  const { id } = await down(w)
  await w.advance(2_000)
  const { timeline } = (await w.acme.call('GET', at(id))).body
  expect(timeline.at(-1)).toMatchObject({ kind: 'notification_failed', details: { message: 'incident.opened', reminder: false } })
  expect(timeline.at(-1).text).toStartWith('Could not send to Broken (webhook): ')
})

test('a notification that disables its channel is recorded on the timeline', async () => {
  const w = await allowPrivateNetwork(await world())
  const r = receiver()
  r.answer = () => new Response('no_service', { status: 404 })
  await channelAt(w, r.url, { kind: 'slack', name: 'Gone', group_seconds: 0 })
  const { id } = await down(w)
  await w.advance(2_000)
  const { timeline } = (await w.acme.call('GET', at(id))).body
  expect(timeline.at(-1).text).toBe('Could not send to Gone (slack): Slack responded with status 404: no_service')
})

test('a reopened incident notifies its current channels', async () => {
  const { w, receivedMessages } = await setUp()
  const other = receiver()
  const selected = await channelAt(w, other.url, { is_default: false, group_seconds: 0 })
  const { subject } = await down(w)
  await receivedMessages()
  await endOutage(w, subject)
  await receivedMessages()
  await openOutage(w, subject, { channelIds: [selected.id] })
  expect(await receivedMessages()).toEqual([])
  expect(other.received.map(one => JSON.parse(one.body).title)).toEqual(['Shop is down again'])
})

describe('an acknowledge link', () => {
  const open = async (w: World, link: string, method = 'GET') => {
    const response = await w.app.handle(new Request(link.replace(/^https?:\/\/[^/]+/, 'http://localhost:8484'), { method }))
    return { status: response.status, html: await response.text(), headers: response.headers }
  }

  test('shows a page whose button acknowledges on behalf of the channel', async () => {
    const { w, channel, receivedMessages } = await setUp({ settings: { timezone: 'Europe/Berlin' } })
    const { id } = await down(w, { cause: 'HTTP 503 <b>' })
    await w.audited()
    const [{ acknowledge_link: link, facts }] = await receivedMessages()
    expect(link).toStartWith(`${w.hub.baseUrl}/ack/`)
    const shown = await open(w, link)
    expect(shown.status).toBe(200)
    expect(shown.html).toContain('<button type="submit">Acknowledge</button>')
    expect(shown.html).toContain('HTTP 503 &lt;b&gt;')
    // In the time zone of the channel, as in its messages.
    const started = fact({ facts }, 'Started')
    expect(started).toEndWith(' UTC+1')
    expect(shown.html).toContain(started)
    const files = [...shown.html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, file]) => file!)
    expect(files).toContain('/assets/acknowledge.css')
    for (const file of files) expect([file, (await w.anonymous.call('GET', file)).status]).toEqual([file, 200])
    expect(shown.headers.get('referrer-policy')).toBe('no-referrer')
    expect(shown.headers.get('cache-control')).toContain('no-store')
    // Opening the page doesn't acknowledge: mail scanners open every link.
    expect((await w.acme.call('GET', at(id))).body.status).toBe('open')
    const submitted = await open(w, link, 'POST')
    expect([submitted.status, submitted.html.includes('<button')]).toEqual([200, false])
    expect((await w.acme.call('GET', at(id))).body).toMatchObject({
      status: 'acknowledged',
      acknowledged_by: { type: 'ingest', id: channel.id, name: 'Ops' },
    })
    const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=incident.acknowledge')).body.data
    expect(entry).toMatchObject({ actor: { type: 'ingest', id: channel.id, name: 'Ops' }, context: { channel: 'ingest' } })
    // Acknowledging again changes nothing.
    const { version } = (await w.acme.call('GET', at(id))).body
    await open(w, link, 'POST')
    await w.acme.call('POST', at(id, '/resolve'))
    expect((await open(w, link, 'POST')).html).toContain('This incident is resolved.')
    expect((await w.acme.call('GET', at(id))).body.version).toBe(version + 1)
  })

  test('is valid for a week, for one incident and channel, and only if unchanged', async () => {
    const { w, channel, receivedMessages } = await setUp()
    await down(w)
    const [{ acknowledge_link: link }] = await receivedMessages()
    const tampered = link.slice(0, -2) + (link.endsWith('A') ? 'BB' : 'AA')
    for (const one of [tampered, `${link}x`, `${w.hub.baseUrl}/ack/nonsense`])
      expect([one, (await open(w, one, 'POST')).status]).toEqual([one, 404])
    await w.advance(6 * 86_400_000)
    expect((await open(w, link)).status).toBe(200)
    await w.advance(86_400_001)
    expect((await open(w, link, 'POST')).status).toBe(404)
    await down(w)
    const later = (await receivedMessages()).at(-1)
    await w.acme.call('DELETE', `/v1/notification-channels/${channel.id}`)
    expect((await open(w, later.acknowledge_link)).status).toBe(404)
  })

  test('is not exposed in the notification log', async () => {
    const { w, receivedMessages } = await setUp()
    await down(w)
    await receivedMessages()
    expect((await w.acme.call('GET', '/v1/notifications')).text).not.toContain('/ack')
  })
})

test('heartbeats and manual incidents select their channels', async () => {
  const { w, receivedMessages } = await setUp()
  const other = receiver()
  const selected = await channelAt(w, other.url, { is_default: false, group_seconds: 0 })
  const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 60 }
  const input = { name: 'backup', schedule, channel_ids: [selected.id] }
  const beat = (await w.acme.call('POST', '/v1/heartbeats', input)).body
  expect(beat.channel_ids).toEqual([selected.id])
  await w.app.handle(new Request(`http://localhost:8484/ping/${beat.uuid}/fail`))
  const manual = (await w.acme.call('POST', '/v1/incidents', { title: 'Payments fail', channel_ids: [selected.id] })).body
  expect(manual.channel_ids).toEqual([selected.id])
  await w.acme.call('POST', '/v1/incidents', { title: 'No channels', channel_ids: [] })
  // Two rounds, because the channel sends at a limited rate.
  expect([...(await receivedMessages()), ...(await receivedMessages())]).toEqual([])
  expect(other.received.map(one => JSON.parse(one.body).title).sort()).toEqual(['Payments fail', 'backup reported a failure'])
  expect((await w.acme.call('PATCH', `/v1/heartbeats/${beat.id}`, { channel_ids: null })).body.channel_ids).toBeNull()
  // Notes go to the channels that were selected last.
  await w.audited()
  const moved = await w.acme.call('PATCH', at(manual.id), { channel_ids: null })
  expect([moved.body.channel_ids, moved.body.timeline.at(-1)]).toMatchObject([
    null,
    { kind: 'edited', text: 'Notification channels changed.', details: { fields: ['channel_ids'] } },
  ])
  expect(await w.audited()).toEqual(['incident.update'])
  await w.acme.call('POST', at(manual.id, '/updates'), { text: 'Found it.', notify: true })
  expect((await receivedMessages()).map(one => one.text)).toEqual(['Found it.'])
  const { version } = moved.body
  expect((await w.acme.call('PATCH', at(manual.id), { channel_ids: null })).body.version).toBe(version)
  for (const [method, path, body] of [
    ['PATCH', at(manual.id), { channel_ids: [selected.id, newId('chan')] }],
    ['POST', '/v1/heartbeats', { ...input, channel_ids: [selected.id, newId('chan')] }],
    ['PATCH', `/v1/heartbeats/${beat.id}`, { channel_ids: [selected.id, newId('chan')] }],
    ['POST', '/v1/incidents', { title: 'x', channel_ids: [selected.id, newId('chan')] }],
  ] as const) {
    const refused = await w.acme.call(method, path, body)
    expect([path, refused.status, refused.body.errors[0].pointer]).toEqual([path, 422, '#/channel_ids/1'])
  }
  // What was read can be sent back, also after the channel was deleted.
  const { id } = (await w.acme.call('POST', '/v1/incidents', { title: 'Mail fails', channel_ids: [selected.id] })).body
  expect((await w.acme.call('DELETE', `/v1/notification-channels/${selected.id}`)).status).toBe(204)
  const sent = await w.acme.call('PATCH', at(id), { title: 'Mail is slow', channel_ids: [selected.id] })
  expect([sent.status, sent.body.title]).toEqual([200, 'Mail is slow'])
  expect((await w.acme.call('PATCH', at(manual.id), { channel_ids: [selected.id] })).status).toBe(422)
})
