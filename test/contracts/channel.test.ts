import { afterAll, describe, expect, test } from 'bun:test'
import { openLog } from '../../src/core/log'
import { channelKinds } from '../../src/features/notifications/channels'
import { channelAt, logOf, allowPrivateNetwork, sendMessage } from '../support/channels'
import { channelDoubles, stopMails, type ChannelUnderTest, type ReceivedMessage } from '../support/channel-doubles'
import { person } from '../support/people'
import { receiver, stopReceivers } from '../support/receiver'
import { world, type World } from '../support/world'

afterAll(() => {
  stopReceivers()
  stopMails()
})

const second = 1_000
// Special characters of every message format.
const specialText = 'shop & <b>"blog"</b> \\ {{secret.key}} $NAME_JSON *down* <!channel> @everyone'

describe.each(channelKinds.map(one => one.kind))('channel type %s', kind => {
  const setUp = async (more: object = {}): Promise<{ w: World; double: ChannelUnderTest; channel: any; lines: string[] }> => {
    const w = await allowPrivateNetwork(await world())
    const lines: string[] = []
    w.hub.log = openLog('debug', { write: (line: string) => void lines.push(line) })
    const double = await channelDoubles[kind]!()
    const channel = await channelAt(w, '', { kind, settings: double.settings, ...more })
    return { w, double, channel, lines }
  }
  const read = async (w: World, id: string) => (await w.acme.call('GET', `/v1/notification-channels/${id}`)).body

  test('describes its settings, including secrets and destination', async () => {
    const { settings, secrets, destination } = channelKinds.find(one => one.kind === kind)!
    expect((settings as any).additionalProperties).toBe(false)
    for (const path of [...secrets, ...destination]) expect(Object.keys(settings.properties)).toContain(path.split('/')[0]!)
    for (const schema of Object.values(settings.properties)) expect(schema.description).toMatch(/\.$/)
  })

  test('sends problems and recoveries, and never exposes secrets in responses, audit events or logs', async () => {
    const { w, double, channel, lines } = await setUp({ group_seconds: 0 })
    const before = await w.acme.call('GET', `/v1/notification-channels/${channel.id}`)
    await sendMessage(w)
    await w.advance(2 * second)
    await sendMessage(w, { state: 'recovery', severity: 'info', title: 'shop.example.com is up', text: 'It was down for 5 min.' })
    await w.advance(2 * second)
    expect(double.arrived().map(one => one.title)).toEqual(['shop.example.com is down', 'shop.example.com is up'])
    const log = await w.acme.call('GET', `/v1/notifications?channel_id=${channel.id}`)
    expect(log.body.data.map((one: any) => [one.status, one.response])).toEqual([
      ['sent', double.response],
      ['sent', double.response],
    ])
    const audit = await w.acme.call('GET', '/v1/audit-events?limit=100')
    expect(audit.text).toContain('notification.channel.create')
    for (const shown of [before.text, log.text, audit.text, lines.join('\n')])
      for (const secret of double.secrets) expect(shown).not.toContain(secret)
    if (double.secrets.length > 0) expect(before.body.secrets_set).not.toBeEmpty()
  })

  test('names the hub, writes times in the time zone of the channel, and has the title only once', async () => {
    const { w, double, channel } = await setUp({ group_seconds: 0 })
    const settings = { timezone: 'asia/kathmandu' }
    expect((await w.acme.call('PATCH', `/v1/notification-channels/${channel.id}`, { settings })).status).toBe(200)
    await sendMessage(w, { text: 'Refused until 2026-11-22 00:30 UTC.', facts: [['Started', '2026-11-21 23:30:05 UTC']] })
    await w.advance(2 * second)
    const [{ whole }] = double.arrived() as [ReceivedMessage]
    const text = whole.replaceAll('=\n', '').replaceAll('\\', '')
    expect(text).toContain('2026-11-22 05:15:05 UTC+5:45')
    if (kind !== 'webhook') expect(text).toContain('until 2026-11-22 06:15 UTC+5:45')
    expect(text).toContain(new URL(w.hub.baseUrl).host)
    expect(text.split('shop.example.com is down')).toHaveLength(2)
    const unknown = await w.acme.call('PATCH', `/v1/notification-channels/${channel.id}`, {
      settings: { timezone: 'Mars/Olympus' },
    })
    expect([unknown.status, unknown.body.errors]).toEqual([
      422,
      [
        expect.objectContaining({
          pointer: '#/settings/timezone',
          detail: 'must be an IANA time zone name such as Europe/Berlin.',
        }),
      ],
    ])
  })

  test('sends a test message immediately and returns the result', async () => {
    const { w, double, channel } = await setUp({ active: false })
    await w.audited()
    const test = () => w.acme.call('POST', `/v1/notification-channels/${channel.id}/test`)
    const ok = await test()
    expect([ok.status, ok.body]).toEqual([
      200,
      expect.objectContaining({ kind: 'test', status: 'sent', response: double.response, channel_id: channel.id }),
    ])
    expect(double.arrived().at(-1)!.title).toContain('Test message for')
    double.busy()
    expect((await test()).body).toMatchObject({ status: 'failed', response: null, last_error: { code: 'temporary' } })
    double.disappear()
    const gone = await test()
    expect(gone.body).toMatchObject({ status: 'failed', last_error: { code: 'gone' } })
    for (const secret of double.secrets) expect(gone.text).not.toContain(secret)
    expect(await w.audited()).toEqual(Array(3).fill('notification.channel.test'))
    // A failed test never disables a channel.
    expect(await read(w, channel.id)).toMatchObject({ status: 'enabled', failing: false })
  })

  test('retries when the destination is busy, but not earlier than requested', async () => {
    const { w, double, channel } = await setUp()
    double.busy()
    await sendMessage(w)
    await w.advance(2 * second)
    const attempts = async () =>
      (await w.acme.call('GET', `/v1/notifications?channel_id=${channel.id}`)).body.data[0].attempt_count
    expect(await attempts()).toBe(1)
    expect(await read(w, channel.id)).toMatchObject({ failing: true, status: 'unverified', last_error: { code: 'temporary' } })
    double.recover()
    if (double.retryAfterMs !== null) {
      await w.advance(double.retryAfterMs - 2 * second)
      expect(await attempts()).toBe(1)
    }
    await w.advance(15 * second)
    expect(double.arrived().at(-1)!.title).toBe('shop.example.com is down')
    expect(await logOf(w, channel.id)).toEqual(['incident.opened sent'])
  })

  test('does not retry a rejected message, and is not disabled', async () => {
    const { w, double, channel } = await setUp()
    // Mail servers reject recipients, not messages.
    if (kind === 'email') return
    double.reject()
    await sendMessage(w)
    await w.advance(2 * second)
    expect(await logOf(w, channel.id)).toEqual(['incident.opened failed rejected'])
    expect(await read(w, channel.id)).toMatchObject({ status: 'unverified', last_error: { code: 'rejected' } })
  })

  test('is disabled when the destination no longer exists', async () => {
    const { w, double, channel } = await setUp()
    double.disappear()
    await sendMessage(w)
    for (let i = 0; i < 4; i++) await w.advance(40 * second)
    expect(await read(w, channel.id)).toMatchObject({ status: 'disabled', disabled_reason: expect.any(String) })
    const [notice] = (await w.acme.call('GET', '/v1/notices?kind=notification_channel.disabled')).body.data
    expect(notice.resource.id).toBe(channel.id)
  })

  test('escapes special characters and respects the size limits of the service', async () => {
    const { w, double } = await setUp()
    await sendMessage(w, {
      title: specialText,
      text: specialText,
      facts: Array.from({ length: 60 }, (_, n) => [`fact ${n}`, 'é'.repeat(900)] as const),
    })
    await w.advance(2 * second)
    const [one] = double.arrived()
    for (const secret of double.secrets.filter(() => kind !== 'webhook')) expect(one!.title).not.toContain(secret)
    // Slack interprets mrkdwn but not headers.
    if (kind === 'slack') expect(one!.whole).not.toMatch(/"mrkdwn","text":"[^"]*<!/)
    if (kind === 'telegram') expect(one!.whole).toContain('&lt;b&gt;')
    if (kind === 'discord') expect(one!.whole).toContain('"allowed_mentions":{"parse":[]}')
    if (kind === 'webhook') expect(one!.title).toBe(specialText)
    expect(one!.whole.length).toBeLessThan(300_000)
  })
})

