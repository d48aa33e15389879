import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { passkeySite } from '../../src/access/passkey-site'
import { pruneSessions } from '../../src/access/sessions'
import { passkeys, spentChallenges } from '../../src/access/tables'
import { setDisabled } from '../../src/access/users'
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
  const made = await it.call('POST', '/v1/passkeys', { name: 'Laptop', credential: await key.create(await creation(it.call)) })
  expect(made.status).toBe(201)
  await it.w.audited()
  return { ...it, key, passkey: made.body }
}
const request = async (w: World) => (await w.stranger.call('POST', '/v1/sessions/passkey/options')).body
const signIn = (w: World, credential: unknown) => w.stranger.call('POST', '/v1/sessions/passkey', { credential })

test('a passkey signs its owner in, with neither e-mail nor password', async () => {
  const { w, user, call, key, passkey } = await withPasskey()
  expect(passkey).toMatchObject({ name: 'Laptop', transports: ['internal'], backed_up: false, last_used_at: null })
  const signed = await signIn(w, await key.get(await request(w)))
  expect([signed.status, signed.body.user.id, signed.body.user.second_factor.passkeys]).toEqual([201, user.id, 1])
  expect((await browser(w, cookieOf(signed))('GET', '/v1/users/me')).status).toBe(200)
  const { data } = (await call('GET', '/v1/passkeys')).body
  expect(data).toEqual([{ ...passkey, last_used_at: '2026-11-21T10:00:00.000Z' }])
  const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=account.session.create&limit=1')).body.data
  expect([entry.outcome, entry.reason]).toEqual(['success', 'By the passkey “Laptop”.'])
})

