import { passwordResets } from '../../src/features/people/password-resets/tables'
import { expect, test } from 'bun:test'
import { createResetLink } from '../../src/features/people/password-resets/password-resets'
import { pruneSessions } from '../../src/features/people/sign-in/sessions'
import { setDisabled } from '../../src/features/people/users'
import { jobContext, systemActor } from '../../src/core/change'
import { mailDouble } from '../support/mail-double'
import { mailedLink } from '../support/mailed-link'
import { password, person } from '../support/people'
import { world, type World } from '../support/world'

const email = 'ada@example.com'
const fresh = 'another horse battery'
const by = { actor: systemActor('command line'), context: jobContext }
const minute = 60_000

async function withMail(env: Record<string, string> = {}) {
  const double = await mailDouble()
  const w = await world({
    BAILIWICK_SMTP_URL: `smtp://127.0.0.1:${double.port}?tls=none`,
    BAILIWICK_MAIL_FROM: 'Bailiwick <hub@example.com>',
    ...env,
  })
  const { user, call } = await person(w, w.acme.workspaceId, 'viewer', email)
  await w.audited()
  return { w, double, user, call, [Symbol.dispose]: () => double.stop() }
}
const ask = (w: World, given = email, headers: Record<string, string> = {}) =>
  w.anonymous.call('POST', '/v1/password-resets', { email: given }, headers)
const redeem = (w: World, code: string, given = fresh) =>
  w.anonymous.call('POST', '/v1/password-resets/redeem', { code, password: given })
const signIn = (w: World, given: string) => w.anonymous.call('POST', '/v1/sessions', { email, password: given })
const codeIn = (link: string) => link.split('#')[1]!

test('a link is emailed, which sets a new password once and ends all sessions', async () => {
  using it = await withMail()
  const { w, double, call } = it
  const requests = await ask(w, 'ADA@example.com')
  expect([requests.status, requests.body]).toEqual([202, { email, expires_in_seconds: 3600 }])
  await w.settle()
  expect(double.received.map(one => [one.from, one.to])).toEqual([['hub@example.com', [email]]])
  const link = mailedLink(double.received[0]!)
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:8484\/reset#bw_reset_[0-9A-Za-z]{32}$/)
  expect(JSON.stringify(await w.hub.read.select().from(passwordResets))).not.toContain(codeIn(link))
  expect(await w.audited()).toEqual(['account.password_reset.create'])
  const done = await redeem(w, codeIn(link))
  expect([done.status, done.body]).toEqual([200, { email, sign_in_url: 'http://127.0.0.1:8484/login' }])
  expect((await call('GET', '/v1/users/me')).status).toBe(401)
  expect((await signIn(w, password)).status).toBe(401)
  expect((await signIn(w, fresh)).status).toBe(201)
  expect((await redeem(w, codeIn(link))).status).toBe(404)
  expect((await w.audited())[0]).toBe('account.user.set_password')
})

test('the response does not reveal whether an account exists, and unknown addresses get no email', async () => {
  using it = await withMail()
  const { w, double, user } = it
  const comparable = ({ status, body }: any) => ({ status, body: { ...body, email: '' } })
  const known = await ask(w)
  const unknown = await ask(w, 'nobody@example.com')
  expect(comparable(unknown)).toEqual(comparable(known))
  await w.settle()
  expect(double.received).toHaveLength(1)
  await setDisabled(w.hub, user, true, by)
  expect((await ask(w)).status).toBe(202)
  await w.settle()
  expect(double.received).toHaveLength(1)
})

test('unknown, used, replaced and expired codes get the same response', async () => {
  using it = await withMail()
  const { w, double } = it
  await ask(w)
  await w.settle()
  await ask(w)
  await w.settle()
  const [first, second] = double.received.map(one => codeIn(mailedLink(one)))
  expect((await redeem(w, second!)).status).toBe(200)
  await ask(w)
  await w.settle()
  const late = codeIn(mailedLink(double.received[2]!))
  w.clock.advance(60 * minute)
  const bodies = []
  for (const code of [first!, second!, late, 'bw_reset_x', '']) {
    const { status, body } = await redeem(w, code)
    expect(status).toBe(404)
    bodies.push({ ...body, request_id: '', instance: '' })
  }
  expect(new Set(bodies.map(body => JSON.stringify(body))).size).toBe(1)
  await pruneSessions(w.hub)
  expect(await w.hub.read.$count(passwordResets)).toBe(0)
})

