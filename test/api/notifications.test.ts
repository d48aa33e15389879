import { afterAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { jobs } from '../../src/core/db/tables'
import { together } from '../../src/core/db/together'
import type { Tx } from '../../src/core/db/transaction'
import { enqueue } from '../../src/core/jobs/queue'
import { Worker } from '../../src/core/jobs/worker'
import type { Severity } from '../../src/core/notices'
import { deliverJob } from '../../src/features/notifications/delivery/deliver'
import { muteThread, notify } from '../../src/features/notifications/delivery/notify'
import { pruneNotifications } from '../../src/features/notifications/delivery/retention'
import { channelAt, logOf, allowPrivateNetwork, messageOf, sendMessage } from '../support/channels'
import { mailDouble } from '../support/mail-double'
import { receiver, stopReceivers } from '../support/receiver'
import { world, type World } from '../support/world'

afterAll(stopReceivers)

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const localWorld = async () => allowPrivateNetwork(await world())
const titles = (received: { body: string }[]) => received.map(one => JSON.parse(one.body).title)
/** Lets pending notifications be sent. */
const flush = (w: World) => w.advance(2 * second)

describe('a message', () => {
  test('is sent once on each matching channel, even if created twice', async () => {
    const w = await localWorld()
    const [one, two] = [receiver(), receiver()]
    const first = await channelAt(w, one.url)
    await channelAt(w, two.url, { topics: ['token.leaked'] })
    const at = w.clock.now()
    await sendMessage(w, { occurredAt: at })
    await sendMessage(w, { occurredAt: at })
    await flush(w)
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
      response: 'Status 204',
      last_error: null,
      resource: { type: 'monitor', id: 'mon_1', name: 'shop.example.com' },
      facts: [{ name: 'Started', value: '2026-11-21T10:00:00.000Z' }],
    })
    expect((await w.acme.call('GET', `/v1/notifications/${body.data[0].id}`)).body).toEqual(body.data[0])
    expect((await w.rival.call('GET', `/v1/notifications/${body.data[0].id}`)).status).toBe(404)
    expect((await w.rival.call('GET', '/v1/notifications')).body.data).toEqual([])
  })

  test('falls back to the default channels if all selected channels were deleted', async () => {
    const w = await localWorld()
    const r = receiver()
    await channelAt(w, r.url, { group_seconds: 0 })
    await sendMessage(w, { title: 'selected channel deleted', thread: 'a' }, ['chan_01k3z8q4g7e2wv5m9x0c6hbtfn'])
    await sendMessage(w, { title: 'no channels', thread: 'b' }, [])
    await flush(w)
    expect(titles(r.received)).toEqual(['selected channel deleted'])
  })

  test('is filtered by severity, topic and tag on default channels, and by severity on selected ones', async () => {
    const w = await localWorld()
    const r = receiver()
    const filtered = await channelAt(w, r.url, {
      tags: ['mail'],
      topics: ['incidents'],
      min_severity: 'warning',
      group_seconds: 0,
    })
    const notDefault = await channelAt(w, r.url, { is_default: false, group_seconds: 0 })
    await sendMessage(w, { title: 'other tag', thread: 'a' })
    await sendMessage(w, { title: 'accepted', tags: ['mail'], thread: 'b' })
    await sendMessage(w, { title: 'other topic', tags: ['mail'], kind: 'token.expiring', thread: 'c' })
    await sendMessage(w, { title: 'severity too low', tags: ['mail'], severity: 'info', thread: 'd' })
    await sendMessage(w, { title: 'selected', thread: 'e' }, [filtered.id])
    await sendMessage(w, { title: 'selected, severity too low', severity: 'info', thread: 'f' }, [filtered.id])
    await sendMessage(w, { title: 'selected, not default', thread: 'g' }, [notDefault.id, 'chan_01k3z8q4g7e2wv5m9x0c6hbtfn'])
    for (let i = 0; i < 3; i++) await w.advance(10 * second)
    expect(titles(r.received).sort()).toEqual(['accepted', 'selected', 'selected, not default'])
  })

  test('is combined with others sent at the same time or within the grouping period', async () => {
    const w = await localWorld()
    const r = receiver()
    const channel = await channelAt(w, r.url)
    for (const n of [1, 2, 3]) await sendMessage(w, { thread: `inc_${n}`, title: `host ${n} is down` })
    await flush(w)
    expect(titles(r.received)).toEqual(['3 problems'])
    expect(JSON.parse(r.received[0]!.body)).toMatchObject({ count: 3, kind: 'digest', severity: 'critical' })
    expect(r.received[0]!.body).toContain('host 2 is down')
    await sendMessage(w, { thread: 'inc_4', title: 'host 4 is down' })
    await w.advance(3 * second)
    await sendMessage(w, { thread: 'inc_1', state: 'recovery', title: 'host 1 is up' })
    await w.advance(2 * second)
    expect(r.received).toHaveLength(1)
    await w.advance(8 * second)
    expect(titles(r.received)).toEqual(['3 problems', '1 problem, 1 resolved'])
    const { body } = await w.acme.call('GET', `/v1/notification-channels/${channel.id}/notifications?limit=100`)
    expect(new Set(body.data.map((one: any) => one.sent_with_id)).size).toBe(2)
  })
})