test('what a browser is told to make is discoverable, verifies its user, and is of this site', async () => {
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

test('making one takes the password, and each challenge makes one', async () => {
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

test('one that was made elsewhere, without its user, for another, or too long ago is not kept', async () => {
  const { w, call } = await ada()
  const other = await person(w, w.acme.workspaceId, 'viewer', 'grace@example.com')
  const make = async (options: any, told = {}) =>
    (await call('POST', '/v1/passkeys', { credential: await new Authenticator(origin).create(options, told) })).status
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

test('an answer works once, for five minutes, and is of this site and this user', async () => {
  const { w, key } = await withPasskey()
  const refused = async (credential: unknown) => {
    const answer = await signIn(w, credential)
    expect([answer.status, answer.body.code, answer.headers.get('set-cookie')]).toEqual([401, 'invalid_passkey', null])
  }
  await refused(await key.get(await request(w), { origin: 'https://localhost:8484' }))
  await refused(await key.get(await request(w), { rpId: 'evil.example' }))
  await refused(await key.get(await request(w), { userVerified: false }))
  const stranger = new Authenticator(origin)
  await stranger.create({ rp: { id: 'localhost' }, user: { id: 'dXNy' }, challenge: 'AA' })
  await refused(await stranger.get(await request(w)))
  const mine = await key.get(await request(w))
  const forged = await stranger.get(await request(w))
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

test('two answers to one challenge that come together sign in once', async () => {
  const { w, key } = await withPasskey(false)
  const answer = await key.get(await request(w))
  const answers = await Promise.all([signIn(w, answer), signIn(w, answer)])
  expect(answers.map(one => one.status).sort()).toEqual([201, 401])
})

test('a counter that does not grow is of a copy: it is refused, and the log says so', async () => {
  const { w, key } = await withPasskey()
  expect((await signIn(w, await key.get(await request(w), { counter: 7 }))).status).toBe(201)
  await w.audited()
  for (const counter of [7, 3, 0])
    expect((await signIn(w, await key.get(await request(w), { counter }))).body.code).toBe('invalid_passkey')
  const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=account.session.create&limit=1')).body.data
  expect(entry).toMatchObject({
    outcome: 'failure',
    reason: 'The passkey “Laptop” counted backwards: there may be a copy of it.',
  })
  expect((await signIn(w, await key.get(await request(w), { counter: 8 }))).status).toBe(201)
})

test('one that never counts signs in again and again', async () => {
  const { w, key } = await withPasskey(false)
  for (let n = 0; n < 3; n++) expect((await signIn(w, await key.get(await request(w)))).status).toBe(201)
})

test('a disabled user is not let in by a passkey', async () => {
  const { w, user, key } = await withPasskey()
  await setDisabled(w.hub, user, true, { actor: systemActor('test'), context: jobContext })
  expect((await signIn(w, await key.get(await request(w)))).body.code).toBe('invalid_passkey')
})

test('beside a password it is the second factor of who has one-time codes', async () => {
  const { w, user, call, key } = await withPasskey()
  const { secret } = (await call('POST', '/v1/users/me/one-time-codes', { password })).body
  expect((await call('POST', '/v1/users/me/one-time-codes/confirm', { code: codeAt(secret, w.clock.now()) })).status).toBe(200)
  const byPassword = (given: object = {}) => w.stranger.call('POST', '/v1/sessions', { email, password, ...given })
  const missing = await byPassword()
  expect(missing.body).toMatchObject({
    code: 'second_factor_required',
    methods: ['one_time_code', 'recovery_code', 'passkey'],
    passkey_options: { rpId: 'localhost', allowCredentials: [{ id: Buffer.from(key.id).toString('base64url') }] },
  })
  // A challenge for signing in alone is none beside a password, nor the other way round.
  expect((await byPassword({ passkey: await key.get(await request(w)) })).body.code).toBe('invalid_passkey')
  const { passkey_options } = (await byPassword()).body
  expect((await signIn(w, await key.get(passkey_options))).body.code).toBe('invalid_passkey')
  // The password is one factor, the device the other: it need not ask for a finger as well.
  const answered = await byPassword({ passkey: await key.get(passkey_options, { userVerified: false }) })
  expect([answered.status, answered.body.user.id]).toEqual([201, user.id])
})

test('people see, rename and delete their own', async () => {
  const { w, call, key, passkey } = await withPasskey()
  const grace = (await person(w, w.acme.workspaceId, 'viewer', 'grace@example.com')).call
  expect((await grace('GET', '/v1/passkeys')).body.data).toEqual([])
  expect((await grace('DELETE', `/v1/passkeys/${passkey.id}`)).status).toBe(404)
  expect((await w.acme.call('GET', '/v1/passkeys')).body.data).toEqual([])
  const renamed = await call('PATCH', `/v1/passkeys/${passkey.id}`, { name: 'Old laptop' })
  expect(renamed.body).toMatchObject({ name: 'Old laptop', version: 2 })
  expect((await call('PATCH', `/v1/passkeys/${passkey.id}`, { name: 'x' }, { 'if-match': '"1"' })).status).toBe(412)
  await w.audited()
  expect((await call('DELETE', `/v1/passkeys/${passkey.id}`)).status).toBe(204)
  expect((await signIn(w, await key.get(await request(w)))).body.code).toBe('invalid_passkey')
  expect(await w.audited()).toEqual(['account.passkey.delete'])
})

test('a person has twenty at most', async () => {
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

test('where they cannot work, that is told beforehand, and they are refused', async () => {
  const w = await world({ BAILIWICK_BASE_URL: 'http://hub.example.com' })
  const { call } = await person(w, w.acme.workspaceId, 'viewer', email)
  expect((await w.stranger.call('GET', '/v1/sessions/methods')).body.passkeys).toEqual({
    possible: false,
    rp_id: null,
    origin: null,
    reason: 'plain_http',
  })
  for (const answer of [
    await call('POST', '/v1/passkeys/options', { password }),
    await w.stranger.call('POST', '/v1/sessions/passkey/options'),
  ])
    expect([answer.status, answer.body.code, answer.body.reason]).toEqual([409, 'passkeys_unavailable', 'plain_http'])
})

test('guesses of a passkey count as wrong credentials', async () => {
  const w = await world({ BAILIWICK_BASE_URL: origin, BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '2' })
  const key = new Authenticator(origin)
  await key.create({ rp: { id: 'localhost' }, user: { id: 'dXNy' }, challenge: 'AA' })
  const statuses: number[] = []
  for (let n = 0; n < 3; n++) statuses.push((await signIn(w, await key.get(await request(w)))).status)
  expect(statuses).toEqual([401, 401, 429])
})
