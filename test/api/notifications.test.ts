import { afterAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { jobs } from '../../src/core/db/tables'
import { Worker } from '../../src/core/jobs/worker'
import { deliverJob } from '../../src/features/notifications/deliver'
import { hushThread } from '../../src/features/notifications/tell'
import { pruneNotifications } from '../../src/features/notifications/retention'
import { channelAt, logOf, openToLocal, told } from '../support/channels'
import { mailDouble } from '../support/mail-double'
import { receiver, stopReceivers } from '../support/receiver'
import { world, type World } from '../support/world'

afterAll(stopReceivers)

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const ours = async () => openToLocal(await world())
const titles = (received: { body: string }[]) => received.map(one => JSON.parse(one.body).title)
/** Lets what is told go out. */
const soon = (w: World) => w.pass(2 * second)

describe('a message', () => {
  test('is sent once on each channel that takes it, and told twice is sent once', async () => {
    const w = await ours()
    const [one, two] = [receiver(), receiver()]
    const first = await channelAt(w, one.url)
    await channelAt(w, two.url, { topics: ['token.leaked'] })
    const at = w.clock.now()
    await told(w, { occurredAt: at })
    await told(w, { occurredAt: at })
    await soon(w)
    expect(titles(one.received)).toEqual(['shop.example.com is down'])
    expect(two.received).toEqual([])
    expect(await logOf(w, first.id)).toEqual(['incident.opened sent'])
    const { body } = await w.acme.call('GET', `/v1/notifications?channel_id=${first.id}`)
    expect(body.data[0]).toMatchObject({
      channel_id: first.id,
      state: 'problem',
      severity: 'critical',
      thread: 'inc_1',
      attempt_count: 1,
      said: 'Status 204',
      last_error: null,
      resource: { type: 'monitor', id: 'mon_1', name: 'shop.example.com' },
      facts: [{ name: 'Since', value: '2026-11-21T10:00:00.000Z' }],
    })
    expect((await w.acme.call('GET', `/v1/notifications/${body.data[0].id}`)).body).toEqual(body.data[0])
    expect((await w.rival.call('GET', `/v1/notifications/${body.data[0].id}`)).status).toBe(404)
    expect((await w.rival.call('GET', '/v1/notifications')).body.data).toEqual([])
  })

  test('goes to what takes everything where all channels that it names are gone', async () => {
    const w = await ours()
    const r = receiver()
    await channelAt(w, r.url, { group_seconds: 0 })
    await told(w, { title: 'named gone', thread: 'a' }, ['chan_01k3z8q4g7e2wv5m9x0c6hbtfn'])
    await told(w, { title: 'for nobody', thread: 'b' }, [])
    await soon(w)
    expect(titles(r.received)).toEqual(['named gone'])
  })

  test('goes by severity, topic and tag where it names no channels, and by severity alone where it does', async () => {
    const w = await ours()
    const r = receiver()
    const narrow = await channelAt(w, r.url, { tags: ['mail'], topics: ['incidents'], min_severity: 'warning', group_seconds: 0 })
    const apart = await channelAt(w, r.url, { for_everything: false, group_seconds: 0 })
    await told(w, { title: 'tag that is not taken', thread: 'a' })
    await told(w, { title: 'taken', tags: ['mail'], thread: 'b' })
    await told(w, { title: 'topic that is not taken', tags: ['mail'], kind: 'token.expiring', thread: 'c' })
    await told(w, { title: 'too little', tags: ['mail'], severity: 'info', thread: 'd' })
    await told(w, { title: 'named', thread: 'e' }, [narrow.id])
    await told(w, { title: 'named, and too little', severity: 'info', thread: 'f' }, [narrow.id])
    await told(w, { title: 'named apart', thread: 'g' }, [apart.id, 'chan_01k3z8q4g7e2wv5m9x0c6hbtfn'])
    for (let i = 0; i < 3; i++) await w.pass(10 * second)
    expect(titles(r.received).sort()).toEqual(['named', 'named apart', 'taken'])
  })

  test('of several at once is one that lists them, and what follows soon waits for the others', async () => {
    const w = await ours()
    const r = receiver()
    const channel = await channelAt(w, r.url)
    for (const n of [1, 2, 3]) await told(w, { thread: `inc_${n}`, title: `host ${n} is down` })
    await soon(w)
    expect(titles(r.received)).toEqual(['3 problems'])
    expect(JSON.parse(r.received[0]!.body)).toMatchObject({ count: 3, kind: 'digest', severity: 'critical' })
    expect(r.received[0]!.body).toContain('host 2 is down')
    await told(w, { thread: 'inc_4', title: 'host 4 is down' })
    await w.pass(3 * second)
    await told(w, { thread: 'inc_1', state: 'recovery', title: 'host 1 is up' })
    await w.pass(2 * second)
    expect(r.received).toHaveLength(1)
    await w.pass(8 * second)
    expect(titles(r.received)).toEqual(['3 problems', '1 problem, 1 recovery'])
    const { body } = await w.acme.call('GET', `/v1/notification-channels/${channel.id}/notifications?limit=100`)
    expect(new Set(body.data.map((one: any) => one.sent_in)).size).toBe(2)
  })
})

describe('very many problems', () => {
  test('go as one message, and those that are over before they went are told to nobody', async () => {
    const w = await ours()
    const r = receiver()
    const channel = await channelAt(w, r.url)
    const tellOf = async (from: number, to: number, more: object = {}) => {
      for (let n = from; n < to; n++) await told(w, { thread: `inc_${n}`, title: `host ${n}`, ...more })
    }
    await tellOf(0, 7)
    await soon(w)
    await tellOf(7, 227)
    await tellOf(0, 5, { state: 'recovery' })
    await tellOf(7, 107, { state: 'recovery' })
    // Over, and there again.
    await w.pass(100)
    await tellOf(7, 8)
    await w.pass(10 * second)
    await w.pass(10 * second)
    expect(titles(r.received)).toEqual(['7 problems', '121 problems, 5 recoveries'])
    expect(JSON.parse(r.received[1]!.body)).toMatchObject({ count: 126 })
    expect(r.received[1]!.body).toContain('106 more, in the log of the channel')
    const { body } = await w.acme.call('GET', `/v1/notifications?channel_id=${channel.id}&status=cancelled&include=total&limit=1`)
    expect(body.pagination.total).toBe(200)
    // What was told is ended, and what was not is not.
    await tellOf(7, 9, { state: 'recovery' })
    await w.pass(minute)
    await w.pass(minute)
    expect(titles(r.received).slice(2)).toEqual(['host 7'])
  })
})

describe('a recovery', () => {
  test('goes to every channel that was told of the problem, and to no other', async () => {
    const w = await ours()
    const [one, two] = [receiver(), receiver()]
    const named = await channelAt(w, one.url, { for_everything: false })
    const grave = await channelAt(w, two.url, { min_severity: 'critical' })
    await told(w, {}, [named.id])
    await soon(w)
    await told(w, { state: 'recovery', severity: 'info', title: 'shop is up' })
    await w.pass(minute)
    expect(titles(one.received)).toEqual(['shop.example.com is down', 'shop is up'])
    expect(two.received).toEqual([])
    expect(await logOf(w, grave.id)).toEqual([])
    // Over is over: a second one has nobody to go to.
    await told(w, { state: 'recovery', title: 'shop is up again' })
    await w.pass(minute)
    expect(one.received).toHaveLength(2)
  })
})

describe('reminders', () => {
  test('come until the problem is acknowledged, over, or told often enough', async () => {
    const w = await ours()
    const r = receiver()
    await channelAt(w, r.url, { remind_every_seconds: 600, most_reminders: 2, group_seconds: 0 })
    await told(w)
    await soon(w)
    for (let i = 0; i < 5; i++) await w.pass(10 * minute)
    expect(titles(r.received)).toEqual([
      'shop.example.com is down',
      'Reminder: shop.example.com is down',
      'Reminder: shop.example.com is down',
    ])
    expect(r.received[1]!.body).toContain('10 min')
    await told(w, { thread: 'inc_2' })
    await soon(w)
    await record(w.hub, async tx => ({ result: await hushThread(tx, 'inc_2') }))
    await w.pass(hour)
    expect(r.received).toHaveLength(4)
    await told(w, { thread: 'inc_2', state: 'recovery', title: 'up' })
    await told(w, { thread: 'inc_3' })
    await soon(w)
    await soon(w)
    await told(w, { thread: 'inc_3', state: 'recovery', title: 'up' })
    await w.pass(hour)
    await soon(w)
    expect(titles(r.received).filter(title => title.startsWith('Reminder'))).toHaveLength(2)
    expect(r.received).toHaveLength(7)
  })

  test('go on where a channel is back in service, also of what it never told', async () => {
    const w = await ours()
    const r = receiver()
    r.answer = () => new Response('no_service', { status: 404 })
    const channel = await channelAt(w, r.url, { kind: 'slack', remind_every_seconds: 600 })
    await told(w)
    await soon(w)
    await w.pass(hour)
    expect(r.received).toHaveLength(1)
    r.answer = () => new Response('ok')
    await w.acme.call('POST', `/v1/notification-channels/${channel.id}/enable`)
    await w.pass(601 * second)
    await soon(w)
    expect(r.received.at(-1)!.body).toContain('Reminder: shop.example.com is down')
    await w.acme.call('PATCH', `/v1/notification-channels/${channel.id}`, { active: false })
    await w.pass(hour)
    const before = r.received.length
    await w.acme.call('PATCH', `/v1/notification-channels/${channel.id}`, { active: true, remind_every_seconds: 60 })
    await w.pass(61 * second)
    await soon(w)
    expect(r.received).toHaveLength(before + 1)
    await told(w, { state: 'recovery', title: 'shop is up' })
    await w.pass(minute)
    expect(r.received.at(-1)!.body).toContain('shop is up')
  })
})

describe('quiet hours', () => {
  const night = { timezone: 'UTC', days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '22:00', to: '07:00' }
  const at = (w: World, time: string) => {
    const today = new Date(w.clock.now()).toISOString().slice(0, 10)
    const then = Date.parse(`${today}T${time}:00Z`)
    return w.pass((then > w.clock.now() ? then : then + 24 * hour) - w.clock.now())
  }

  test('hold messages, drop what was over meanwhile, and sum up the rest at the end', async () => {
    const w = await ours()
    const r = receiver()
    const channel = await channelAt(w, r.url, { quiet_hours: { ...night, except_severity: 'critical' } })
    await at(w, '23:00')
    await told(w, { severity: 'warning', thread: 'a', title: 'a is slow' })
    await told(w, { severity: 'warning', thread: 'b', title: 'b is slow' })
    await told(w, { severity: 'warning', thread: 'c', title: 'c is slow' })
    await told(w, { thread: 'd', title: 'd is down' })
    await soon(w)
    await told(w, { severity: 'info', thread: 'a', state: 'recovery', title: 'a is fast' })
    await told(w, { severity: 'info', thread: 'd', state: 'recovery', title: 'd is up' })
    await w.pass(minute)
    expect(titles(r.received)).toEqual(['d is down', 'd is up'])
    await at(w, '07:00')
    expect(titles(r.received).slice(2)).toEqual(['In quiet hours: 2 problems'])
    expect(await logOf(w, channel.id)).toEqual([
      'incident.opened cancelled recovered',
      'incident.opened sent',
      'incident.opened sent',
      'incident.opened sent',
      'incident.resolved cancelled problem_not_sent',
      'incident.resolved sent',
    ])
  })

  test('tell of the end of what was told before them, however often it came back meanwhile', async () => {
    const w = await ours()
    const r = receiver()
    await channelAt(w, r.url, { quiet_hours: { ...night, except_severity: null } })
    await at(w, '21:50')
    await told(w)
    await soon(w)
    await at(w, '22:10')
    await told(w, { state: 'recovery', title: 'shop is up' })
    await w.pass(minute)
    await told(w, { kind: 'incident.reopened', title: 'shop is down again' })
    await w.pass(minute)
    await told(w, { state: 'recovery', title: 'shop is up for good' })
    await at(w, '07:00')
    await soon(w)
    expect(titles(r.received)).toEqual(['shop.example.com is down', 'shop is up for good'])
  })

  test('are followed by one reminder of what goes on, and leave those that there may be', async () => {
    const w = await ours()
    const r = receiver()
    const rhythm = { remind_every_seconds: 1_800, most_reminders: 3, group_seconds: 0 }
    await channelAt(w, r.url, { ...rhythm, quiet_hours: { ...night, except_severity: null } })
    await at(w, '21:50')
    await told(w)
    await soon(w)
    await at(w, '22:10')
    for (let i = 0; i < 18; i++) await w.pass(30 * minute)
    for (let i = 0; i < 5; i++) await soon(w)
    const reminder = 'Reminder: shop.example.com is down'
    expect(titles(r.received)).toEqual(['shop.example.com is down', reminder])
    for (let i = 0; i < 4; i++) await w.pass(30 * minute)
    expect(titles(r.received).slice(1)).toEqual([reminder, reminder, reminder])
  })

  test('that are taken off let go what they held', async () => {
    const w = await ours()
    const r = receiver()
    const channel = await channelAt(w, r.url, { quiet_hours: { ...night, except_severity: null } })
    await at(w, '23:00')
    await told(w)
    await w.pass(minute)
    expect(await logOf(w, channel.id)).toEqual(['incident.opened held quiet_hours'])
    expect((await w.acme.call('PATCH', `/v1/notification-channels/${channel.id}`, { quiet_hours: null })).status).toBe(200)
    await soon(w)
    expect(titles(r.received)).toEqual(['shop.example.com is down'])
  })
})

describe('a channel that fails', () => {
  test('is tried again ever more seldom, told of by the others, and loses nothing', async () => {
    const w = await ours()
    const [bad, good] = [receiver(), receiver()]
    bad.answer = () => new Response('busy', { status: 503 })
    const channel = await channelAt(w, bad.url, { topics: ['incidents'] })
    await channelAt(w, good.url, { topics: ['notices'] })
    await told(w)
    await soon(w)
    expect(bad.received).toHaveLength(1)
    expect((await w.acme.call('GET', `/v1/notification-channels/${channel.id}`)).body).toMatchObject({
      failing: true,
      last_error: { failure: 'passing', detail: 'It answered with status 503: busy' },
      status: 'enabled',
      version: 1,
    })
    await w.pass(12 * second)
    await w.pass(34 * second)
    await w.pass(133 * second)
    expect(bad.received).toHaveLength(4)
    await w.pass(minute)
    expect(titles(good.received)).toEqual([expect.stringContaining('A notification channel does not get through')])
    bad.answer = () => new Response(null, { status: 204 })
    await told(w, { thread: 'inc_2', title: 'mail is down' })
    await w.pass(11 * minute)
    expect(titles(bad.received).at(-1)).toBe('2 problems')
    expect(await logOf(w, channel.id)).toEqual(['incident.opened sent', 'incident.opened sent'])
    expect((await w.acme.call('GET', `/v1/notification-channels/${channel.id}`)).body).toMatchObject({
      failing: false,
      last_error: null,
    })
  })

  test('that does not take several messages as one is sent each alone', async () => {
    const w = await ours()
    const r = receiver()
    r.answer = ({ body }) => new Response('invalid_blocks', { status: /2 problems|poison/.test(body) ? 400 : 200 })
    const channel = await channelAt(w, r.url)
    await told(w, { thread: 'inc_1', title: 'poison' })
    await told(w, { thread: 'inc_2', title: 'plain' })
    for (let i = 0; i < 4; i++) await w.pass(2 * second)
    expect(titles(r.received)).toEqual(['2 problems', 'poison', 'plain'])
    expect((await logOf(w, channel.id)).sort()).toEqual(['incident.opened failed refused', 'incident.opened sent'])
    expect((await w.acme.call('GET', `/v1/notification-channels/${channel.id}`)).body).toMatchObject({
      status: 'enabled',
      failing: false,
    })
  })

  test('and refuses one message after the other is told of by the others', async () => {
    const w = await ours()
    const [bad, good] = [receiver(), receiver()]
    bad.answer = () => new Response('no such topic', { status: 400 })
    const channel = await channelAt(w, bad.url, { topics: ['incidents'], group_seconds: 0 })
    await channelAt(w, good.url, { topics: ['notices'] })
    for (let n = 1; n <= 4; n++) {
      await told(w, { thread: `inc_${n}` })
      await soon(w)
    }
    await w.pass(minute)
    expect(titles(good.received)).toEqual([expect.stringContaining('A notification channel does not get through')])
    bad.answer = () => new Response(null, { status: 204 })
    await told(w, { thread: 'inc_5' })
    await soon(w)
    expect((await w.acme.call('GET', `/v1/notification-channels/${channel.id}`)).body.failing).toBe(false)
  })

  test('gives a message up after the last try', async () => {
    const w = await ours()
    const r = receiver()
    r.answer = () => new Response(null, { status: 500 })
    const channel = await channelAt(w, r.url)
    await told(w)
    await soon(w)
    for (const wait of [12, 35, 135, 670, 1_990, 7_930]) await w.pass(wait * second)
    expect(r.received).toHaveLength(7)
    expect(await logOf(w, channel.id)).toEqual(['incident.opened failed given_up'])
    await w.pass(24 * hour)
    expect(r.received).toHaveLength(7)
  })

  test('waits for as long as the other side asks', async () => {
    const w = await ours()
    const r = receiver()
    r.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '300' } })
    await channelAt(w, r.url)
    await told(w)
    await soon(w)
    r.answer = () => new Response(null, { status: 204 })
    await w.pass(4 * minute)
    expect(r.received).toHaveLength(1)
    await w.pass(2 * minute)
    expect(r.received).toHaveLength(2)
  })

  test('is disabled when it is gone, says so aloud, and is taken back by hand', async () => {
    const w = await ours()
    const [gone, good] = [receiver(), receiver()]
    gone.answer = () => new Response('no_service', { status: 404 })
    const channel = await channelAt(w, gone.url, { kind: 'slack', topics: ['incidents'] })
    await channelAt(w, good.url, { topics: ['notification_channel.disabled'] })
    await w.audited()
    await told(w)
    await soon(w)
    await w.pass(minute)
    expect(await w.audited()).toEqual(['notification.channel.disable'])
    const read = () => w.acme.call('GET', `/v1/notification-channels/${channel.id}`)
    expect((await read()).body).toMatchObject({
      status: 'disabled',
      disabled_reason: 'Slack answered with status 404: no_service',
      version: 2,
    })
    expect(titles(good.received)).toEqual([`A notification channel was disabled: ${channel.name}`])
    const [notice] = (await w.acme.call('GET', '/v1/notices?kind=notification_channel.disabled')).body.data
    expect(notice).toMatchObject({ severity: 'critical', resource: { id: channel.id } })
    await told(w, { thread: 'inc_2' }, [channel.id])
    await w.pass(minute)
    expect(gone.received).toHaveLength(1)
    expect(await logOf(w, channel.id)).toEqual([
      'incident.opened cancelled channel_disabled',
      'incident.opened cancelled channel_disabled',
    ])
    gone.answer = () => new Response('ok')
    expect((await w.acme.call('POST', `/v1/notification-channels/${channel.id}/enable`)).body).toMatchObject({
      status: 'enabled',
    })
    await told(w, { thread: 'inc_3' })
    await w.pass(minute)
    expect(gone.received).toHaveLength(2)
  })
})