describe('very many problems', () => {
  test('are sent as one message, without those that recovered before they were sent', async () => {
    const w = await localWorld()
    const r = receiver()
    const channel = await channelAt(w, r.url)
    const sendMessages = async (from: number, to: number, more: object = {}) => {
      for (let n = from; n < to; n++) await sendMessage(w, { thread: `inc_${n}`, title: `host ${n}`, ...more })
    }
    await sendMessages(0, 7)
    await flush(w)
    await sendMessages(7, 227)
    await sendMessages(0, 5, { state: 'recovery' })
    await sendMessages(7, 107, { state: 'recovery' })
    // Recovered, and failed again.
    await w.advance(100)
    await sendMessages(7, 8)
    await w.advance(10 * second)
    await w.advance(10 * second)
    expect(titles(r.received)).toEqual(['7 problems', '121 problems, 5 resolved'])
    expect(JSON.parse(r.received[1]!.body)).toMatchObject({ count: 126 })
    expect(r.received[1]!.body).toContain('106 more in the channel log')
    const { body } = await w.acme.call('GET', `/v1/notifications?channel_id=${channel.id}&status=canceled&include=total&limit=1`)
    expect(body.pagination.total).toBe(200)
    // A recovery is only sent for a problem that was sent.
    await sendMessages(7, 9, { state: 'recovery' })
    await w.advance(minute)
    await w.advance(minute)
    expect(titles(r.received).slice(2)).toEqual(['host 7'])
  })
})

describe('a recovery', () => {
  test('goes to exactly the channels that received the problem', async () => {
    const w = await localWorld()
    const [one, two] = [receiver(), receiver()]
    const selected = await channelAt(w, one.url, { is_default: false })
    const criticalOnly = await channelAt(w, two.url, { min_severity: 'critical' })
    await sendMessage(w, {}, [selected.id])
    await flush(w)
    await sendMessage(w, { state: 'recovery', severity: 'info', title: 'shop is up' })
    await w.advance(minute)
    expect(titles(one.received)).toEqual(['shop.example.com is down', 'shop is up'])
    expect(two.received).toEqual([])
    expect(await logOf(w, criticalOnly.id)).toEqual([])
    // The thread has ended, so a second recovery is not sent.
    await sendMessage(w, { state: 'recovery', title: 'shop is up again' })
    await w.advance(minute)
    expect(one.received).toHaveLength(2)
  })
})