test('an email has the time zone on which the profiles of its recipients agree', async () => {
  const w = await allowPrivateNetwork(await world())
  const double = await channelDoubles['email']!()
  const settings = { ...double.settings, to: ['Ada@example.com', 'grace@example.com'], timezone: 'Asia/Tokyo' }
  await channelAt(w, '', { kind: 'email', group_seconds: 0, settings })
  const startedIn = async () => {
    await sendMessage(w, { thread: crypto.randomUUID(), facts: [['Started', '2026-11-21 10:00:00 UTC']] })
    await w.advance(3 * second)
    return /^Started: (.*)$/m.exec(double.arrived().at(-1)!.whole)![1]
  }
  const [ada, grace] = [
    await person(w, w.acme.workspaceId, 'viewer', 'ada@example.com'),
    await person(w, w.acme.workspaceId, 'viewer', 'grace@example.com'),
  ]
  expect(await startedIn()).toBe('2026-11-21 19:00:00 UTC+9')
  await ada.call('PATCH', '/v1/users/me', { preferences: { timezone: 'America/New_York' } })
  expect(await startedIn()).toBe('2026-11-21 19:00:00 UTC+9')
  await grace.call('PATCH', '/v1/users/me', { preferences: { timezone: 'America/New_York' } })
  expect(await startedIn()).toBe('2026-11-21 05:00:00 UTC-5')
})

