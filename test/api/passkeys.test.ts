import { passkeys, spentChallenges } from '../../src/features/people/passkeys/tables'
import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { passkeySite } from '../../src/features/people/passkeys/site'
import { pruneSessions } from '../../src/features/people/sign-in/sessions'
import { setDisabled } from '../../src/features/people/users'
import { jobContext, systemActor } from '../../src/core/change'
import { Authenticator } from '../support/authenticator'
import { codeAt } from '../support/one-time-code'
import { browser, cookieOf, password, person } from '../support/people'
import { world, type World } from '../support/world'

const origin = 'http://localhost:8484'
const email = 'ada@example.com'

async function ada() {
  const w = await world({ BAILIWICK_BASE_URL: origin })
  const { user, call } = await person(w, w.acme.workspaceId, 'viewer', email)
  await w.audited()
  return { w, user, call }
}
const creation = async (call: Awaited<ReturnType<typeof ada>>['call']) =>
  (await call('POST', '/v1/passkeys/options', { password })).body

async function withPasskey(counts = true) {
  const it = await ada()
  const key = new Authenticator(origin, counts)
  const created = await it.call('POST', '/v1/passkeys', { name: 'Laptop', credential: await key.create(await creation(it.call)) })
  expect(created.status).toBe(201)
  await it.w.audited()
  return { ...it, key, passkey: created.body }
}
const request = async (w: World) => (await w.anonymous.call('POST', '/v1/sessions/passkey/options')).body
const signIn = (w: World, credential: unknown) => w.anonymous.call('POST', '/v1/sessions/passkey', { credential })

test('a passkey signs its owner in, without email and password', async () => {
  const { w, user, call, key, passkey } = await withPasskey()
  expect(passkey).toMatchObject({ name: 'Laptop', transports: ['internal'], backed_up: false, last_used_at: null })
  const signed = await signIn(w, await key.get(await request(w)))
  expect([signed.status, signed.body.user.id, signed.body.user.second_factor.passkeys]).toEqual([201, user.id, 1])
  expect((await browser(w, cookieOf(signed))('GET', '/v1/users/me')).status).toBe(200)
  const { data } = (await call('GET', '/v1/passkeys')).body
  expect(data).toEqual([{ ...passkey, last_used_at: '2026-11-21T10:00:00.000Z' }])
  const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=account.session.create&limit=1')).body.data
  expect([entry.outcome, entry.reason]).toEqual(['success', 'Signed in with the passkey “Laptop”.'])
})

test('creation options require a discoverable passkey with user verification, bound to this site', async () => {
  const { user, call } = await withPasskey()
  const options = await creation(call)
  expect(options).toMatchObject({
    rp: { id: 'localhost' },
    user: { id: Buffer.from(user.id).toString('base64url'), name: email },
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: [{ type: 'public-key' }],
  })
  expect(options.pubKeyCredParams.map((one: any) => one.alg)).toEqual(expect.arrayContaining([-8, -7, -257]))
})

test('adding a passkey requires the password, and each challenge works once', async () => {
  const { w, call } = await ada()
  const wrong = await call('POST', '/v1/passkeys/options', { password: 'something else' })
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, '#/password'])
  const options = await creation(call)
  const key = new Authenticator(origin)
  expect((await call('POST', '/v1/passkeys', { credential: await key.create(options) })).status).toBe(201)
  const again = await call('POST', '/v1/passkeys', { credential: await new Authenticator(origin).create(options) })
  expect([again.status, again.body.errors[0]]).toMatchObject([422, { pointer: '#/credential', code: 'not_accepted' }])
  const known = await call('POST', '/v1/passkeys', { credential: await key.create(await creation(call)) })
  expect([known.status, known.body.code]).toEqual([409, 'already_exists'])
  expect(await w.audited()).toEqual(['account.passkey.create failure', 'account.passkey.create'])
})

test('a passkey created for another site or user, without user verification, or too long ago is refused', async () => {
  const { w, call } = await ada()
  const other = await person(w, w.acme.workspaceId, 'viewer', 'grace@example.com')
  const make = async (options: any, reported = {}) =>
    (await call('POST', '/v1/passkeys', { credential: await new Authenticator(origin).create(options, reported) })).status
  expect(await make(await creation(call), { origin: 'http://localhost:8485' })).toBe(422)
  expect(await make(await creation(call), { rpId: 'evil.example' })).toBe(422)
  expect(await make(await creation(call), { userVerified: false })).toBe(422)
  expect(await make(await creation(other.call))).toBe(422)
  expect(await make({ ...(await creation(call)), challenge: (await request(w)).challenge })).toBe(422)
  expect(await make({ ...(await creation(call)), challenge: 'AAECAwQFBgcICQoLDA0ODw' })).toBe(422)
  const options = await creation(call)
  w.clock.advance(300_001)
  expect(await make(options)).toBe(422)
  expect(await make(await creation(call))).toBe(201)
})