describe('reminders', () => {
  test('are sent until the problem is acknowledged or resolved, or the maximum is reached', async () => {
    const w = await localWorld()
    const r = receiver()
    await channelAt(w, r.url, { remind_every_seconds: 600, max_reminders: 2, group_seconds: 0 })
    await sendMessage(w)
    await flush(w)
    for (let i = 0; i < 5; i++) await w.advance(10 * minute)
    expect(titles(r.received)).toEqual([
      'shop.example.com is down',
      'Reminder: shop.example.com is down',
      'Reminder: shop.example.com is down',
    ])
    expect(r.received[1]!.body).toContain('10 min')
    await sendMessage(w, { thread: 'inc_2' })
    await flush(w)
    await record(w.hub, async tx => ({ result: await muteThread(tx, 'inc_2') }))
    await w.advance(hour)
    expect(r.received).toHaveLength(4)
    await sendMessage(w, { thread: 'inc_2', state: 'recovery', title: 'up' })
    await sendMessage(w, { thread: 'inc_3' })
    await flush(w)
    await flush(w)
    await sendMessage(w, { thread: 'inc_3', state: 'recovery', title: 'up' })
    await w.advance(hour)
    await flush(w)
    expect(titles(r.received).filter(title => title.startsWith('Reminder'))).toHaveLength(2)
    expect(r.received).toHaveLength(7)
  })

  test('resume when a channel is enabled again, including for problems that were never sent', async () => {
    const w = await localWorld()
    const r = receiver()
    r.answer = () => new Response('no_service', { status: 404 })
    const channel = await channelAt(w, r.url, { kind: 'slack', remind_every_seconds: 600 })
    await sendMessage(w)
    await flush(w)
    await w.advance(hour)
    expect(r.received).toHaveLength(1)
    r.answer = () => new Response('ok')
    await w.acme.call('POST', `/v1/notification-channels/${channel.id}/enable`)
    await w.advance(601 * second)
    await flush(w)
    expect(r.received.at(-1)!.body).toContain('Reminder: shop.example.com is down')
    await w.acme.call('PATCH', `/v1/notification-channels/${channel.id}`, { active: false })
    await w.advance(hour)
    const before = r.received.length
    await w.acme.call('PATCH', `/v1/notification-channels/${channel.id}`, { active: true, remind_every_seconds: 60 })
    await w.advance(61 * second)
    await flush(w)
    expect(r.received).toHaveLength(before + 1)
    await sendMessage(w, { state: 'recovery', title: 'shop is up' })
    await w.advance(minute)
    expect(r.received.at(-1)!.body).toContain('shop is up')
  })
})

describe('quiet hours', () => {
  const night = { timezone: 'UTC', days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '22:00', to: '07:00' }
  const at = (w: World, time: string) => {
    const today = new Date(w.clock.now()).toISOString().slice(0, 10)
    const then = Date.parse(`${today}T${time}:00Z`)
    return w.advance((then > w.clock.now() ? then : then + 24 * hour) - w.clock.now())
  }

  test('hold messages, drop resolved problems and send one summary at the end', async () => {
    const w = await localWorld()
    const r = receiver()
    const channel = await channelAt(w, r.url, { quiet_hours: { ...night, except_severity: 'critical' } })
    await at(w, '23:00')
    await sendMessage(w, { severity: 'warning', thread: 'a', title: 'a is slow' })
    await sendMessage(w, { severity: 'warning', thread: 'b', title: 'b is slow' })
    await sendMessage(w, { severity: 'warning', thread: 'c', title: 'c is slow' })
    await sendMessage(w, { thread: 'd', title: 'd is down' })
    await flush(w)
    await sendMessage(w, { severity: 'info', thread: 'a', state: 'recovery', title: 'a is fast' })
    await sendMessage(w, { severity: 'info', thread: 'd', state: 'recovery', title: 'd is up' })
    await w.advance(minute)
    expect(titles(r.received)).toEqual(['d is down', 'd is up'])
    await at(w, '07:00')
    expect(titles(r.received).slice(2)).toEqual(['During quiet hours: 2 problems'])
    expect(await logOf(w, channel.id)).toEqual([
      'incident.opened canceled recovered',
      'incident.opened sent',
      'incident.opened sent',
      'incident.opened sent',
      'incident.resolved canceled problem_not_sent',
      'incident.resolved sent',
    ])
  })

  test('don’t delay a critical problem reported together with one that is held', async () => {
    const w = await localWorld()
    const quiet = { quiet_hours: { ...night, except_severity: 'critical' } }
    const channels = [await channelAt(w, receiver().url, quiet), await channelAt(w, receiver().url, quiet)]
    const ids = channels.map(one => one.id).sort()
    await at(w, '23:00')
    const now = w.clock.now()
    const report = (tx: Tx, severity: Severity, channelIds: string[]) => () =>
      notify(tx, w.hub, {
        workspaceId: w.acme.workspaceId,
        message: messageOf(w, { severity, thread: severity }),
        channelIds,
      })
    const stored = await record(w.hub, async tx => {
      const all = await together(tx, [report(tx, 'critical', ids), report(tx, 'warning', [ids[1]!])])
      await enqueue(
        tx,
        w.hub,
        all.flatMap(one => one.jobs),
      )
      const rows = await tx.select().from(jobs).where(eq(jobs.kind, deliverJob.kind))
      return { result: new Map(rows.map(row => [row.uniqueKey, row.runAt])) }
    })
    expect(ids.map(id => stored.get(id))).toEqual([now + second, now + second])
  })

  test('send the final recovery of a problem that was sent before they started', async () => {
    const w = await localWorld()
    const r = receiver()
    await channelAt(w, r.url, { quiet_hours: { ...night, except_severity: null } })
    await at(w, '21:50')
    await sendMessage(w)
    await flush(w)
    await at(w, '22:10')
    await sendMessage(w, { state: 'recovery', title: 'shop is up' })
    await w.advance(minute)
    await sendMessage(w, { kind: 'incident.reopened', title: 'shop is down again' })
    await w.advance(minute)
    await sendMessage(w, { state: 'recovery', title: 'shop is up for good' })
    await at(w, '07:00')
    await flush(w)
    expect(titles(r.received)).toEqual(['shop.example.com is down', 'shop is up for good'])
  })

  test('are followed by one reminder and don’t use up the others', async () => {
    const w = await localWorld()
    const r = receiver()
    const reminders = { remind_every_seconds: 1_800, max_reminders: 3, group_seconds: 0 }
    await channelAt(w, r.url, { ...reminders, quiet_hours: { ...night, except_severity: null } })
    await at(w, '21:50')
    await sendMessage(w)
    await flush(w)
    await at(w, '22:10')
    for (let i = 0; i < 18; i++) await w.advance(30 * minute)
    for (let i = 0; i < 5; i++) await flush(w)
    const reminder = 'Reminder: shop.example.com is down'
    expect(titles(r.received)).toEqual(['shop.example.com is down', reminder])
    for (let i = 0; i < 4; i++) await w.advance(30 * minute)
    expect(titles(r.received).slice(1)).toEqual([reminder, reminder, reminder])
  })

  test('release held messages when they are removed', async () => {
    const w = await localWorld()
    const r = receiver()
    const channel = await channelAt(w, r.url, { quiet_hours: { ...night, except_severity: null } })
    await at(w, '23:00')
    await sendMessage(w)
    await w.advance(minute)
    expect(await logOf(w, channel.id)).toEqual(['incident.opened held quiet_hours'])
    expect((await w.acme.call('PATCH', `/v1/notification-channels/${channel.id}`, { quiet_hours: null })).status).toBe(200)
    await flush(w)
    expect(titles(r.received)).toEqual(['shop.example.com is down'])
  })
})

