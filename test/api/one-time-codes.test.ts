import { expect, test } from 'bun:test'
import { resetFactors } from '../../src/access/reset-factors'
import { oneTimeCodes, recoveryCodes } from '../../src/access/tables'
import { jobContext, systemActor } from '../../src/core/change'
import { codeAt } from '../support/one-time-code'
import { browser, cookieOf, password, person } from '../support/people'
import { world } from '../support/world'

const half = 30_000
const email = 'ada@example.com'
const begin = '/v1/users/me/one-time-codes'

test('the codes here are those of the standard', () => {
  // RFC 6238 appendix B, the last six of its eight digits.
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  expect([59, 1_111_111_109, 20_000_000_000].map(at => codeAt(secret, at * 1000))).toEqual(['287082', '081804', '353130'])
})

async function ada(env: Record<string, string> = {}) {
  const w = await world(env)
  const { user, call } = await person(w, w.acme.workspaceId, 'viewer', email)
  const codeOf = (secret: string, later = 0) => codeAt(secret, w.clock.now() + later)
  const signIn = (given: object = {}) => w.stranger.call('POST', '/v1/sessions', { email, password, ...given })
  await w.audited()
  return { w, user, call, codeOf, signIn }
}

async function withCodes(env: Record<string, string> = {}) {
  const it = await ada(env)
  const { secret } = (await it.call('POST', begin, { password })).body
  const confirmed = await it.call('POST', `${begin}/confirm`, { code: it.codeOf(secret) })
  expect(confirmed.status).toBe(200)
  it.w.clock.advance(3 * half)
  await it.w.audited()
  return { ...it, secret: secret as string, recovery: confirmed.body.recovery_codes as string[] }
}

test('one-time codes are on once the first code is sent, and ten recovery codes are told', async () => {
  const { w, call, codeOf, signIn } = await ada()
  const begun = await call('POST', begin, { password })
  expect(begun.status).toBe(201)
  expect(begun.body.secret).toMatch(/^[A-Z2-7]{32}$/)
  const uri = new URL(begun.body.uri)
  expect([uri.protocol, uri.host, uri.searchParams.get('secret')]).toEqual(['otpauth:', 'totp', begun.body.secret])
  expect(Object.fromEntries(uri.searchParams)).toMatchObject({ algorithm: 'SHA1', digits: '6', period: '30' })
  // Not before they are confirmed.
  expect((await signIn()).status).toBe(201)
  const wrong = await call('POST', `${begin}/confirm`, { code: codeOf(begun.body.secret, 10 * half) })
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, '#/code'])
  const confirmed = await call('POST', `${begin}/confirm`, { code: codeOf(begun.body.secret) })
  expect(new Set(confirmed.body.recovery_codes).size).toBe(10)
  for (const code of confirmed.body.recovery_codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/)
  expect((await call('GET', '/v1/users/me')).body.second_factor).toMatchObject({ one_time_codes: true, recovery_codes_left: 10 })
  const stored = JSON.stringify([await w.hub.read.select().from(oneTimeCodes), await w.hub.read.select().from(recoveryCodes)])
  for (const secret of [begun.body.secret, ...confirmed.body.recovery_codes]) {
    expect(stored).not.toContain(secret)
    expect(stored).not.toContain(secret.replace('-', ''))
  }
  expect(await w.audited()).toEqual(['account.one_time_codes.begin', 'account.session.create', 'account.one_time_codes.enable'])
})

test('the right password alone is told what is missing, and a wrong one is told nothing', async () => {
  const { w, signIn, codeOf, secret } = await withCodes()
  const missing = await signIn()
  expect([missing.status, missing.body.code, missing.body.methods]).toEqual([
    401,
    'second_factor_required',
    ['one_time_code', 'recovery_code'],
  ])
  expect(missing.headers.get('set-cookie')).toBeNull()
  expect((await signIn({ password: 'something else', code: codeOf(secret) })).body.code).toBe('invalid_login')
  expect((await signIn({ code: codeOf(secret) })).status).toBe(201)
  expect(await w.audited()).toEqual(['account.session.create failure', 'account.session.create'])
})

test('a code works once, and none before it any more', async () => {
  const { w, signIn, codeOf, secret } = await withCodes()
  const code = codeOf(secret)
  const before = codeOf(secret, -half)
  const answers = await Promise.all([signIn({ code }), signIn({ code })])
  expect(answers.map(one => one.status).sort()).toEqual([201, 401])
  expect((await signIn({ code: before })).body.code).toBe('invalid_code')
  expect((await signIn({ code: codeOf(secret, half) })).status).toBe(201)
  w.clock.advance(2 * half)
  expect((await signIn({ code: ` ${codeOf(secret).slice(0, 3)} ${codeOf(secret).slice(3)} ` })).status).toBe(201)
})

test('a code is taken a step early or late, and not two', async () => {
  const { signIn, codeOf, secret } = await withCodes()
  for (const later of [-2 * half, 2 * half])
    expect([later, (await signIn({ code: codeOf(secret, later) })).status]).toEqual([later, 401])
  for (const later of [-half, half]) expect([later, (await signIn({ code: codeOf(secret, later) })).status]).toEqual([later, 201])
})

