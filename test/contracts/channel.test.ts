import { afterAll, describe, expect, test } from 'bun:test'
import { openLog } from '../../src/core/log'
import { channelKinds } from '../../src/features/notifications/channels'
import { channelAt, logOf, openToLocal, told } from '../support/channels'
import { channelDoubles, stopMails, type ChannelUnderTest } from '../support/channel-doubles'
import { receiver, stopReceivers } from '../support/receiver'
import { world, type World } from '../support/world'

afterAll(() => {
  stopReceivers()
  stopMails()
})

const second = 1_000
// Text that means something in each of the forms that messages take.
const awkward = 'shop & <b>"blog"</b> \\ {{secret.key}} $NAME_JSON *down* <!channel> @everyone'

describe.each(channelKinds.map(one => one.kind))('the kind %s', kind => {
  const ready = async (more: object = {}): Promise<{ w: World; double: ChannelUnderTest; channel: any; lines: string[] }> => {
    const w = await openToLocal(await world())
    const lines: string[] = []
    w.hub.log = openLog('debug', { write: (line: string) => void lines.push(line) })
    const double = await channelDoubles[kind]!()
    const channel = await channelAt(w, '', { kind, settings: double.settings, ...more })
    return { w, double, channel, lines }
  }
  const read = async (w: World, id: string) => (await w.acme.call('GET', `/v1/notification-channels/${id}`)).body

  test('describes its settings, and those that it calls secret or destination are among them', async () => {
    const { settings, secrets, destination } = channelKinds.find(one => one.kind === kind)!
    expect((settings as any).additionalProperties).toBe(false)
    for (const path of [...secrets, ...destination]) expect(Object.keys(settings.properties)).toContain(path.split('/')[0]!)
    for (const schema of Object.values(settings.properties)) expect(schema.description).toMatch(/\.$/)
  })

  test('tells of what opened and what resolved, and its secrets are in no answer, audit entry or log line', async () => {
    const { w, double, channel, lines } = await ready({ group_seconds: 0 })
    const before = await w.acme.call('GET', `/v1/notification-channels/${channel.id}`)
    await told(w)
    await w.pass(2 * second)
    await told(w, { state: 'recovery', severity: 'info', title: 'shop.example.com is up', text: 'It was down for 5 min.' })
    await w.pass(2 * second)
    expect(double.arrived().map(one => one.title)).toEqual(['shop.example.com is down', 'shop.example.com is up'])
    const log = await w.acme.call('GET', `/v1/notifications?channel_id=${channel.id}`)
    expect(log.body.data.map((one: any) => [one.status, one.said])).toEqual([
      ['sent', double.said],
      ['sent', double.said],
    ])
    const audit = await w.acme.call('GET', '/v1/audit-events?limit=100')
    expect(audit.text).toContain('notification.channel.create')
    for (const shown of [before.text, log.text, audit.text, lines.join('\n')])
      for (const secret of double.secrets) expect(shown).not.toContain(secret)
    if (double.secrets.length > 0) expect(before.body.secrets_set).not.toBeEmpty()
  })

  test('sends a test at once, and tells what came of it', async () => {
    const { w, double, channel } = await ready({ active: false })
    await w.audited()
    const test = () => w.acme.call('POST', `/v1/notification-channels/${channel.id}/test`)
    const well = await test()
    expect([well.status, well.body]).toEqual([
      200,
      expect.objectContaining({ kind: 'test', status: 'sent', said: double.said, channel_id: channel.id }),
    ])
    expect(double.arrived().at(-1)!.title).toContain('Test of the channel')
    double.busy()
    expect((await test()).body).toMatchObject({ status: 'failed', said: null, last_error: { failure: 'passing' } })
    double.go()
    const gone = await test()
    expect(gone.body).toMatchObject({ status: 'failed', last_error: { failure: 'gone' } })
    for (const secret of double.secrets) expect(gone.text).not.toContain(secret)
    expect(await w.audited()).toEqual(Array(3).fill('notification.channel.test'))
    // A test tells of a channel, and takes it out of service in no case.
    expect(await read(w, channel.id)).toMatchObject({ status: 'enabled', failing: false })
  })

  test('tries again what is busy, and not before it is asked to', async () => {
    const { w, double, channel } = await ready()
    double.busy()
    await told(w)
    await w.pass(2 * second)
    const tries = async () => (await w.acme.call('GET', `/v1/notifications?channel_id=${channel.id}`)).body.data[0].attempt_count
    expect(await tries()).toBe(1)
    expect(await read(w, channel.id)).toMatchObject({ failing: true, status: 'enabled', last_error: { failure: 'passing' } })
    double.recover()
    if (double.askedMs !== null) {
      await w.pass(double.askedMs - 2 * second)
      expect(await tries()).toBe(1)
    }
    await w.pass(15 * second)
    expect(double.arrived().at(-1)!.title).toBe('shop.example.com is down')
    expect(await logOf(w, channel.id)).toEqual(['incident.opened sent'])
  })

  test('gives up a message that is refused, and stays in service', async () => {
    const { w, double, channel } = await ready()
    // A mail server says no to people, and not to messages.
    if (kind === 'email') return
    double.refuse()
    await told(w)
    await w.pass(2 * second)
    expect(await logOf(w, channel.id)).toEqual(['incident.opened failed refused'])
    expect(await read(w, channel.id)).toMatchObject({ status: 'enabled', last_error: { failure: 'refused' } })
  })

  test('is disabled when the other side says that it is gone', async () => {
    const { w, double, channel } = await ready()
    double.go()
    await told(w)
    for (let i = 0; i < 4; i++) await w.pass(40 * second)
    expect(await read(w, channel.id)).toMatchObject({ status: 'disabled', disabled_reason: expect.any(String) })
    const [notice] = (await w.acme.call('GET', '/v1/notices?kind=notification_channel.disabled')).body.data
    expect(notice.resource.id).toBe(channel.id)
  })

  test('writes names as they are, whatever they hold, and as little as the other side takes', async () => {
    const { w, double } = await ready()
    await told(w, {
      title: awkward,
      text: awkward,
      facts: Array.from({ length: 60 }, (_, n) => [`fact ${n}`, 'é'.repeat(900)] as const),
    })
    await w.pass(2 * second)
    const [one] = double.arrived()
    for (const secret of double.secrets.filter(() => kind !== 'webhook')) expect(one!.title).not.toContain(secret)
    // What Slack reads commands in; a header shows what stands there.
    if (kind === 'slack') expect(one!.whole).not.toMatch(/"mrkdwn","text":"[^"]*<!/)
    if (kind === 'telegram') expect(one!.whole).toContain('&lt;b&gt;')
    if (kind === 'discord') expect(one!.whole).toContain('"allowed_mentions":{"parse":[]}')
    if (kind === 'webhook') expect(one!.title).toBe(awkward)
    expect(one!.whole.length).toBeLessThan(300_000)
  })
})