describe('a failing channel', () => {
  test('is retried with increasing delays, raises a notice and loses no message', async () => {
    const w = await localWorld()
    const [bad, good] = [receiver(), receiver()]
    bad.answer = () => new Response('busy', { status: 503 })
    const channel = await channelAt(w, bad.url, { topics: ['incidents'] })
    await channelAt(w, good.url, { topics: ['notices'] })
    await sendMessage(w)
    await flush(w)
    expect(bad.received).toHaveLength(1)
    expect((await w.acme.call('GET', `/v1/notification-channels/${channel.id}`)).body).toMatchObject({
      failing: true,
      last_error: { code: 'temporary', detail: 'The destination responded with status 503: busy' },
      status: 'unverified',
      version: 1,
    })
    await w.advance(12 * second)
    await w.advance(34 * second)
    await w.advance(133 * second)
    expect(bad.received).toHaveLength(4)
    await w.advance(minute)
    expect(titles(good.received)).toEqual([expect.stringContaining('Notification channel is failing')])
    bad.answer = () => new Response(null, { status: 204 })
    await sendMessage(w, { thread: 'inc_2', title: 'mail is down' })
    await w.advance(11 * minute)
    expect(titles(bad.received).at(-1)).toBe('2 problems')
    expect(await logOf(w, channel.id)).toEqual(['incident.opened sent', 'incident.opened sent'])
    expect((await w.acme.call('GET', `/v1/notification-channels/${channel.id}`)).body).toMatchObject({
      failing: false,
      last_error: null,
    })
  })

  test('that rejects a digest gets each message separately', async () => {
    const w = await localWorld()
    const r = receiver()
    r.answer = ({ body }) => new Response('invalid_blocks', { status: /2 problems|poison/.test(body) ? 400 : 200 })
    const channel = await channelAt(w, r.url)
    await sendMessage(w, { thread: 'inc_1', title: 'poison' })
    await sendMessage(w, { thread: 'inc_2', title: 'plain' })
    for (let i = 0; i < 4; i++) await w.advance(2 * second)
    expect(titles(r.received)).toEqual(['2 problems', 'poison', 'plain'])
    expect((await logOf(w, channel.id)).sort()).toEqual(['incident.opened failed rejected', 'incident.opened sent'])
    expect((await w.acme.call('GET', `/v1/notification-channels/${channel.id}`)).body).toMatchObject({
      status: 'enabled',
      failing: false,
    })
  })

  test('that rejects several messages in a row raises a notice', async () => {
    const w = await localWorld()
    const [bad, good] = [receiver(), receiver()]
    bad.answer = () => new Response('no such topic', { status: 400 })
    const channel = await channelAt(w, bad.url, { topics: ['incidents'], group_seconds: 0 })
    await channelAt(w, good.url, { topics: ['notices'] })
    for (let n = 1; n <= 4; n++) {
      await sendMessage(w, { thread: `inc_${n}` })
      await flush(w)
    }
    await w.advance(minute)
    expect(titles(good.received)).toEqual([expect.stringContaining('Notification channel is failing')])
    bad.answer = () => new Response(null, { status: 204 })
    await sendMessage(w, { thread: 'inc_5' })
    await flush(w)
    expect((await w.acme.call('GET', `/v1/notification-channels/${channel.id}`)).body.failing).toBe(false)
  })

  test('fails a message permanently after the last attempt', async () => {
    const w = await localWorld()
    const r = receiver()
    r.answer = () => new Response(null, { status: 500 })
    const channel = await channelAt(w, r.url)
    await sendMessage(w)
    await flush(w)
    for (const wait of [12, 35, 135, 670, 1_990, 7_930]) await w.advance(wait * second)
    expect(r.received).toHaveLength(7)
    expect(await logOf(w, channel.id)).toEqual(['incident.opened failed retries_exhausted'])
    await w.advance(24 * hour)
    expect(r.received).toHaveLength(7)
  })

  test('waits as long as the destination requests', async () => {
    const w = await localWorld()
    const r = receiver()
    r.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '300' } })
    await channelAt(w, r.url)
    await sendMessage(w)
    await flush(w)
    r.answer = () => new Response(null, { status: 204 })
    await w.advance(4 * minute)
    expect(r.received).toHaveLength(1)
    await w.advance(2 * minute)
    expect(r.received).toHaveLength(2)
  })

  test('is disabled when its destination no longer exists, raises a notice and can be enabled again', async () => {
    const w = await localWorld()
    const [gone, good] = [receiver(), receiver()]
    gone.answer = () => new Response('no_service', { status: 404 })
    const channel = await channelAt(w, gone.url, { kind: 'slack', topics: ['incidents'] })
    await channelAt(w, good.url, { topics: ['notification_channel.disabled'] })
    await w.audited()
    await sendMessage(w)
    await flush(w)
    await w.advance(minute)
    expect(await w.audited()).toEqual(['notification.channel.disable'])
    const read = () => w.acme.call('GET', `/v1/notification-channels/${channel.id}`)
    expect((await read()).body).toMatchObject({
      status: 'disabled',
      disabled_reason: 'Slack responded with status 404: no_service',
      version: 2,
    })
    expect(titles(good.received)).toEqual([`Notification channel disabled: ${channel.name}`])
    const [notice] = (await w.acme.call('GET', '/v1/notices?kind=notification_channel.disabled')).body.data
    expect(notice).toMatchObject({ severity: 'critical', resource: { id: channel.id } })
    await sendMessage(w, { thread: 'inc_2' }, [channel.id])
    await w.advance(minute)
    expect(gone.received).toHaveLength(1)
    expect(await logOf(w, channel.id)).toEqual([
      'incident.opened canceled channel_disabled',
      'incident.opened canceled channel_disabled',
    ])
    gone.answer = () => new Response('ok')
    expect((await w.acme.call('POST', `/v1/notification-channels/${channel.id}/enable`)).body).toMatchObject({
      status: 'unverified',
    })
    await sendMessage(w, { thread: 'inc_3' })
    await w.advance(minute)
    expect(gone.received).toHaveLength(2)
    expect((await read()).body.status).toBe('enabled')
  })
})

