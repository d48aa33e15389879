import { expect, test } from 'bun:test'
import { mailDouble } from '../support/mail-double'
import { mailedLink } from '../support/mailed-link'
import { password, person } from '../support/people'
import { world } from '../support/world'

const email = 'grace@example.com'
const minute = 60_000

async function withMail() {
  const double = await mailDouble()
  const w = await world({
    BAILIWICK_SMTP_URL: `smtp://127.0.0.1:${double.port}?tls=none`,
    BAILIWICK_MAIL_FROM: 'hub@example.com',
  })
  const invite = async (input: object = {}) => (await w.acme.call('POST', '/v1/invitations', { email, ...input })).body
  const read = async (id: string) => (await w.acme.call('GET', `/v1/invitations/${id}`)).body
  return { w, double, invite, read, [Symbol.dispose]: () => double.stop() }
}

test('an invitation is emailed with its link if the installation has a mail server', async () => {
  using it = await withMail()
  const { w, double, invite, read } = it
  const created = await invite()
  expect(created).toMatchObject({ sent_to: email, mailed_at: null, mail_error: null })
  await w.settle()
  expect(double.received.map(one => one.to)).toEqual([[email]])
  expect(double.received[0]!.text).toContain('Subject: Invitation to join default on Bailiwick')
  expect(mailedLink(double.received[0]!)).toBe(created.link)
  expect(await read(created.id)).toMatchObject({ sent_to: email, mailed_at: '2026-11-21T10:00:00.000Z', mail_error: null })
  const accepted = await w.anonymous.call('POST', '/v1/invitations/accept', { code: created.code, name: 'Grace', password })
  expect(accepted.status).toBe(201)
})

test('the email names the inviting person, but not a token', async () => {
  using it = await withMail()
  const { w, double } = it
  const { call } = await person(w, w.acme.workspaceId, 'owner', 'ada@example.com')
  await call('POST', '/v1/invitations', { email })
  await w.settle()
  expect(double.received[0]!.text.replaceAll(/=\r?\n/g, '')).toContain('ada invited you')
})

test('no email is sent if send is false', async () => {
  using it = await withMail()
  const { w, double, invite } = it
  expect(await invite({ send: false })).toMatchObject({ sent_to: null, mailed_at: null })
  await w.settle()
  expect(double.received).toEqual([])
})

test('a renewal emails the new link, and revoked invitations are not emailed', async () => {
  using it = await withMail()
  const { w, double, invite } = it
  double.recipient = () => '450 4.2.1 later'
  const created = await invite()
  await w.settle()
  const renewed = (await w.acme.call('POST', `/v1/invitations/${created.id}/renew`, {})).body
  expect(renewed.sent_to).toBe(email)
  await w.settle()
  double.recipient = () => null
  await w.advance(minute)
  expect(double.received.map(mailedLink)).toEqual([renewed.link])
  await w.acme.call('DELETE', `/v1/invitations/${created.id}`)
  double.recipient = () => '450 4.2.1 later'
  const second = await invite()
  await w.settle()
  await w.acme.call('DELETE', `/v1/invitations/${second.id}`)
  double.recipient = () => null
  await w.advance(minute)
  expect(double.received).toHaveLength(1)
})

test('mail errors are shown: immediately if the email is rejected, otherwise after four attempts', async () => {
  using it = await withMail()
  const { w, double, invite, read } = it
  double.recipient = () => '550 5.1.1 nobody here'
  const refused = await invite()
  await w.settle()
  expect(await read(refused.id)).toMatchObject({ mailed_at: null, mail_error: expect.stringContaining('550 5.1.1 nobody here') })
  // The operator sees the result of the last email.
  const installation = async () => (await w.acme.call('GET', '/v1/installation')).body
  const { mail, problems } = await installation()
  expect(mail).toMatchObject({
    configured: true,
    server: '127.0.0.1',
    from: 'hub@example.com',
    last_error: expect.stringContaining('550'),
  })
  expect(problems).toMatchObject([{ subject: 'mail', severity: 'warning', text: expect.stringContaining('nobody here') }])
  await w.acme.call('DELETE', `/v1/invitations/${refused.id}`)
  double.recipient = () => '450 4.2.1 later'
  const late = await invite()
  await w.settle()
  expect((await read(late.id)).mail_error).toBeNull()
  for (const minutes of [1, 5, 15]) await w.advance(minutes * minute)
  expect((await read(late.id)).mail_error).toContain('450 4.2.1 later')
})

test('without a mail server no email is sent, and send=true is refused', async () => {
  const w = await world()
  const refused = await w.acme.call('POST', '/v1/invitations', { email, send: true })
  expect([refused.status, refused.body.code]).toEqual([409, 'mail_not_set_up'])
  const created = await w.acme.call('POST', '/v1/invitations', { email })
  expect([created.status, created.body.sent_to]).toEqual([201, null])
})
