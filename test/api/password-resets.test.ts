import { expect, test } from 'bun:test'
import { makeResetLink } from '../../src/access/password-resets'
import { pruneSessions } from '../../src/access/sessions'
import { passwordResets } from '../../src/access/tables'
import { setDisabled } from '../../src/access/users'
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
  w.stranger.call('POST', '/v1/password-resets', { email: given }, headers)
const redeem = (w: World, code: string, given = fresh) =>
  w.stranger.call('POST', '/v1/password-resets/redeem', { code, password: given })
const signIn = (w: World, given: string) => w.stranger.call('POST', '/v1/sessions', { email, password: given })
const codeIn = (link: string) => link.split('#')[1]!

test('a link is mailed, which sets a new password once and ends every session', async () => {
  using it = await withMail()
  const { w, double, call } = it
  const asked = await ask(w, 'ADA@example.com')
  expect([asked.status, asked.body]).toEqual([202, { email, expires_in_seconds: 3600 }])
  await w.settle()
  expect(double.taken.map(one => [one.from, one.to])).toEqual([['hub@example.com', [email]]])
  const link = mailedLink(double.taken[0]!)
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

test('whether there is such a login is not told, and nobody else is written to', async () => {
  using it = await withMail()
  const { w, double, user } = it
  const told = ({ status, body }: any) => ({ status, body: { ...body, email: '' } })
  const known = await ask(w)
  const unknown = await ask(w, 'nobody@example.com')
  expect(told(unknown)).toEqual(told(known))
  await w.settle()
  expect(double.taken).toHaveLength(1)
  await setDisabled(w.hub, user, true, by)
  expect((await ask(w)).status).toBe(202)
  await w.settle()
  expect(double.taken).toHaveLength(1)
})

test('a code that is unknown, used, withdrawn by another, or over is answered alike', async () => {
  using it = await withMail()
  const { w, double } = it
  await ask(w)
  await w.settle()
  await ask(w)
  await w.settle()
  const [first, second] = double.taken.map(one => codeIn(mailedLink(one)))
  expect((await redeem(w, second!)).status).toBe(200)
  await ask(w)
  await w.settle()
  const late = codeIn(mailedLink(double.taken[2]!))
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

test('a password that is too short, or the e-mail, leaves the link as it is', async () => {
  using it = await withMail()
  const { w, user } = it
  const code = codeIn(await makeResetLink(w.hub, user, by))
  for (const given of ['short', email]) {
    const refused = await redeem(w, code, given)
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, '#/password'])
  }
  expect((await redeem(w, code)).status).toBe(200)
})

test('two who redeem one link at once set one password', async () => {
  using it = await withMail()
  const { w, user } = it
  const code = codeIn(await makeResetLink(w.hub, user, by))
  const answers = await Promise.all([redeem(w, code), redeem(w, code)])
  expect(answers.map(one => one.status).sort()).toEqual([200, 404])
})

test('another password or e-mail withdraws the links before', async () => {
  using it = await withMail()
  const { w, user, call } = it
  const link = async () => codeIn(await makeResetLink(w.hub, user, by))
  const first = await link()
  expect((await call('PATCH', '/v1/users/me', { name: 'Ada' })).status).toBe(200)
  expect(await w.hub.read.$count(passwordResets)).toBe(1)
  expect((await call('PATCH', '/v1/users/me', { email: 'new@example.com', password })).status).toBe(200)
  expect((await redeem(w, first)).status).toBe(404)
  const second = await link()
  expect((await call('POST', '/v1/users/me/password', { current: password, new: fresh })).status).toBe(204)
  expect((await redeem(w, second)).status).toBe(404)
})

test('a disabled user sets none', async () => {
  using it = await withMail()
  const { w, user } = it
  const code = codeIn(await makeResetLink(w.hub, user, by))
  await setDisabled(w.hub, user, true, by)
  expect((await redeem(w, code)).status).toBe(404)
})

test('wrong codes count as wrong credentials', async () => {
  using it = await withMail({ BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '2' })
  const statuses: number[] = []
  for (let n = 0; n < 3; n++) statuses.push((await redeem(it.w, `bw_reset_${n}`)).status)
  expect(statuses).toEqual([404, 404, 429])
})

test('a login gets five mails an hour, and an address asks ten times', async () => {
  using it = await withMail({ BAILIWICK_TRUSTED_PROXIES: '127.0.0.1' })
  const { w, double } = it
  const from = (ip: string) => ask(w, email, { 'x-forwarded-for': ip })
  for (let n = 0; n < 10; n++) expect((await from('192.0.2.7')).status).toBe(202)
  await w.settle()
  expect(double.taken).toHaveLength(5)
  const refused = await from('192.0.2.7')
  expect([refused.status, refused.body['violated-policies']]).toEqual([429, ['password-resets']])
  expect((await from('192.0.2.8')).status).toBe(202)
  w.clock.advance(12 * minute)
  await from('192.0.2.9')
  await w.settle()
  expect(double.taken).toHaveLength(6)
})

test('a mail that is put off is tried again, and one that is refused is in the log', async () => {
  using it = await withMail()
  const { w, double } = it
  double.recipient = () => '450 4.2.1 later'
  await ask(w)
  await w.settle()
  expect(double.taken).toHaveLength(0)
  double.recipient = () => null
  await w.pass(minute)
  expect(double.taken).toHaveLength(1)
  expect((await redeem(w, codeIn(mailedLink(double.taken[0]!)))).status).toBe(200)
  await w.audited()
  double.recipient = () => '550 5.1.1 nobody here'
  await ask(w)
  await w.settle()
  await w.pass(60 * minute)
  expect(await w.audited()).toEqual(['account.password_reset.create failure'])
})

test('without a mail server that is told beforehand, and nothing is taken', async () => {
  const w = await world()
  const { user } = await person(w, w.acme.workspaceId, 'viewer', email)
  const methods = async () => (await w.stranger.call('GET', '/v1/sessions/methods')).body.password_reset_by_mail
  expect(await methods()).toBe(false)
  const refused = await ask(w)
  expect([refused.status, refused.body.code]).toEqual([409, 'mail_not_set_up'])
  // The operator makes one by hand.
  expect((await redeem(w, codeIn(await makeResetLink(w.hub, user, by)))).status).toBe(200)
})