describe('notices', () => {
  test('go to the channels that subscribe to them', async () => {
    const w = await localWorld()
    const [all, criticalOnly, none] = [receiver(), receiver(), receiver()]
    await channelAt(w, all.url)
    await channelAt(w, criticalOnly.url, { min_severity: 'critical' })
    await channelAt(w, none.url, { topics: ['incidents'] })
    await record(w.hub, async () => ({
      result: undefined,
      notices: [
        {
          workspaceId: w.acme.workspaceId,
          kind: 'dns_zone.drifted' as const,
          resource: { type: 'zone', id: 'zone_1', name: 'example.com' },
          text: '3 record sets were changed.',
          details: {},
          dedupKey: 'zone_1',
        },
      ],
    }))
    await flush(w)
    await w.advance(minute)
    expect(titles(all.received)).toEqual(['DNS zone changed at its provider: example.com'])
    expect(JSON.parse(all.received[0]!.body)).toMatchObject({
      kind: 'dns_zone.drifted',
      state: 'information',
      text: '3 record sets were changed.',
    })
    expect([criticalOnly.received, none.received]).toEqual([[], []])
    // Without permission to read notices, their notifications are hidden too.
    await sendMessage(w)
    await w.advance(minute)
    const [notification] = (await w.acme.call('GET', '/v1/notifications?kind=dns_zone.drifted')).body.data
    const other = await w.scoped('monitoring.read')
    const kinds = async (path: string) => (await other.call('GET', path)).body.data.map((one: any) => one.kind)
    expect(new Set(await kinds('/v1/notifications'))).toEqual(new Set(['incident.opened']))
    expect(await kinds(`/v1/notification-channels/${notification.channel_id}/notifications`)).toEqual(['incident.opened'])
    expect((await other.call('GET', `/v1/notifications/${notification.id}`)).status).toBe(404)
  })
})