test('follows a Telegram group that was upgraded to a supergroup', async () => {
  const w = await allowPrivateNetwork(await world())
  const double = receiver()
  double.answer = ({ body }) =>
    JSON.parse(body).chat_id === '-100'
      ? Response.json(
          { ok: false, description: 'Bad Request: group chat was upgraded', parameters: { migrate_to_chat_id: -1_002 } },
          { status: 400 },
        )
      : Response.json({ ok: true, result: { message_id: 7 } })
  const settings = { bot_token: '123456:very-secret-telegram', chat_id: '-100', api_url: double.url }
  const { id } = await channelAt(w, '', { kind: 'telegram', settings })
  const { body } = await w.acme.call('POST', `/v1/notification-channels/${id}/test`)
  expect(body).toMatchObject({ status: 'sent', response: 'Message 7. The chat has a new id: -1002.' })
  expect(double.received.map(one => JSON.parse(one.body).chat_id)).toEqual(['-100', '-1002'])
  await sendMessage(w)
  await w.advance(20 * second)
  expect(double.received.map(one => JSON.parse(one.body).chat_id)).toEqual(['-100', '-1002', '-1002'])
})

test('stores the new chat id of a Telegram group even if the message then fails, as a change by the system', async () => {
  const w = await allowPrivateNetwork(await world())
  const double = receiver()
  let status = 500
  double.answer = ({ body }) =>
    JSON.parse(body).chat_id === '-100'
      ? Response.json({ ok: false, description: 'upgraded', parameters: { migrate_to_chat_id: -1_002 } }, { status: 400 })
      : Response.json({ ok: true, result: { message_id: 7 } }, { status })
  const settings = { bot_token: '123456:very-secret-telegram', chat_id: '-100', api_url: double.url }
  const { id } = await channelAt(w, '', { kind: 'telegram', settings, group_seconds: 0 })
  await sendMessage(w)
  await w.advance(2 * second)
  const read = async () => (await w.acme.call('GET', `/v1/notification-channels/${id}`)).body
  expect(await read()).toMatchObject({ settings: { chat_id: '-1002' }, secrets_set: ['bot_token'], version: 2, failing: true })
  status = 200
  await w.advance(15 * second)
  expect(await read()).toMatchObject({ settings: { chat_id: '-1002' }, version: 2, failing: false })
  expect(double.received.map(one => JSON.parse(one.body).chat_id)).toEqual(['-100', '-1002', '-1002'])
  const { data } = (await w.acme.call('GET', '/v1/audit-events?action=notification.channel.update')).body
  expect(data).toMatchObject([
    { actor: { type: 'system' }, context: { channel: 'job' }, changes: { after: { settings: { chat_id: '-1002' } } } },
  ])
})