describe('notices', () => {
  test('go to the channels that take them', async () => {
    const w = await ours()
    const [all, grave, none] = [receiver(), receiver(), receiver()]
    await channelAt(w, all.url)
    await channelAt(w, grave.url, { min_severity: 'critical' })
    await channelAt(w, none.url, { topics: ['incidents'] })
    await record(w.hub, async () => ({
      result: undefined,
      notices: [
        {
          workspaceId: w.acme.workspaceId,
          kind: 'dns_zone.drifted' as const,
          resource: { type: 'zone', id: 'zone_1', name: 'example.com' },
          text: '3 rrsets were changed.',
          details: {},
          matter: 'zone_1',
        },
      ],
    }))
    await soon(w)
    await w.pass(minute)
    expect(titles(all.received)).toEqual(['A DNS zone was changed at its provider: example.com'])
    expect(JSON.parse(all.received[0]!.body)).toMatchObject({
      kind: 'dns_zone.drifted',
      state: 'information',
      text: '3 rrsets were changed.',
    })
    expect([grave.received, none.received]).toEqual([[], []])
    // Who may not read notices does not read them here.
    await told(w)
    await w.pass(minute)
    const [line] = (await w.acme.call('GET', '/v1/notifications?kind=dns_zone.drifted')).body.data
    const other = await w.scoped('monitoring.read')
    const kinds = async (path: string) => (await other.call('GET', path)).body.data.map((one: any) => one.kind)
    expect(new Set(await kinds('/v1/notifications'))).toEqual(new Set(['incident.opened']))
    expect(await kinds(`/v1/notification-channels/${line.channel_id}/notifications`)).toEqual(['incident.opened'])
    expect((await other.call('GET', `/v1/notifications/${line.id}`)).status).toBe(404)
  })
})

