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
  const invite = async (given: object = {}) => (await w.acme.call('POST', '/v1/invitations', { email, ...given })).body
  const read = async (id: string) => (await w.acme.call('GET', `/v1/invitations/${id}`)).body
  return { w, double, invite, read, [Symbol.dispose]: () => double.stop() }
}

test('an invitation is mailed with its link, where the installation has a mail server', async () => {
  using it = await withMail()
  const { w, double, invite, read } = it
  const made = await invite()
  expect(made).toMatchObject({ sent_to: email, mailed_at: null, mail_error: null })
  await w.settle()
  expect(double.taken.map(one => one.to)).toEqual([[email]])
  expect(double.taken[0]!.text).toContain('Subject: Invitation to default')
  expect(mailedLink(double.taken[0]!)).toBe(made.link)
  expect(await read(made.id)).toMatchObject({ sent_to: email, mailed_at: '2026-11-21T10:00:00.000Z', mail_error: null })
  const accepted = await w.stranger.call('POST', '/v1/invitations/accept', { code: made.code, name: 'Grace', password })
  expect(accepted.status).toBe(201)
})

test('it names who invites, if that is a person', async () => {
  using it = await withMail()
  const { w, double } = it
  const { call } = await person(w, w.acme.workspaceId, 'owner', 'ada@example.com')
  await call('POST', '/v1/invitations', { email })
  await w.settle()
  expect(double.taken[0]!.text.replaceAll(/=\r?\n/g, '')).toContain('ada invites you')
})

test('nothing is mailed where that is not wanted', async () => {
  using it = await withMail()
  const { w, double, invite } = it
  expect(await invite({ send: false })).toMatchObject({ sent_to: null, mailed_at: null })
  await w.settle()
  expect(double.taken).toEqual([])
})

test('a renewal mails the new link, and what was withdrawn meanwhile goes out no more', async () => {
  using it = await withMail()
  const { w, double, invite } = it
  double.recipient = () => '450 4.2.1 later'
  const made = await invite()
  await w.settle()
  const renewed = (await w.acme.call('POST', `/v1/invitations/${made.id}/renew`, {})).body
  expect(renewed.sent_to).toBe(email)
  await w.settle()
  double.recipient = () => null
  await w.pass(minute)
  expect(double.taken.map(mailedLink)).toEqual([renewed.link])
  await w.acme.call('DELETE', `/v1/invitations/${made.id}`)
  double.recipient = () => '450 4.2.1 later'
  const second = await invite()
  await w.settle()
  await w.acme.call('DELETE', `/v1/invitations/${second.id}`)
  double.recipient = () => null
  await w.pass(minute)
  expect(double.taken).toHaveLength(1)
})

test('why a mail was not taken is shown, at once where it is refused, and else after four tries', async () => {
  using it = await withMail()
  const { w, double, invite, read } = it
  double.recipient = () => '550 5.1.1 nobody here'
  const refused = await invite()
  await w.settle()
  expect(await read(refused.id)).toMatchObject({ mailed_at: null, mail_error: expect.stringContaining('550 5.1.1 nobody here') })
  await w.acme.call('DELETE', `/v1/invitations/${refused.id}`)
  double.recipient = () => '450 4.2.1 later'
  const late = await invite()
  await w.settle()
  expect((await read(late.id)).mail_error).toBeNull()
  for (const minutes of [1, 5, 15]) await w.pass(minutes * minute)
  expect((await read(late.id)).mail_error).toContain('450 4.2.1 later')
})

test('without a mail server nothing is mailed, and asking for it is refused', async () => {
  const w = await world()
  const refused = await w.acme.call('POST', '/v1/invitations', { email, send: true })
  expect([refused.status, refused.body.code]).toEqual([409, 'mail_not_set_up'])
  const made = await w.acme.call('POST', '/v1/invitations', { email })
  expect([made.status, made.body.sent_to]).toEqual([201, null])
})