test('a password that is too short, or the email address, does not use up the link', async () => {
  using it = await withMail()
  const { w, user } = it
  const code = codeIn(await createResetLink(w.hub, user, by))
  for (const value of ['short', email]) {
    const refused = await redeem(w, code, value)
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, '#/password'])
  }
  expect((await redeem(w, code)).status).toBe(200)
})

test('of two concurrent uses of a link, only one succeeds', async () => {
  using it = await withMail()
  const { w, user } = it
  const code = codeIn(await createResetLink(w.hub, user, by))
  const responses = await Promise.all([redeem(w, code), redeem(w, code)])
  expect(responses.map(one => one.status).sort()).toEqual([200, 404])
})

test('changing the password or email address invalidates earlier links', async () => {
  using it = await withMail()
  const { w, user, call } = it
  const link = async () => codeIn(await createResetLink(w.hub, user, by))
  const first = await link()
  expect((await call('PATCH', '/v1/users/me', { name: 'Ada' })).status).toBe(200)
  expect(await w.hub.read.$count(passwordResets)).toBe(1)
  expect((await call('PATCH', '/v1/users/me', { email: 'new@example.com', password })).status).toBe(200)
  expect((await redeem(w, first)).status).toBe(404)
  const second = await link()
  expect((await call('POST', '/v1/users/me/password', { current: password, new: fresh })).status).toBe(204)
  expect((await redeem(w, second)).status).toBe(404)
})

test('a disabled user cannot reset their password', async () => {
  using it = await withMail()
  const { w, user } = it
  const code = codeIn(await createResetLink(w.hub, user, by))
  await setDisabled(w.hub, user, true, by)
  expect((await redeem(w, code)).status).toBe(404)
})

test('wrong codes count as failed credentials', async () => {
  using it = await withMail({ BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '2' })
  const statuses: number[] = []
  for (let n = 0; n < 3; n++) statuses.push((await redeem(it.w, `bw_reset_${n}`)).status)
  expect(statuses).toEqual([404, 404, 429])
})

test('at most five emails an hour per email address, and ten requests per IP address', async () => {
  using it = await withMail({ BAILIWICK_TRUSTED_PROXIES: '127.0.0.1' })
  const { w, double } = it
  const from = (ip: string) => ask(w, email, { 'x-forwarded-for': ip })
  for (let n = 0; n < 10; n++) expect((await from('192.0.2.7')).status).toBe(202)
  await w.settle()
  expect(double.received).toHaveLength(5)
  const refused = await from('192.0.2.7')
  expect([refused.status, refused.body['violated-policies']]).toEqual([429, ['password-resets']])
  expect((await from('192.0.2.8')).status).toBe(202)
  w.clock.advance(12 * minute)
  await from('192.0.2.9')
  await w.settle()
  expect(double.received).toHaveLength(6)
})

test('a deferred email is retried, and a rejected one is audited', async () => {
  using it = await withMail()
  const { w, double } = it
  double.recipient = () => '450 4.2.1 later'
  await ask(w)
  await w.settle()
  expect(double.received).toHaveLength(0)
  double.recipient = () => null
  await w.advance(minute)
  expect(double.received).toHaveLength(1)
  expect((await redeem(w, codeIn(mailedLink(double.received[0]!)))).status).toBe(200)
  await w.audited()
  double.recipient = () => '550 5.1.1 nobody here'
  await ask(w)
  await w.settle()
  await w.advance(60 * minute)
  expect(await w.audited()).toEqual(['account.password_reset.create failure'])
})

test('without a mail server this is reported up front, and requests are refused', async () => {
  const w = await world()
  const { user } = await person(w, w.acme.workspaceId, 'viewer', email)
  const methods = async () => (await w.anonymous.call('GET', '/v1/sessions/methods')).body.password_reset_by_mail
  expect(await methods()).toBe(false)
  const refused = await ask(w)
  expect([refused.status, refused.body.code]).toEqual([409, 'mail_not_set_up'])
  // The operator creates one on the command line.
  expect((await redeem(w, codeIn(await createResetLink(w.hub, user, by)))).status).toBe(200)
})