test('keeps a chat id that was edited while a message was sent to the old one', async () => {
  const w = await allowPrivateNetwork(await world())
  const double = receiver()
  const settings = { bot_token: '123456:very-secret-telegram', chat_id: '-100', api_url: double.url }
  const { id } = await channelAt(w, '', { kind: 'telegram', settings })
  const path = `/v1/notification-channels/${id}`
  double.answer = async ({ body }) => {
    if (JSON.parse(body).chat_id !== '-100') return Response.json({ ok: true, result: { message_id: 7 } })
    await w.acme.call('PATCH', path, { settings: { chat_id: '-5' } })
    return Response.json({ ok: false, parameters: { migrate_to_chat_id: -1_002 } }, { status: 400 })
  }
  expect((await w.acme.call('POST', `${path}/test`)).body.status).toBe('sent')
  expect((await w.acme.call('GET', path)).body).toMatchObject({ settings: { chat_id: '-5' }, version: 2 })
})

test('redacts secret URLs and headers that a server echoes', async () => {
  const w = await allowPrivateNetwork(await world())
  const double = receiver()
  double.answer = ({ path, headers }) =>
    new Response(`Cannot POST ${path} with ${headers.get('authorization')?.slice(7)}`, { status: 400 })
  const responseTo = async (kind: string, settings: object) => {
    const { id } = await channelAt(w, '', { kind, settings })
    return (await w.acme.call('POST', `/v1/notification-channels/${id}/test`)).text
  }
  expect(await responseTo('slack', { url: `${double.url}/services/T0AB1/very-secret-of-slack` })).not.toContain('very-secret')
  const headers = { authorization: 'Bearer very-secret-of-webhook' }
  expect(await responseTo('webhook', { url: double.url, headers })).not.toContain('very-secret')
  double.answer = ({ headers: all }) => new Response(`${'x'.repeat(190)}${all.get('authorization')}`, { status: 400 })
  expect(await responseTo('webhook', { url: double.url, headers })).not.toContain('Bearer ver')
})

test('encodes non-Latin text in webhook headers', async () => {
  const w = await allowPrivateNetwork(await world())
  const double = receiver()
  const headers = { 'x-title': '{{message.title}}' }
  const { id } = await channelAt(w, '', { settings: { url: double.url, headers } })
  await sendMessage(w, { title: 'Café ☕ Ω\u2028is down' })
  await w.advance(2 * second)
  expect(await logOf(w, id)).toEqual(['incident.opened sent'])
  expect(Buffer.from(double.received[0]!.headers.get('x-title')!, 'latin1').toString('utf8')).toContain('Café ☕ Ω')
})

test('escapes Markdown for Discord and respects its limits', async () => {
  const w = await allowPrivateNetwork(await world())
  const double = receiver()
  await channelAt(w, '', { kind: 'discord', settings: { url: double.url } })
  await sendMessage(w, {
    title: '*.example.com and my_name_ are down',
    text: '[all is ok](https://evil.example/a_b_)',
    facts: Array.from({ length: 30 }, (_, n) => [`fact ${n}`, 'é'.repeat(900)] as const),
    acknowledgeLink: `https://hub.example.com/${'a'.repeat(600)}`,
  })
  await w.advance(2 * second)
  const [embed] = JSON.parse(double.received[0]!.body).embeds
  expect(embed.title).toBe('\\*.example.com and my_name\\_ are down')
  expect(embed.description).toBe('\\[all is ok\\](https://evil.example/a_b_)')
  const texts: string[] = [embed.title, embed.description, ...embed.fields.flatMap((one: any) => [one.name, one.value])]
  expect(texts.reduce((sum, one) => sum + one.length, 0)).toBeLessThanOrEqual(6_000)
  expect(embed.fields.at(-1).name).toBe('Acknowledge')
})

test('channels follow the network policy of the workspace', async () => {
  const w = await world()
  const double = receiver()
  for (const [kind, settings] of [
    ['slack', { url: double.url }],
    ['email', { to: ['ada@example.com'], from: 'a@example.com', server: { host: '127.0.0.1', port: 25, tls: 'none' } }],
  ] as const) {
    const created = await w.rival.call('POST', '/v1/notification-channels', { kind, name: kind, settings })
    const { body } = await w.rival.call('POST', `/v1/notification-channels/${created.body.id}/test`)
    expect([kind, body.status, body.last_error.code]).toEqual([kind, 'failed', 'temporary'])
    expect(JSON.stringify(body.last_error)).not.toContain('127.0.0.1')
  }
  expect(double.received).toEqual([])
})

test('every channel type has a double', () => {
  expect(Object.keys(channelDoubles).sort()).toEqual(channelKinds.map(one => one.kind).sort())
})
