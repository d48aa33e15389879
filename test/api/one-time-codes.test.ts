import { resetFactors } from '../../src/features/people/second-factors/second-factors'
import { oneTimeCodes, recoveryCodes } from '../../src/features/people/second-factors/tables'
import { expect, test } from 'bun:test'
import { jobContext, systemActor } from '../../src/core/change'
import { codeAt } from '../support/one-time-code'
import { browser, cookieOf, password, person } from '../support/people'
import { world } from '../support/world'

const half = 30_000
const email = 'ada@example.com'
const begin = '/v1/users/me/one-time-codes'

test('the test codes match the RFC', () => {
  // RFC 6238 appendix B, the last six of its eight digits.
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  expect([59, 1_111_111_109, 20_000_000_000].map(at => codeAt(secret, at * 1000))).toEqual(['287082', '081804', '353130'])
})

async function ada(env: Record<string, string> = {}) {
  const w = await world(env)
  const { user, call } = await person(w, w.acme.workspaceId, 'viewer', email)
  const codeOf = (secret: string, later = 0) => codeAt(secret, w.clock.now() + later)
  const signIn = (given: object = {}) => w.anonymous.call('POST', '/v1/sessions', { email, password, ...given })
  await w.audited()
  return { w, user, call, codeOf, signIn }
}

async function withCodes(env: Record<string, string> = {}) {
  const it = await ada(env)
  const { secret } = (await it.call('POST', begin, { password })).body
  const confirmed = await it.call('POST', `${begin}/enable`, { code: it.codeOf(secret) })
  expect(confirmed.status).toBe(200)
  it.w.clock.advance(3 * half)
  await it.w.audited()
  return { ...it, secret: secret as string, recovery: confirmed.body.recovery_codes as string[] }
}

test('one-time codes are enabled by the first code, and ten recovery codes are returned', async () => {
  const { w, call, codeOf, signIn } = await ada()
  const started = await call('POST', begin, { password })
  expect(started.status).toBe(201)
  expect(started.body.secret).toMatch(/^[A-Z2-7]{32}$/)
  const uri = new URL(started.body.uri)
  expect([uri.protocol, uri.host, uri.searchParams.get('secret')]).toEqual(['otpauth:', 'totp', started.body.secret])
  expect(Object.fromEntries(uri.searchParams)).toMatchObject({ algorithm: 'SHA1', digits: '6', period: '30' })
  // Not enabled until confirmed.
  expect((await signIn()).status).toBe(201)
  const wrong = await call('POST', `${begin}/enable`, { code: codeOf(started.body.secret, 10 * half) })
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, '#/code'])
  const confirmed = await call('POST', `${begin}/enable`, { code: codeOf(started.body.secret) })
  expect(new Set(confirmed.body.recovery_codes).size).toBe(10)
  for (const code of confirmed.body.recovery_codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/)
  expect((await call('GET', '/v1/users/me')).body.second_factor).toMatchObject({
    one_time_codes: true,
    recovery_codes_remaining: 10,
  })
  const stored = JSON.stringify([await w.hub.read.select().from(oneTimeCodes), await w.hub.read.select().from(recoveryCodes)])
  for (const secret of [started.body.secret, ...confirmed.body.recovery_codes]) {
    expect(stored).not.toContain(secret)
    expect(stored).not.toContain(secret.replace('-', ''))
  }
  expect(await w.audited()).toEqual(['account.one_time_codes.set_up', 'account.session.create', 'account.one_time_codes.enable'])
})