test('a message that a dead process was sending is sent by another, and written down once', async () => {
  const w = await ours()
  const r = receiver()
  const gate = Promise.withResolvers<void>()
  r.answer = async () => {
    // The first process never hears how its request ended.
    if (r.received.length === 1) await gate.promise
    return new Response(null, { status: 204 })
  }
  const channel = await channelAt(w, r.url, { group_seconds: 0 })
  await told(w)
  w.worker.wake()
  while (r.received.length === 0) await Bun.sleep(1)
  await record(w.hub, async tx => {
    await tx.update(jobs).set({ state: 'ready', lockedBy: null, lockedUntil: null }).where(eq(jobs.kind, 'notifications.deliver'))
    return { result: undefined }
  })
  const second = new Worker({ ...w.hub, id: 'hub_second' }, [deliverJob] as never)
  second.wake()
  await second.idle()
  expect(titles(r.received)).toEqual(['shop.example.com is down', 'shop.example.com is down'])
  gate.resolve()
  await w.settle()
  const { body } = await w.acme.call('GET', `/v1/notification-channels/${channel.id}/notifications`)
  expect(body.data.map((one: any) => [one.status, one.attempt_count])).toEqual([['sent', 1]])
  // The receiver can tell that it is the same.
  expect(new Set(r.received.map(one => JSON.parse(one.body).notification_id)).size).toBe(1)
  await second.stop(1_000)
})