test('an assertion works once, for five minutes, for this site and this user', async () => {
  const { w, key } = await withPasskey()
  const refused = async (credential: unknown) => {
    const answer = await signIn(w, credential)
    expect([answer.status, answer.body.code, answer.headers.get('set-cookie')]).toEqual([401, 'invalid_passkey', null])
  }
  await refused(await key.get(await request(w), { origin: 'https://localhost:8484' }))
  await refused(await key.get(await request(w), { rpId: 'evil.example' }))
  await refused(await key.get(await request(w), { userVerified: false }))
  const anonymous = new Authenticator(origin)
  await anonymous.create({ rp: { id: 'localhost' }, user: { id: 'dXNy' }, challenge: 'AA' })
  await refused(await anonymous.get(await request(w)))
  const mine = await key.get(await request(w))
  const forged = await anonymous.get(await request(w))
  await refused({ ...mine, response: { ...mine.response, signature: forged.response.signature } })
  await refused({ ...mine, response: { ...mine.response, userHandle: undefined } })
  await refused({ ...mine, response: { ...mine.response, userHandle: 'dXNy' } })
  await refused({ ...mine, response: { ...mine.response, clientDataJSON: 'AAAA' } })
  expect((await signIn(w, mine)).status).toBe(201)
  await refused(mine)
  const late = await key.get(await request(w))
  w.clock.advance(300_001)
  await refused(late)
  expect((await w.audited()).filter(action => action.endsWith('failure')).length).toBeGreaterThan(5)
  expect(await w.hub.read.$count(spentChallenges)).toBe(2)
  await pruneSessions(w.hub)
  expect(await w.hub.read.$count(spentChallenges)).toBe(0)
})

test('two concurrent assertions for one challenge sign in once', async () => {
  const { w, key } = await withPasskey(false)
  const answer = await key.get(await request(w))
  const answers = await Promise.all([signIn(w, answer), signIn(w, answer)])
  expect(answers.map(one => one.status).sort()).toEqual([201, 401])
})

test('a counter that does not increase means a copy: the passkey is refused, and this is audited', async () => {
  const { w, key } = await withPasskey()
  expect((await signIn(w, await key.get(await request(w), { counter: 7 }))).status).toBe(201)
  await w.audited()
  for (const counter of [7, 3, 0])
    expect((await signIn(w, await key.get(await request(w), { counter }))).body.code).toBe('invalid_passkey')
  const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=account.session.create&limit=1')).body.data
  expect(entry).toMatchObject({
    outcome: 'failure',
    reason: 'The signature counter of the passkey “Laptop” went backward: the passkey may have been copied.',
  })
  expect((await signIn(w, await key.get(await request(w), { counter: 8 }))).status).toBe(201)
})

test('a passkey that never counts can sign in repeatedly', async () => {
  const { w, key } = await withPasskey(false)
  for (let n = 0; n < 3; n++) expect((await signIn(w, await key.get(await request(w)))).status).toBe(201)
})

test('a disabled user cannot sign in with a passkey', async () => {
  const { w, user, key } = await withPasskey()
  await setDisabled(w.hub, user, true, { actor: systemActor('test'), context: jobContext })
  expect((await signIn(w, await key.get(await request(w)))).body.code).toBe('invalid_passkey')
})

test('with one-time codes enabled, it can be the second factor', async () => {
  const { w, user, call, key } = await withPasskey()
  const { secret } = (await call('POST', '/v1/users/me/one-time-codes', { password })).body
  expect((await call('POST', '/v1/users/me/one-time-codes/enable', { code: codeAt(secret, w.clock.now()) })).status).toBe(200)
  const byPassword = (given: object = {}) => w.anonymous.call('POST', '/v1/sessions', { email, password, ...given })
  const missing = await byPassword()
  expect(missing.body).toMatchObject({
    code: 'second_factor_required',
    methods: ['one_time_code', 'recovery_code', 'passkey'],
    passkey_options: { rpId: 'localhost', allowCredentials: [{ id: Buffer.from(key.id).toString('base64url') }] },
  })
  // A challenge for passkey sign-in is not valid as second factor, and vice versa.
  expect((await byPassword({ passkey: await key.get(await request(w)) })).body.code).toBe('invalid_passkey')
  const { passkey_options } = (await byPassword()).body
  expect((await signIn(w, await key.get(passkey_options))).body.code).toBe('invalid_passkey')
  // As a second factor, the passkey does not need to verify the user.
  const answered = await byPassword({ passkey: await key.get(passkey_options, { userVerified: false }) })
  expect([answered.status, answered.body.user.id]).toEqual([201, user.id])
})

