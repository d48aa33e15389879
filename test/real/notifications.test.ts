import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { channelAt, logOf, allowPrivateNetwork, sendMessage } from '../support/channels'
import { mailServers, type MailServers } from '../support/mail-servers'
import { until } from '../support/binary'
import { world, type World } from '../support/world'

let servers: MailServers
beforeAll(async () => {
  servers = await mailServers()
}, 180_000)
afterAll(() => servers.stop())

const second = 1_000
const serverSettings = (more: object = {}) => ({
  host: 'localhost',
  port: servers.startTlsPort,
  tls: 'starttls',
  username: 'alerts',
  password: servers.password,
  ca: servers.ca,
  ...more,
})
const channel = (w: World, to: string[], server: object) =>
  channelAt(w, '', { kind: 'email', group_seconds: 0, settings: { to, from: 'alerts@example.com', server } })
const testMessage = async (w: World, server: object, to = ['ada@example.com']) => {
  const { id } = await channel(w, to, server)
  return (await w.acme.call('POST', `/v1/notification-channels/${id}/test`)).body
}
const localWorld = async () => allowPrivateNetwork(await world())
const header = (mail: string, name: string) =>
  new RegExp(`^${name}: ?((?:.*)(?:\n[ \t].*)*)$`, 'im').exec(mail)?.[1]?.replaceAll(/\s+/g, ' ')
/** Waits for mails whose subject contains a text. */
const mailsAbout = (subject: string, count: number) =>
  until(`${count} mails about ${subject}`, async () => {
    const found = servers.mails().filter(mail => header(mail, 'Subject')?.includes(subject))
    return found.length >= count ? found : null
  })

describe('mail through OpenSMTPD and Dovecot', () => {
  test('uses STARTTLS with authentication, and threads related mails', async () => {
    const w = await localWorld()
    const { id } = await channel(w, ['ada@example.com', 'bob@example.com'], serverSettings())
    await sendMessage(w, { title: 'shop-one is down', text: 'Größe & <b>' })
    await w.advance(2 * second)
    await sendMessage(w, { title: 'shop-one is up', state: 'recovery' })
    await w.advance(2 * second)
    expect(await logOf(w, id)).toEqual(['incident.opened sent', 'incident.resolved sent'])
    // One copy per recipient.
    const mails = await mailsAbout('shop-one', 4)
    const [first, second_] = ['shop-one is down', 'shop-one is up'].map(subject =>
      mails.find(mail => header(mail, 'Subject') === subject)!,
    )
    expect(header(first!, 'From')).toBe('alerts@example.com')
    expect(header(first!, 'Auto-Submitted')).toBe('auto-generated')
    expect(header(first!, 'References')).toBeUndefined()
    expect(header(second_!, 'References')).toBe(header(first!, 'Message-ID'))
    expect(header(second_!, 'In-Reply-To')).toBe(header(first!, 'Message-ID'))
    expect(header(second_!, 'Message-ID')).not.toBe(header(first!, 'Message-ID'))
    expect(header(first!, 'Content-Type')).toStartWith('multipart/alternative')
    expect(first!).toContain('Gr=C3=B6=C3=9Fe & <b>')
    expect(first!.replaceAll('=\n', '')).toContain('Gr=C3=B6=C3=9Fe &amp; &lt;b&gt;')
  }, 180_000)

  test('uses implicit TLS, or a server without TLS and authentication', async () => {
    const w = await localWorld()
    const implicit = await testMessage(w, serverSettings({ port: servers.implicitTlsPort, tls: 'implicit' }))
    expect(implicit).toMatchObject({ status: 'sent', response: expect.stringContaining('Message accepted for delivery') })
    const plain = { host: 'localhost', port: servers.plainPort, tls: 'opportunistic' }
    expect(await testMessage(w, plain)).toMatchObject({ status: 'sent' })
    // Unknown recipients are listed; the others get the mail.
    expect(await testMessage(w, plain, ['ada@example.com', 'zed@example.com'])).toMatchObject({
      status: 'sent',
      response: expect.stringMatching(/1 recipient: zed@example\.com/),
    })
  }, 180_000)

  test('uses the server of the installation', async () => {
    const w = await world({
      BAILIWICK_SMTP_URL: `smtp://127.0.0.1:${servers.plainPort}?tls=none`,
      BAILIWICK_MAIL_FROM: 'Bailiwick <hub@example.com>',
    })
    await channelAt(w, '', { kind: 'email', settings: { to: ['bob@example.com'] } })
    await sendMessage(w, { title: 'shop-two is down' })
    await w.advance(2 * second)
    const [mail] = await mailsAbout('shop-two', 1)
    expect(header(mail!, 'From')).toBe('Bailiwick <hub@example.com>')
    expect(header(mail!, 'To')).toBe('bob@example.com')
  }, 180_000)

  test('fails with a reason if the certificate, the credentials or the TLS mode are wrong', async () => {
    const w = await localWorld()
    const detail = async (server: object) => {
      const { status, last_error } = await testMessage(w, server)
      expect(status).toBe('failed')
      return [last_error.code, last_error.detail]
    }
    expect(await detail(serverSettings({ password: 'wrong' }))).toEqual(['gone', expect.stringContaining('535 5.7.8')])
    expect(await detail(serverSettings({ ca: undefined }))).toEqual(['temporary', expect.stringContaining('certificate')])
    expect(await detail(serverSettings({ host: '127.0.0.1' }))).toEqual(['temporary', expect.stringContaining('certificate')])
    expect(await detail(serverSettings({ port: servers.plainPort }))).toEqual([
      'temporary',
      'The mail server does not offer STARTTLS.',
    ])
    expect(await detail(serverSettings({ port: servers.plainPort, tls: 'implicit' }))).toEqual([
      'temporary',
      expect.stringContaining('TLS'),
    ])
    expect(servers.mails().join('\n')).not.toContain('wrong')
  }, 180_000)

  test('disables the channel if all recipients are unknown, but not for greylisting', async () => {
    const w = await localWorld()
    const plain = { host: 'localhost', port: servers.plainPort, tls: 'none' }
    const unknown = await channel(w, ['zed@example.com'], plain)
    const late = await channel(w, ['late@example.com'], plain)
    await sendMessage(w, {}, [unknown.id, late.id])
    for (const wait of [2, 12, 35, 1]) await w.advance(wait * second)
    const read = async (id: string) => (await w.acme.call('GET', `/v1/notification-channels/${id}`)).body
    expect(await read(unknown.id)).toMatchObject({
      status: 'disabled',
      disabled_reason: expect.stringContaining('550 Invalid recipient'),
    })
    expect(await read(late.id)).toMatchObject({
      status: 'unverified',
      failing: true,
      last_error: { code: 'temporary', detail: 'The mail server responded: 451 4.7.1 Come back later' },
    })
  }, 180_000)
})
