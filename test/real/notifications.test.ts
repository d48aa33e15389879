import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { channelAt, logOf, openToLocal, told } from '../support/channels'
import { mailServers, type MailServers } from '../support/mail-servers'
import { until } from '../support/binary'
import { world, type World } from '../support/world'

let servers: MailServers
beforeAll(async () => {
  servers = await mailServers()
}, 60_000)
afterAll(() => servers.stop())

const second = 1_000
const over = (more: object = {}) => ({
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
const tested = async (w: World, server: object, to = ['ada@example.com']) => {
  const { id } = await channel(w, to, server)
  return (await w.acme.call('POST', `/v1/notification-channels/${id}/test`)).body
}
const ours = async () => openToLocal(await world())
const header = (mail: string, name: string) =>
  new RegExp(`^${name}: ?((?:.*)(?:\n[ \t].*)*)$`, 'im').exec(mail)?.[1]?.replaceAll(/\s+/g, ' ')
/** Mails whose subject holds this. */
const mailsAbout = (subject: string, count: number) =>
  until(`${count} mails about ${subject}`, async () => {
    const found = servers.mails().filter(mail => header(mail, 'Subject')?.includes(subject))
    return found.length >= count ? found : null
  })

describe('mail by OpenSMTPD and Dovecot', () => {
  test('goes over STARTTLS with a login, and what belongs together is threaded', async () => {
    const w = await ours()
    const { id } = await channel(w, ['ada@example.com', 'bob@example.com'], over())
    await told(w, { title: 'shop-one is down', text: 'Größe & <b>' })
    await w.pass(2 * second)
    await told(w, { title: 'shop-one is up', state: 'recovery' })
    await w.pass(2 * second)
    expect(await logOf(w, id)).toEqual(['incident.opened sent', 'incident.resolved sent'])
    // One copy for each who is told.
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
  }, 60_000)

  test('goes over TLS from the start, and over a server without either', async () => {
    const w = await ours()
    const implicit = await tested(w, over({ port: servers.implicitTlsPort, tls: 'implicit' }))
    expect(implicit).toMatchObject({ status: 'sent', said: expect.stringContaining('Message accepted for delivery') })
    const plain = { host: 'localhost', port: servers.plainPort, tls: 'offered' }
    expect(await tested(w, plain)).toMatchObject({ status: 'sent' })
    // Whom it does not know is named, and the others have theirs.
    expect(await tested(w, plain, ['ada@example.com', 'zed@example.com'])).toMatchObject({
      status: 'sent',
      said: expect.stringMatching(/1 recipient: zed@example\.com/),
    })
  }, 60_000)

  test('goes over the server of the installation', async () => {
    const w = await world({
      BAILIWICK_SMTP_URL: `smtp://127.0.0.1:${servers.plainPort}?tls=none`,
      BAILIWICK_MAIL_FROM: 'Bailiwick <hub@example.com>',
    })
    await channelAt(w, '', { kind: 'email', settings: { to: ['bob@example.com'] } })
    await told(w, { title: 'shop-two is down' })
    await w.pass(2 * second)
    const [mail] = await mailsAbout('shop-two', 1)
    expect(header(mail!, 'From')).toBe('Bailiwick <hub@example.com>')
    expect(header(mail!, 'To')).toBe('bob@example.com')
  }, 60_000)

  test('is not sent where the certificate, the login or the way is wrong, and the reason is told', async () => {
    const w = await ours()
    const detail = async (server: object) => {
      const { status, last_error } = await tested(w, server)
      expect(status).toBe('failed')
      return [last_error.failure, last_error.detail]
    }
    expect(await detail(over({ password: 'wrong' }))).toEqual(['gone', expect.stringContaining('535 5.7.8')])
    expect(await detail(over({ ca: undefined }))).toEqual(['passing', expect.stringContaining('certificate')])
    expect(await detail(over({ host: '127.0.0.1' }))).toEqual(['passing', expect.stringContaining('certificate')])
    expect(await detail(over({ port: servers.plainPort }))).toEqual(['passing', 'The mail server does not offer STARTTLS.'])
    expect(await detail(over({ port: servers.plainPort, tls: 'implicit' }))).toEqual(['passing', expect.stringContaining('TLS')])
    expect(servers.mails().join('\n')).not.toContain('wrong')
  }, 60_000)

  test('to nobody whom the server knows disables the channel, and a greylist does not', async () => {
    const w = await ours()
    const plain = { host: 'localhost', port: servers.plainPort, tls: 'none' }
    const unknown = await channel(w, ['zed@example.com'], plain)
    const late = await channel(w, ['late@example.com'], plain)
    await told(w, {}, [unknown.id, late.id])
    for (const wait of [2, 12, 35, 1]) await w.pass(wait * second)
    const read = async (id: string) => (await w.acme.call('GET', `/v1/notification-channels/${id}`)).body
    expect(await read(unknown.id)).toMatchObject({
      status: 'disabled',
      disabled_reason: expect.stringContaining('550 Invalid recipient'),
    })
    expect(await read(late.id)).toMatchObject({
      status: 'enabled',
      failing: true,
      last_error: { failure: 'passing', detail: 'The mail server answered 451 4.7.1 Come back later' },
    })
  }, 60_000)
})