test('a Telegram group that became a supergroup is followed to its new number', async () => {
  const w = await openToLocal(await world())
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
  expect(body).toMatchObject({ status: 'sent', said: 'Message 7 The chat has a new number: -1002.' })
  expect(double.received.map(one => JSON.parse(one.body).chat_id)).toEqual(['-100', '-1002'])
})

test('what a server repeats of a secret address or header is shown to nobody', async () => {
  const w = await openToLocal(await world())
  const double = receiver()
  double.answer = ({ path, headers }) =>
    new Response(`Cannot POST ${path} with ${headers.get('authorization')?.slice(7)}`, { status: 400 })
  const said = async (kind: string, settings: object) => {
    const { id } = await channelAt(w, '', { kind, settings })
    return (await w.acme.call('POST', `/v1/notification-channels/${id}/test`)).text
  }
  expect(await said('slack', { url: `${double.url}/services/T0AB1/very-secret-of-slack` })).not.toContain('very-secret')
  const headers = { authorization: 'Bearer very-secret-of-webhook' }
  expect(await said('webhook', { url: double.url, headers })).not.toContain('very-secret')
  double.answer = ({ headers: all }) => new Response(`${'x'.repeat(190)}${all.get('authorization')}`, { status: 400 })
  expect(await said('webhook', { url: double.url, headers })).not.toContain('Bearer ver')
})

test('a header of a webhook takes whatever a name holds', async () => {
  const w = await openToLocal(await world())
  const double = receiver()
  const headers = { 'x-title': '{{message.title}}' }
  const { id } = await channelAt(w, '', { settings: { url: double.url, headers } })
  await told(w, { title: 'Café ☕ Ω\u2028is down' })
  await w.pass(2 * second)
  expect(await logOf(w, id)).toEqual(['incident.opened sent'])
  expect(Buffer.from(double.received[0]!.headers.get('x-title')!, 'latin1').toString('utf8')).toContain('Café ☕ Ω')
})

test('Discord is sent no Markdown, and no more than it takes', async () => {
  const w = await openToLocal(await world())
  const double = receiver()
  await channelAt(w, '', { kind: 'discord', settings: { url: double.url } })
  await told(w, {
    title: '*.example.com and my_name_ are down',
    text: '[all is well](https://evil.example/a_b_)',
    facts: Array.from({ length: 30 }, (_, n) => [`fact ${n}`, 'é'.repeat(900)] as const),
    acknowledgeLink: `https://hub.example.com/${'a'.repeat(600)}`,
  })
  await w.pass(2 * second)
  const [embed] = JSON.parse(double.received[0]!.body).embeds
  expect(embed.title).toBe('\\*.example.com and my_name\\_ are down')
  expect(embed.description).toBe('\\[all is well\\](https://evil.example/a_b_)')
  const texts: string[] = [embed.title, embed.description, ...embed.fields.flatMap((one: any) => [one.name, one.value])]
  expect(texts.reduce((sum, one) => sum + one.length, 0)).toBeLessThanOrEqual(6_000)
  expect(embed.fields.at(-1).name).toBe('Acknowledge')
})

test('a channel obeys the network policy of its workspace', async () => {
  const w = await world()
  const double = receiver()
  for (const [kind, settings] of [
    ['slack', { url: double.url }],
    ['email', { to: ['ada@example.com'], from: 'a@example.com', server: { host: '127.0.0.1', port: 25, tls: 'none' } }],
  ] as const) {
    const made = await w.rival.call('POST', '/v1/notification-channels', { kind, name: kind, settings })
    const { body } = await w.rival.call('POST', `/v1/notification-channels/${made.body.id}/test`)
    expect([kind, body.status, body.last_error.failure]).toEqual([kind, 'failed', 'passing'])
    expect(JSON.stringify(body.last_error)).not.toContain('127.0.0.1')
  }
  expect(double.received).toEqual([])
})

test('every kind has a double', () => {
  expect(Object.keys(channelDoubles).sort()).toEqual(channelKinds.map(one => one.kind).sort())
})