describe('a channel is unverified', () => {
  test('until a test message was sent with its settings', async () => {
    const w = await localWorld()
    const [r, other] = [receiver(), receiver()]
    const { id, status } = await channelAt(w, r.url)
    const own = `/v1/notification-channels/${id}`
    const statusNow = async () => (await w.acme.call('GET', own)).body.status
    expect(status).toBe('unverified')
    r.answer = () => new Response('busy', { status: 503 })
    expect((await w.acme.call('POST', `${own}/test`)).body.status).toBe('failed')
    expect(await statusNow()).toBe('unverified')
    r.answer = () => new Response('ok')
    expect((await w.acme.call('POST', `${own}/test`)).body.status).toBe('sent')
    expect(await statusNow()).toBe('enabled')
    expect((await w.acme.call('PATCH', own, { name: 'Renamed' })).body.status).toBe('enabled')
    expect((await w.acme.call('PATCH', own, { settings: { url: other.url } })).body.status).toBe('unverified')
    const unverified = await w.acme.call('GET', '/v1/notification-channels?status=unverified')
    expect(unverified.body.data.map((one: any) => one.id)).toEqual([id])
  })

  test('until a notification was sent, and not if it was edited meanwhile', async () => {
    const w = await localWorld()
    const [r, other] = [receiver(), receiver()]
    const { id } = await channelAt(w, r.url)
    const own = `/v1/notification-channels/${id}`
    const statusNow = async () => (await w.acme.call('GET', own)).body.status
    r.answer = async () => {
      await w.acme.call('PATCH', own, { settings: { url: other.url } })
      return new Response('ok')
    }
    expect((await w.acme.call('POST', `${own}/test`)).body.status).toBe('sent')
    expect(await statusNow()).toBe('unverified')
    await sendMessage(w)
    await flush(w)
    await w.advance(minute)
    expect(other.received).toHaveLength(1)
    expect(await statusNow()).toBe('enabled')
  })

  test('after it is enabled again, unless a test message was sent', async () => {
    const w = await localWorld()
    const r = receiver()
    r.answer = () => new Response('no_service', { status: 404 })
    const { id } = await channelAt(w, r.url, { kind: 'slack' })
    const own = `/v1/notification-channels/${id}`
    await sendMessage(w)
    await flush(w)
    await w.advance(minute)
    expect((await w.acme.call('PATCH', own, { settings: { url: `${r.url}/other` } })).body.status).toBe('disabled')
    r.answer = () => new Response('ok')
    expect((await w.acme.call('POST', `${own}/test`)).body.status).toBe('sent')
    expect((await w.acme.call('POST', `${own}/enable`)).body.status).toBe('enabled')
  })
})

