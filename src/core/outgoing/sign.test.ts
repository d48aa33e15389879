import { afterEach, expect, setSystemTime, test } from 'bun:test'
import fc from 'fast-check'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { checkSecret, InvalidSecret, newSecret, signatures } from './sign'

// The example of the Standard Webhooks reference libraries.
const example = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestampSeconds: 1614265330,
}
const verifiers = [
  ['standardwebhooks', StandardWebhook],
  ['svix', SvixWebhook],
] as const

afterEach(() => {
  setSystemTime()
})

test('webhook-signature equals the example of the Standard Webhooks reference libraries', () => {
  expect(signatures({ ...example, body: bytes('{"test": 2432232314}') })['webhook-signature']).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
})

test('both signatures of a domain.expiring message match the documentation', () => {
  const body = bytes('{"event":"domain.expiring","data":{"domain":"example.com","expires_at":"2027-01-31"}}')
  expect(signatures({ ...example, body })).toEqual({
    'X-Service-Signature': 'sha256=acd5f33008871edf8a25f91fd02941f1c9dad92e7f5e0ae0647063938856b599',
    'webhook-signature': 'v1,6msiPWZhIPchG2oUoh1d9A7ipo/Ky7+pqhXOmwUxr98=',
  })
})

test.each(verifiers)('npm %s verifies both documented messages', (_, Webhook) => {
  const published = {
    '{"test": 2432232314}': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    '{"event":"domain.expiring","data":{"domain":"example.com","expires_at":"2027-01-31"}}':
      'v1,6msiPWZhIPchG2oUoh1d9A7ipo/Ky7+pqhXOmwUxr98=',
  }
  setSystemTime(example.timestampSeconds * 1000)
  for (const [body, signature] of Object.entries(published)) {
    new Webhook(example.secret).verify(body, {
      'webhook-id': example.id,
      'webhook-timestamp': String(example.timestampSeconds),
      'webhook-signature': signature,
    })
  }
})

test('X-Service-Signature matches what a receiver computes from the raw body and the whole secret with Web Crypto', async () => {
  const secret = newSecret()
  const body = bytes('{"event":"server.status_changed","data":{"name":"münchen-1 ☃"}}')
  const encoded = new TextEncoder().encode(secret)
  const key = await crypto.subtle.importKey('raw', encoded, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const digest = await crypto.subtle.sign('HMAC', key, body)
  expect(signatures({ ...example, secret, body })['X-Service-Signature']).toBe(`sha256=${Buffer.from(digest).toString('hex')}`)
})

test.each(verifiers)('npm %s verifies signed messages, and rejects altered ones', (_, Webhook) => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false }), fc.uint8Array({ minLength: 24, maxLength: 64 }), (json, key) => {
      const secret = `whsec_${Buffer.from(key).toString('base64')}`
      const headers = sent(secret, json)
      const receiver = new Webhook(secret)
      receiver.verify(json, headers)
      expect(() => receiver.verify(`${json} `, headers)).toThrow()
      expect(() => receiver.verify(json, { ...headers, 'webhook-id': 'msg_other' })).toThrow()
      expect(() => new Webhook(newSecret()).verify(json, headers)).toThrow()
    }),
    { numRuns: 50 },
  )
})

test.each(verifiers)('during a rotation, npm %s verifies with the old and the new secret', (_, Webhook) => {
  const [old, next] = [newSecret(), newSecret()]
  const headers = sent(old, '{"n":1}', next)
  new Webhook(old).verify('{"n":1}', headers)
  new Webhook(next).verify('{"n":1}', headers)
  expect(headers['X-Service-Signature']).toBe(sent(old, '{"n":1}')['X-Service-Signature'])
  expect(headers['X-Service-Signature-Next']).toBe(sent(next, '{"n":1}')['X-Service-Signature'])
})

test.each(verifiers)('npm %s rejects a message from six minutes ago', (_, Webhook) => {
  const secret = newSecret()
  const headers = sent(secret, '{}')
  setSystemTime((example.timestampSeconds + 360) * 1000)
  expect(() => new Webhook(secret).verify('{}', headers)).toThrow()
})

test('a new secret is whsec_ and 32 random bytes, and is valid', () => {
  const secret = newSecret()
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(newSecret()).not.toBe(secret)
  expect(() => checkSecret(secret)).not.toThrow()
})

test('custom secrets of 24 to 64 bytes are accepted, no other sizes', () => {
  for (const size of [24, 25, 26, 32, 63, 64]) expect(() => checkSecret(ofSize(size))).not.toThrow()
  for (const size of [0, 1, 23, 65, 1000]) expect(() => checkSecret(ofSize(size))).toThrow(InvalidSecret)
})

test.each([
  ['no prefix', ofSize(32).slice(6)],
  ['another prefix', `whsk_${ofSize(32).slice(6)}`],
  ['no padding', ofSize(32).slice(0, -1)],
  ['the URL alphabet', `whsec_${Buffer.alloc(32, 255).toString('base64url')}=`],
  ['white space', `${ofSize(32)}\n`],
  ['a pass phrase', 'whsec_correct horse battery staple correct horse'],
])('a secret with %s is rejected, and the error explains the format without the secret', (_, text) => {
  let message = ''
  try {
    checkSecret(text)
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidSecret)
    message = (error as Error).message
  }
  expect(message).toContain('24 to 64 random bytes in padded base64')
  expect(message).not.toContain(text)
})

function sent(secret: string, json: string, nextSecret?: string): Record<string, string> {
  setSystemTime(example.timestampSeconds * 1000)
  const headers = signatures({ ...example, secret, nextSecret: nextSecret ?? null, body: bytes(json) })
  return { 'webhook-id': example.id, 'webhook-timestamp': String(example.timestampSeconds), ...headers }
}

function ofSize(size: number): string {
  return `whsec_${Buffer.alloc(size, 'k').toString('base64')}`
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