test('a correct password returns the required second factor, a wrong one does not', async () => {
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

test('a code works once, and earlier codes no longer work', async () => {
  const { w, signIn, codeOf, secret } = await withCodes()
  const code = codeOf(secret)
  const before = codeOf(secret, -half)
  const responses = await Promise.all([signIn({ code }), signIn({ code })])
  expect(responses.map(one => one.status).sort()).toEqual([201, 401])
  expect((await signIn({ code: before })).body.code).toBe('invalid_code')
  expect((await signIn({ code: codeOf(secret, half) })).status).toBe(201)
  w.clock.advance(2 * half)
  expect((await signIn({ code: ` ${codeOf(secret).slice(0, 3)} ${codeOf(secret).slice(3)} ` })).status).toBe(201)
})

test('a code is accepted one step early or late, but not two', async () => {
  const { signIn, codeOf, secret } = await withCodes()
  for (const later of [-2 * half, 2 * half])
    expect([later, (await signIn({ code: codeOf(secret, later) })).status]).toEqual([later, 401])
  for (const later of [-half, half]) expect([later, (await signIn({ code: codeOf(secret, later) })).status]).toEqual([later, 201])
})

test('a recovery code works once, in any spelling, and the audit log shows how many remain', async () => {
  const { w, signIn, recovery } = await withCodes()
  const used = await signIn({ code: recovery[0]!.toUpperCase().replace('-', ' ') })
  expect([used.status, used.body.user.second_factor.recovery_codes_remaining]).toEqual([201, 9])
  expect((await signIn({ code: recovery[0] })).body.code).toBe('invalid_code')
  expect(await w.audited()).toEqual(['account.recovery_code.use', 'account.session.create', 'account.session.create failure'])
  const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=account.recovery_code.use')).body.data
  expect([entry.reason, entry.actor.name]).toEqual(['Remaining recovery codes: 9.', 'ada'])
})

test('after ten wrong codes, none is checked for a while, not even a correct one', async () => {
  const { w, signIn, codeOf, secret } = await withCodes()
  const wrong = codeOf(secret, 1000 * half)
  for (let n = 0; n < 10; n++) expect((await signIn({ code: wrong })).body.code).toBe('invalid_code')
  const refused = await signIn({ code: codeOf(secret) })
  expect([refused.status, refused.body['violated-policies']]).toEqual([429, ['failed-codes']])
  w.clock.advance(15 * 60_000)
  expect((await signIn({ code: codeOf(secret) })).status).toBe(201)
})

test('wrong codes from all known browsers are counted together, and enabling codes makes the browsers unknown', async () => {
  const { w, call, codeOf } = await ada()
  const signIn = (given: object = {}, cookie = '') =>
    w.anonymous.call('POST', '/v1/sessions', { email, password, ...given }, { cookie })
  const deviceOf = async (given: object = {}) => (await signIn(given)).headers.getSetCookie()[1]!.split(';')[0]!
  const before = await deviceOf()
  const { secret } = (await call('POST', begin, { password })).body
  expect((await call('POST', `${begin}/enable`, { code: codeOf(secret) })).status).toBe(200)
  const devices: string[] = []
  for (let n = 0; n < 2; n++) {
    w.clock.advance(3 * half)
    devices.push(await deviceOf({ code: codeOf(secret) }))
  }
  const code = codeOf(secret, 1000 * half)
  for (let n = 0; n < 10; n++) expect((await signIn({ code }, devices[n % 2])).body.code).toBe('invalid_code')
  for (const device of devices) expect((await signIn({ code }, device)).body['violated-policies']).toEqual(['failed-codes'])
  for (const device of [before, '']) expect((await signIn({ code }, device)).body.code).toBe('invalid_code')
})

test('new recovery codes replace the previous ones, and require a password or a code', async () => {
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
    'account.recovery_codes.regenerate failure',
    'account.recovery_codes.regenerate failure',
    'account.recovery_codes.regenerate',
  ])
})

test('once disabled, the password alone is enough to sign in again', async () => {
  const { w, call, signIn } = await withCodes()
  const remove = (proof: object) => call('POST', `${begin}/disable`, proof)
  expect((await remove({ password: 'something else' })).status).toBe(422)
  expect((await signIn()).status).toBe(401)
  expect((await remove({ password })).status).toBe(204)
  expect((await signIn()).status).toBe(201)
  expect((await remove({ password })).body.code).toBe('conflict')
  expect(await w.hub.read.select().from(recoveryCodes)).toEqual([])
  expect((await w.audited()).filter(action => action.startsWith('account.one_time'))).toEqual([
    'account.one_time_codes.disable failure',
    'account.one_time_codes.disable',
  ])
})

test('a secret waits an hour for its first code, and a second one replaces it', async () => {
  const { w, call, codeOf } = await ada()
  const secret = async () => (await call('POST', begin, { password })).body.secret
  const confirm = (code: string) => call('POST', `${begin}/enable`, { code })
  expect((await confirm('123456')).body.code).toBe('conflict')
  const [first, second] = [await secret(), await secret()]
  expect((await confirm(codeOf(first))).status).toBe(422)
  w.clock.advance(3_600_001)
  expect((await confirm(codeOf(second))).body.code).toBe('conflict')
  const third = await secret()
  expect((await confirm(codeOf(third))).status).toBe(200)
  expect((await call('POST', begin, { password })).body.code).toBe('conflict')
})

test('a replay omits the secret', async () => {
  const { call } = await ada()
  const key = { 'idempotency-key': 'once' }
  expect((await call('POST', begin, { password }, key)).body.secret).toBeString()
  const again = await call('POST', begin, { password }, key)
  expect([again.status, again.body]).toEqual([201, { secret_shown_before: true }])
})

test('accepting an invitation by password requires a code', async () => {
  const { w, codeOf, secret } = await withCodes()
  const { code } = (await w.rival.call('POST', '/v1/invitations', { email, role: 'member' })).body
  const accept = (given: object = {}) =>
    w.anonymous.call('POST', '/v1/invitations/accept', { code, name: 'Ada', password, ...given })
  expect((await accept()).body.code).toBe('second_factor_required')
  expect((await accept({ second_factor_code: '000000' })).body.code).toBe('invalid_code')
  expect((await accept({ second_factor_code: codeOf(secret) })).status).toBe(201)
})

test('the operator can reset second factors, which ends all sessions', async () => {
  const { w, user, call, signIn } = await withCodes()
  await resetFactors(w.hub, user, { actor: systemActor('command line'), context: jobContext })
  expect((await call('GET', '/v1/users/me')).status).toBe(401)
  const response = await signIn()
  expect(response.status).toBe(201)
  const me = (await browser(w, cookieOf(response))('GET', '/v1/users/me')).body
  expect(me.second_factor).toMatchObject({ one_time_codes: false, recovery_codes_remaining: 0 })
})

test('a token has no second factor', async () => {
  const { w } = await ada()
  for (const path of [begin, `${begin}/disable`, '/v1/users/me/recovery-codes'])
    expect((await w.acme.call('POST', path, { password })).body.code).toBe('session_required')
  expect((await w.acme.call('POST', `${begin}/enable`, { code: '123456' })).body.code).toBe('session_required')
})