test('a message whose process died while sending is sent by another process and recorded once', async () => {
  const w = await localWorld()
  const r = receiver()
  const gate = Promise.withResolvers<void>()
  r.answer = async () => {
    // The first process never gets its response.
    if (r.received.length === 1) await gate.promise
    return new Response(null, { status: 204 })
  }
  const channel = await channelAt(w, r.url, { group_seconds: 0 })
  await sendMessage(w)
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
  expect(body.data.map((one: any) => [one.status, one.attempt_count])).toEqual([['sent', 2]])
  // The receiver can detect the duplicate.
  expect(new Set(r.received.map(one => JSON.parse(one.body).notification_id)).size).toBe(1)
  await second.stop(1_000)
})

test('a recovery is sent if processes died while sending the problem, and its job waits', async () => {
  const w = await localWorld()
  const r = receiver()
  const gate = Promise.withResolvers<void>()
  r.answer = async () => {
    // The first process never gets its response.
    if (r.received.length === 1) await gate.promise
    return new Response(null, { status: 204 })
  }
  const channel = await channelAt(w, r.url, { group_seconds: 0 })
  await sendMessage(w)
  w.worker.wake()
  while (r.received.length === 0) await Bun.sleep(1)
  await record(w.hub, async tx => {
    const waiting = { state: 'ready' as const, lockedBy: null, lockedUntil: null, lostRuns: 5, runAt: w.clock.now() + minute }
    await tx.update(jobs).set(waiting).where(eq(jobs.kind, 'notifications.deliver'))
    return { result: undefined }
  })
  await sendMessage(w, { state: 'recovery', title: 'shop is up' })
  const other = new Worker({ ...w.hub, id: 'hub_second' }, [deliverJob] as never)
  for (let n = 0; n < 3; n++) {
    w.clock.advance(2 * second)
    other.wake()
    await other.idle()
  }
  expect(titles(r.received).at(-1)).toBe('shop is up')
  expect(await logOf(w, channel.id)).toEqual(['incident.opened sent', 'incident.resolved sent'])
  gate.resolve()
  await w.settle()
  await other.stop(1_000)
})

test('finished notifications are kept for 90 days', async () => {
  const w = await localWorld()
  const channel = await channelAt(w, receiver().url)
  await sendMessage(w)
  await flush(w)
  await w.advance(89 * 24 * hour)
  await pruneNotifications(w.hub)
  expect(await logOf(w, channel.id)).toHaveLength(1)
  await w.advance(2 * 24 * hour)
  await pruneNotifications(w.hub)
  expect(await logOf(w, channel.id)).toEqual([])
})

describe('mail', () => {
  test('without a mail server fails at once, and says what the operator has to set', async () => {
    const w = await world()
    const to = ['ada@example.com']
    const created = await channelAt(w, '', { kind: 'email', settings: { to } })
    const error = { code: 'rejected', detail: expect.stringContaining('set BAILIWICK_SMTP_URL and BAILIWICK_MAIL_FROM') }
    const tested = await w.acme.call('POST', `/v1/notification-channels/${created.id}/test`)
    expect(tested.body).toMatchObject({ status: 'failed', severity: 'info', last_error: error })
    await sendMessage(w)
    await flush(w)
    expect(await logOf(w, created.id)).toEqual(['test failed rejected', 'incident.opened failed rejected'])
    expect((await w.acme.call('GET', `/v1/notification-channels/${created.id}`)).body).toMatchObject({
      status: 'unverified',
      failing: true,
      last_error: error,
    })
  })

  test('of a reopened incident has its own Message-ID and refers to the first mail', async () => {
    const w = await localWorld()
    const double = await mailDouble()
    const server = { host: '127.0.0.1', port: double.port, tls: 'none' }
    const settings = { to: ['ada@example.com'], from: 'alerts@example.com', server }
    await channelAt(w, '', { kind: 'email', settings, group_seconds: 0 })
    await sendMessage(w)
    await flush(w)
    await sendMessage(w, { state: 'recovery', title: 'shop is up' })
    await flush(w)
    await sendMessage(w, { kind: 'incident.reopened', title: 'shop is down again' })
    await flush(w)
    const header = (name: string) => double.received.map(one => new RegExp(`^${name}: (.*)$`, 'im').exec(one.text)?.[1] ?? null)
    const [first, ...later] = header('message-id')
    expect(new Set([first, ...later]).size).toBe(3)
    expect(header('in-reply-to')).toEqual([null, first!, first!])
    double.stop()
  })
})
