import { describe, expect, test } from 'bun:test'
import { addPerson } from '../support/people'
import { channelAt, allowPrivateNetwork } from '../support/channels'
import { callerWith, world, type World } from '../support/world'

const path = '/v1/notification-channels'
const ntfy = { kind: 'ntfy', name: 'Phone', settings: { topic: 'alerts', token: 'tk_very_secret' } }
const pointers = (response: { status: number; body: any }) => [
  response.status,
  response.body.errors?.map((one: any) => one.pointer),
]

describe('channel kinds', () => {
  test('describe the settings of a form', async () => {
    const { acme } = await world()
    const { data } = (await acme.call('GET', `${path}/kinds`)).body
    expect(data.map((one: any) => one.kind)).toEqual(['email', 'slack', 'discord', 'telegram', 'ntfy', 'webhook'])
    const kind = data.find((one: any) => one.kind === 'ntfy')
    expect(kind).toMatchObject({ title: 'ntfy', secrets: ['token', 'password'], destination: ['server_url', 'username'] })
    expect(kind.settings.required).toEqual(['server_url', 'topic'])
    expect(kind.settings.properties.server_url).toMatchObject({ default: 'https://ntfy.sh' })
  })
})

describe('channels', () => {
  test('are created with defaults and send nothing', async () => {
    const w = await world()
    const created = await w.acme.call('POST', path, ntfy)
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`${path}/${created.body.id}`)
    expect(created.body).toMatchObject({
      kind: 'ntfy',
      name: 'Phone',
      settings: { server_url: 'https://ntfy.sh', topic: 'alerts' },
      secrets_set: ['token'],
      is_default: true,
      topics: ['incidents', 'notices'],
      min_severity: 'info',
      tags: [],
      remind_every_seconds: null,
      max_reminders: 10,
      quiet_hours: null,
      group_seconds: 10,
      active: true,
      status: 'unverified',
      disabled_reason: null,
      failing: false,
      failing_since_at: null,
      last_error: null,
      last_sent_at: null,
      version: 1,
    })
    expect(created.text).not.toContain('very_secret')
    expect(await w.audited()).toEqual(['notification.channel.create'])
    expect((await w.acme.call('GET', `${path}/${created.body.id}`)).body).toEqual(created.body)
    expect((await w.acme.call('GET', '/v1/notifications')).body.data).toEqual([])
    expect((await w.rival.call('GET', `${path}/${created.body.id}`)).status).toBe(404)
    expect((await w.rival.call('POST', path, ntfy)).status).toBe(201)
  })

  test('can’t point to the hub itself', async () => {
    const w = await allowPrivateNetwork(await world())
    w.hub.listeners.push({ address: '::', port: 8484 })
    const to = (url: string) => ({ kind: 'webhook', name: 'Self', settings: { url } })
    const ownUrls = ['http://127.0.0.1:8484/v1/x', 'http://[::1]:8484/', 'http://localhost:8484/{{message.kind}}']
    for (const url of ownUrls) expect(pointers(await w.acme.call('POST', path, to(url)))).toEqual([422, ['#/settings/url']])
    const created = await w.acme.call('POST', path, to('http://127.0.0.1:8485/'))
    expect(created.status).toBe(201)
    const moved = await w.acme.call('PATCH', `${path}/${created.body.id}`, { settings: { url: ownUrls[0] } })
    expect(pointers(moved)).toEqual([422, ['#/settings/url']])
    // Workspaces without access to this machine can't use this to find open ports.
    expect((await w.rival.call('POST', path, to(ownUrls[0]!))).status).toBe(201)
  })

  test('are updated field by field, and secrets are never sent to a new destination', async () => {
    const w = await world()
    const { id } = (await w.acme.call('POST', path, ntfy)).body
    const edit = (body: object, headers = {}) => w.acme.call('PATCH', `${path}/${id}`, body, headers)
    expect((await edit({ min_severity: 'warning', settings: { topic: 'other' } })).body).toMatchObject({
      min_severity: 'warning',
      settings: { topic: 'other', server_url: 'https://ntfy.sh' },
      secrets_set: ['token'],
      version: 2,
    })
    expect(pointers(await edit({ settings: { server_url: 'https://evil.example' } }))).toEqual([422, ['#/settings/token']])
    expect((await edit({ settings: { server_url: 'https://ntfy.example', token: 'tk_other' } })).body.version).toBe(3)
    expect((await edit({ settings: { server_url: 'https://ntfy.sh', token: null } })).body).toMatchObject({
      secrets_set: [],
      version: 4,
    })
    expect((await edit({ min_severity: 'warning' })).body.version).toBe(4)
    expect((await edit({ name: 'x' }, { 'If-Match': '"1"' })).status).toBe(412)
    const audit = await w.acme.call('GET', '/v1/audit-events?limit=100')
    expect(audit.text).not.toContain('very_secret')
    expect(audit.text).not.toContain('tk_other')
  })

  test('have unique names', async () => {
    const w = await world()
    await w.acme.call('POST', path, ntfy)
    const again = await w.acme.call('POST', path, ntfy)
    expect([again.status, again.body.code]).toEqual([409, 'already_exists'])
    const { id } = await channelAt(w, 'https://hooks.example/a', { name: 'Other' })
    expect((await w.acme.call('PATCH', `${path}/${id}`, { name: 'Phone' })).status).toBe(409)
  })

  test('are listed, filtered and deleted', async () => {
    const w = await world()
    const { id } = (await w.acme.call('POST', path, ntfy)).body
    await channelAt(w, 'https://hooks.example/a', { name: 'Hook', active: false })
    const names = async (query: string) =>
      (await w.acme.call('GET', `${path}?sort=name&${query}`)).body.data.map((one: any) => one.name)
    expect(await names('')).toEqual(['Hook', 'Phone'])
    expect(await names('kind=ntfy')).toEqual(['Phone'])
    expect(await names('active=false')).toEqual(['Hook'])
    expect(await names('q=pho')).toEqual(['Phone'])
    await w.audited()
    expect((await w.acme.call('DELETE', `${path}/${id}`)).status).toBe(204)
    expect((await w.acme.call('GET', `${path}/${id}`)).status).toBe(404)
    expect(await w.audited()).toEqual(['notification.channel.delete'])
    expect(await names('')).toEqual(['Hook'])
  })

  test('are limited to 50', async () => {
    const w = await world()
    for (let n = 0; n < 50; n++) await channelAt(w, 'https://hooks.example/a')
    expect((await w.acme.call('POST', path, ntfy)).body.code).toBe('conflict')
  })

  const night = { timezone: 'Europe/Berlin', days: ['mon'], from: '22:00', to: '07:00', except_severity: null }
  const server = { host: 'mail.example.com', tls: 'starttls' }
  const to = ['ada@example.com']
  test.each([
    ['an unknown setting', { settings: { topic: 'a', colour: 'red' } }, '#/settings/colour'],
    ['a topic that looks like a path', { settings: { topic: '../admin' } }, '#/settings/topic'],
    ['both a token and a username', { settings: { topic: 'a', token: 't', username: 'u', password: 'p' } }, '#/settings/token'],
    ['a username without a password', { settings: { topic: 'a', username: 'u' } }, '#/settings/password'],
    ['an invalid time zone', { ...ntfy, quiet_hours: { ...night, timezone: 'Mars/Olympus' } }, '#/quiet_hours/timezone'],
    ['an invalid time', { ...ntfy, quiet_hours: { ...night, from: '24:00' } }, '#/quiet_hours/from'],
    ['quiet hours that never end', { ...ntfy, quiet_hours: { ...night, to: '22:00' } }, '#/quiet_hours/to'],
    ['reminders every second', { ...ntfy, remind_every_seconds: 1 }, '#/remind_every_seconds'],
    ['an unknown topic', { ...ntfy, topics: ['weather'] }, '#/topics/0'],
    ['a URL with credentials', { kind: 'slack', settings: { url: 'https://a:b@hooks.slack.com/x' } }, '#/settings/url'],
    ['a URL that is not HTTP', { kind: 'slack', settings: { url: 'file:///etc/passwd' } }, '#/settings/url'],
    ['an invalid token', { kind: 'telegram', settings: { bot_token: '../x', chat_id: '1' } }, '#/settings/bot_token'],
    [
      'a recipient with a line break',
      { kind: 'email', settings: { to: ['a@example.com\r\nBcc: b@example.com'] } },
      '#/settings/to/0',
    ],
    ['a sender without a server', { kind: 'email', settings: { to, from: 'a@example.com' } }, '#/settings/from'],
    ['a server without a sender', { kind: 'email', settings: { to, server } }, '#/settings/from'],
    [
      'an unencrypted password',
      {
        kind: 'email',
        settings: { to, from: 'a@example.com', server: { ...server, tls: 'none', username: 'u', password: 'p' } },
      },
      '#/settings/server/tls',
    ],
    [
      'an unknown placeholder',
      { kind: 'webhook', settings: { url: 'https://a.example', body: '{{message.titel}}' } },
      '#/settings/body',
    ],
    ['an unknown secret', { kind: 'webhook', settings: { url: 'https://a.example/{{secret.key}}' } }, '#/settings/url'],
    ['a placeholder in the host', { kind: 'webhook', settings: { url: 'https://{{resource.name}}/a' } }, '#/settings/url'],
    [
      'a header with a line break',
      { kind: 'webhook', settings: { url: 'https://a.example', headers: { A: 'b\r\nC: d' } } },
      '#/settings/headers/A',
    ],
    [
      'a GET with a body',
      { kind: 'webhook', settings: { url: 'https://a.example', method: 'GET', body: 'x' } },
      '#/settings/body',
    ],
  ])('reject %s and create nothing', async (_, more, pointer) => {
    const w = await world()
    expect(pointers(await w.acme.call('POST', path, { ...ntfy, ...more }))).toEqual([422, [pointer]])
    expect((await w.acme.call('GET', path)).body.data).toEqual([])
    expect(await w.audited()).toEqual([])
  })

  test('require the write permission, and account.read to receive notices', async () => {
    const w = await world()
    const reader = await w.scoped('monitoring.read')
    expect((await reader.call('POST', path, ntfy)).status).toBe(403)
    const writer = await w.scoped('monitoring.read', 'monitoring.write')
    const refused = await writer.call('POST', path, ntfy)
    expect([refused.status, refused.body.required_permission]).toEqual([403, 'account.read'])
    const created = await writer.call('POST', path, { ...ntfy, topics: ['incidents'] })
    expect(created.status).toBe(201)
    const edit = (body: object) => writer.call('PATCH', `${path}/${created.body.id}`, body)
    expect((await edit({ topics: ['incidents', 'token.leaked'] })).status).toBe(403)
    expect((await edit({ name: 'Other' })).status).toBe(200)
    // Callers who may not read notices can't redirect a channel that receives them.
    await w.acme.call('PATCH', `${path}/${created.body.id}`, { topics: ['notices'] })
    expect((await edit({ name: 'Another' })).status).toBe(200)
    expect((await edit({ settings: { topic: 'mine' } })).status).toBe(403)
  })

  test('can be managed by tokens restricted to them, except for topics and destination', async () => {
    const w = await world()
    const own = await channelAt(w, 'https://hooks.example/a')
    const other = await channelAt(w, 'https://hooks.example/b')
    const { body } = await w.acme.call('POST', '/v1/tokens', { name: 'restricted', mode: 'full', resource_ids: [own.id] })
    const restricted = callerWith(w.app, w.acme.workspaceId, body.token)
    expect((await restricted.call('GET', path)).body.data.map((one: any) => one.id)).toEqual([own.id])
    expect((await restricted.call('GET', `${path}/${other.id}`)).status).toBe(404)
    expect((await restricted.call('PATCH', `${path}/${own.id}`, { active: false })).status).toBe(200)
    for (const edit of [{ topics: ['notices'] }, { settings: { url: 'https://mine.example' } }])
      expect((await restricted.call('PATCH', `${path}/${own.id}`, edit)).body.code).toBe('restricted_token')
  })
})

describe('mail through the server of the installation', () => {
  test('only goes to workspace members, except in the operator’s workspace', async () => {
    const w: World = await world({ BAILIWICK_SMTP_URL: 'smtp://127.0.0.1:9?tls=none', BAILIWICK_MAIL_FROM: 'alerts@example.com' })
    const mailTo = (to: string[], more = {}) => ({ kind: 'email', name: `mail ${to.join()}`, settings: { to, ...more } })
    expect((await w.acme.call('POST', path, mailTo(['anybody@example.org']))).status).toBe(201)
    expect(pointers(await w.rival.call('POST', path, mailTo(['anybody@example.org'])))).toEqual([422, ['#/settings/to/0']])
    await addPerson(w.hub, w.rival.workspaceId, 'member', 'bob@example.com')
    expect((await w.rival.call('POST', path, mailTo(['Bob@example.com']))).status).toBe(201)
    const own = { from: 'a@example.org', server: { host: 'mail.example.org', tls: 'starttls' } }
    expect((await w.rival.call('POST', path, mailTo(['anybody@example.org'], own))).status).toBe(201)
  })
})