test('the log keeps what is over for 90 days', async () => {
  const w = await ours()
  const channel = await channelAt(w, receiver().url)
  await told(w)
  await soon(w)
  await w.pass(89 * 24 * hour)
  await pruneNotifications(w.hub)
  expect(await logOf(w, channel.id)).toHaveLength(1)
  await w.pass(2 * 24 * hour)
  await pruneNotifications(w.hub)
  expect(await logOf(w, channel.id)).toEqual([])
})

describe('mail', () => {
  test('of an incident that was reopened has a name of its own, and follows the first', async () => {
    const w = await ours()
    const double = await mailDouble()
    const server = { host: '127.0.0.1', port: double.port, tls: 'none' }
    const settings = { to: ['ada@example.com'], from: 'alerts@example.com', server }
    await channelAt(w, '', { kind: 'email', settings, group_seconds: 0 })
    await told(w)
    await soon(w)
    await told(w, { state: 'recovery', title: 'shop is up' })
    await soon(w)
    await told(w, { kind: 'incident.reopened', title: 'shop is down again' })
    await soon(w)
    const header = (name: string) => double.taken.map(one => new RegExp(`^${name}: (.*)$`, 'im').exec(one.text)?.[1] ?? null)
    const [first, ...later] = header('message-id')
    expect(new Set([first, ...later]).size).toBe(3)
    expect(header('in-reply-to')).toEqual([null, first!, first!])
    double.stop()
  })
})