test('users can list, rename and delete their passkeys', async () => {
  const { w, call, key, passkey } = await withPasskey()
  const grace = (await person(w, w.acme.workspaceId, 'viewer', 'grace@example.com')).call
  expect((await grace('GET', '/v1/passkeys')).body.data).toEqual([])
  expect((await grace('DELETE', `/v1/passkeys/${passkey.id}`)).status).toBe(404)
  expect((await w.acme.call('GET', '/v1/passkeys')).body.code).toBe('session_required')
  const renamed = await call('PATCH', `/v1/passkeys/${passkey.id}`, { name: 'Old laptop' })
  expect(renamed.body).toMatchObject({ name: 'Old laptop', version: 2 })
  expect((await call('PATCH', `/v1/passkeys/${passkey.id}`, { name: 'x' }, { 'if-match': '"1"' })).status).toBe(412)
  await w.audited()
  expect((await call('DELETE', `/v1/passkeys/${passkey.id}`)).status).toBe(204)
  expect((await signIn(w, await key.get(await request(w)))).body.code).toBe('invalid_passkey')
  expect(await w.audited()).toEqual(['account.passkey.delete'])
})

test('a user can have at most 20', async () => {
  const { w, user, call, passkey } = await withPasskey()
  const [row] = await w.hub.read.select().from(passkeys).where(eq(passkeys.id, passkey.id))
  const options = await creation(call)
  await w.hub.store.transact(async tx => {
    for (let n = 0; n < 19; n++)
      await tx.insert(passkeys).values({ ...row!, id: `pkey_${n}`, credentialId: `credential-${n}`, userId: user.id })
  })
  expect((await call('POST', '/v1/passkeys/options', { password })).body.code).toBe('conflict')
  const credential = await new Authenticator(origin).create(options)
  expect((await call('POST', '/v1/passkeys', { credential })).body.code).toBe('conflict')
})

test.each([
  ['https://hub.example.com', { rpId: 'hub.example.com', origin: 'https://hub.example.com' }],
  ['https://hub.example.com:8443', { rpId: 'hub.example.com', origin: 'https://hub.example.com:8443' }],
  ['http://localhost:8484', { rpId: 'localhost', origin: 'http://localhost:8484' }],
  ['http://hub.localhost', { rpId: 'hub.localhost', origin: 'http://hub.localhost' }],
  ['http://hub.example.com', { reason: 'plain_http' }],
  ['http://192.0.2.7:8484', { reason: 'ip_address' }],
  ['https://192.0.2.7', { reason: 'ip_address' }],
  ['https://[2001:db8::7]', { reason: 'ip_address' }],
] as const)('at %s passkeys are as browsers have them', (baseUrl, site) => {
  expect(passkeySite({ baseUrl })).toEqual(site)
})

test('if passkeys are unavailable, this is reported up front, and they are refused', async () => {
  const w = await world({ BAILIWICK_BASE_URL: 'http://hub.example.com' })
  const { call } = await person(w, w.acme.workspaceId, 'viewer', email)
  expect((await w.anonymous.call('GET', '/v1/sessions/methods')).body.passkeys).toEqual({
    available: false,
    rp_id: null,
    origin: null,
    reason: 'plain_http',
  })
  for (const answer of [
    await call('POST', '/v1/passkeys/options', { password }),
    await w.anonymous.call('POST', '/v1/sessions/passkey/options'),
  ])
    expect([answer.status, answer.body.code, answer.body.reason]).toEqual([409, 'passkeys_unavailable', 'plain_http'])
})

test('passkey guesses count as failed credentials', async () => {
  const w = await world({ BAILIWICK_BASE_URL: origin, BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '2' })
  const key = new Authenticator(origin)
  await key.create({ rp: { id: 'localhost' }, user: { id: 'dXNy' }, challenge: 'AA' })
  const statuses: number[] = []
  for (let n = 0; n < 3; n++) statuses.push((await signIn(w, await key.get(await request(w)))).status)
  expect(statuses).toEqual([401, 401, 429])
})