test('a recovery code works once, however it is typed, and the log tells how many are left', async () => {
  const { w, signIn, recovery } = await withCodes()
  const used = await signIn({ code: recovery[0]!.toUpperCase().replace('-', ' ') })
  expect([used.status, used.body.user.second_factor.recovery_codes_left]).toEqual([201, 9])
  expect((await signIn({ code: recovery[0] })).body.code).toBe('invalid_code')
  expect(await w.audited()).toEqual(['account.recovery_code.use', 'account.session.create', 'account.session.create failure'])
  const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=account.recovery_code.use')).body.data
  expect([entry.reason, entry.actor.name]).toEqual(['Recovery codes that are left: 9.', 'ada'])
})

test('after ten wrong codes none is looked at for a while, the right one neither', async () => {
  const { w, signIn, codeOf, secret } = await withCodes()
  const wrong = codeOf(secret, 1000 * half)
  for (let n = 0; n < 10; n++) expect((await signIn({ code: wrong })).body.code).toBe('invalid_code')
  const refused = await signIn({ code: codeOf(secret) })
  expect([refused.status, refused.body['violated-policies']]).toEqual([429, ['failed-codes']])
  w.clock.advance(15 * 60_000)
  expect((await signIn({ code: codeOf(secret) })).status).toBe(201)
})

test('new recovery codes take the place of those before, and take a password or a code', async () => {
  const { w, call, codeOf, secret, signIn, recovery } = await withCodes()
  const renew = (proof: object) => call('POST', '/v1/users/me/recovery-codes', proof)
  for (const [proof, pointer] of [
    [{}, '#/password'],
    [{ password, code: codeOf(secret) }, '#/password'],
    [{ password: 'something else' }, '#/password'],
    [{ code: '000' }, '#/code'],
  ] as const) {
    const refused = await renew(proof)
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, pointer])
  }
  const renewed = await renew({ code: codeOf(secret) })
  expect([renewed.status, renewed.body.recovery_codes.length]).toEqual([201, 10])
  expect((await signIn({ code: recovery[0] })).status).toBe(401)
  expect((await signIn({ code: renewed.body.recovery_codes[0] })).status).toBe(201)
  expect((await w.audited()).filter(action => action.startsWith('account.recovery_codes'))).toEqual([
    'account.recovery_codes.renew failure',
    'account.recovery_codes.renew failure',
    'account.recovery_codes.renew',
  ])
})

test('turned off, the password alone signs in again', async () => {
  const { w, call, signIn } = await withCodes()
  const remove = (proof: object) => call('POST', `${begin}/remove`, proof)
  expect((await remove({ password: 'something else' })).status).toBe(422)
  expect((await signIn()).status).toBe(401)
  expect((await remove({ password })).status).toBe(204)
  expect((await signIn()).status).toBe(201)
  expect((await remove({ password })).body.code).toBe('conflict')
  expect(await w.hub.read.select().from(recoveryCodes)).toEqual([])
  expect((await w.audited()).filter(action => action.startsWith('account.one_time'))).toEqual([
    'account.one_time_codes.remove failure',
    'account.one_time_codes.remove',
  ])
})

test('a secret waits an hour for its first code, and a second one takes its place', async () => {
  const { w, call, codeOf } = await ada()
  const secret = async () => (await call('POST', begin, { password })).body.secret
  const confirm = (code: string) => call('POST', `${begin}/confirm`, { code })
  expect((await confirm('123456')).body.code).toBe('conflict')
  const [first, second] = [await secret(), await secret()]
  expect((await confirm(codeOf(first))).status).toBe(422)
  w.clock.advance(3_600_001)
  expect((await confirm(codeOf(second))).body.code).toBe('conflict')
  const third = await secret()
  expect((await confirm(codeOf(third))).status).toBe(200)
  expect((await call('POST', begin, { password })).body.code).toBe('conflict')
})

test('a repetition under the same key tells no secret again', async () => {
  const { call } = await ada()
  const key = { 'idempotency-key': 'once' }
  expect((await call('POST', begin, { password }, key)).body.secret).toBeString()
  const again = await call('POST', begin, { password }, key)
  expect([again.status, again.body]).toEqual([201, { secret_shown_before: true }])
})

test('an invitation is accepted by password with a code', async () => {
  const { w, codeOf, secret } = await withCodes()
  const { code } = (await w.rival.call('POST', '/v1/invitations', { email, role: 'member' })).body
  const accept = (given: object = {}) =>
    w.stranger.call('POST', '/v1/invitations/accept', { code, name: 'Ada', password, ...given })
  expect((await accept()).body.code).toBe('second_factor_required')
  expect((await accept({ second_factor_code: '000000' })).body.code).toBe('invalid_code')
  expect((await accept({ second_factor_code: codeOf(secret) })).status).toBe(201)
})

test('the operator takes them away from who lost them, and their sessions end', async () => {
  const { w, user, call, signIn } = await withCodes()
  await resetFactors(w.hub, user, { actor: systemActor('command line'), context: jobContext })
  expect((await call('GET', '/v1/users/me')).status).toBe(401)
  const answer = await signIn()
  expect(answer.status).toBe(201)
  const me = (await browser(w, cookieOf(answer))('GET', '/v1/users/me')).body
  expect(me.second_factor).toMatchObject({ one_time_codes: false, recovery_codes_left: 0 })
})

test('a token has no second factor', async () => {
  const { w } = await ada()
  for (const path of [begin, `${begin}/remove`, '/v1/users/me/recovery-codes'])
    expect((await w.acme.call('POST', path, { password })).status).toBe(404)
  expect((await w.acme.call('POST', `${begin}/confirm`, { code: '123456' })).status).toBe(404)
})
