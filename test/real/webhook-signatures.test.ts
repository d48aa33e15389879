import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { call, fullToken, installation, startHub, until, type HubProcess, type Installation } from '../support/binary'
import { receiver, stopReceivers, type Receiver } from '../support/receiver'

// Verifies messages of a compiled hub with three independent implementations: Python's hmac and the two npm libraries.
let here: Installation
let hub: HubProcess
let token: string
let inbox: Receiver

beforeAll(async () => {
  here = await installation()
  hub = await startHub(here)
  token = await fullToken(here)
  inbox = receiver()
})
afterAll(async () => {
  stopReceivers()
  await hub?.stop()
  await here?.[Symbol.asyncDispose]()
})

type Message = { headers: Record<string, string>; body: string }

async function verify(message: Message, secret: string) {
  const python = Bun.spawn(['python3', join(import.meta.dir, 'verify_webhook.py')], {
    stdin: new Blob([JSON.stringify({ secret, ...message })]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const result = await new Response(python.stdout).json()
  expect(await python.exited).toBe(0)
  return { ...result, standardwebhooks: accepts(StandardWebhook), svix: accepts(SvixWebhook) }

  function accepts(Webhook: typeof StandardWebhook | typeof SvixWebhook): boolean {
    try {
      new Webhook(secret).verify(message.body, message.headers)
      return true
    } catch {
      return false
    }
  }
}

const both = { standardwebhooks: true, svix: true, standard: true }
const none = { standardwebhooks: false, svix: false, standard: false, plain: false, next: false }
const valid = { ...both, plain: true, next: false }

test('Python, standardwebhooks and svix verify each message before, during, and after a rotation', async () => {
  const endpoint = (await call(hub, token, 'POST', '/v1/webhook-endpoints', { url: inbox.url, events: ['monitor.alert'] })).body
  const schedule = { kind: 'period', period_seconds: 3_600, grace_seconds: 600 }
  // Non-ASCII, to detect verifiers that don't use the raw bytes.
  const heartbeat = (await call(hub, token, 'POST', '/v1/heartbeats', { name: 'Größe ☃ 北', schedule })).body
  const next = async (): Promise<Message> => {
    const before = inbox.received.length
    for (const path of ['', '/fail']) expect((await fetch(`${hub.url}/ping/${heartbeat.uuid}${path}`)).status).toBe(200)
    const { headers, body } = await until('the alert', async () => inbox.received[before])
    expect(body).toContain('Größe ☃ 北')
    return { headers: Object.fromEntries(headers), body }
  }
  const rotation = (verb: string, input?: object) =>
    call(hub, token, 'POST', `/v1/webhook-endpoints/${endpoint.id}/secret/${verb}`, input)

  const before = await next()
  const rotated = await rotation('rotate', { overlap_seconds: 3_600 })
  expect(rotated.status).toBe(200)
  const [old, fresh] = [endpoint.secret, rotated.body.secret]
  expect(await verify(before, old)).toEqual(valid)
  expect(await verify(before, fresh)).toEqual(none)

  const during = await next()
  expect(await verify(during, old)).toEqual(valid)
  expect(await verify(during, fresh)).toEqual({ ...both, plain: false, next: true })

  expect((await rotation('promote')).status).toBe(200)
  const after = await next()
  expect(await verify(after, old)).toEqual(none)
  expect(await verify(after, fresh)).toEqual(valid)
  expect(await verify({ ...after, body: after.body.replace('☃', '☂') }, fresh)).toEqual(none)
}, 30_000)

test('when the overlap has ended, only the new secret is valid', async () => {
  const endpoint = (await call(hub, token, 'POST', '/v1/webhook-endpoints', { url: inbox.url, events: ['monitor.alert'] })).body
  const path = `/v1/webhook-endpoints/${endpoint.id}`
  const fresh = (await call(hub, token, 'POST', `${path}/secret/rotate`, { overlap_seconds: 1 })).body.secret
  await until('the end of the overlap', async () => (await call(hub, token, 'GET', path)).body.overlap_ends_at === null)
  await call(hub, token, 'POST', `${path}/test`, {})
  const { headers, body } = inbox.received.at(-1)!
  const message = { headers: Object.fromEntries(headers), body }
  expect(await verify(message, fresh)).toEqual(valid)
  expect(await verify(message, endpoint.secret)).toEqual(none)
}, 30_000)

test('Python verifies both documented messages', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const body = '{"event":"domain.expiring","data":{"domain":"example.com","expires_at":"2027-01-31"}}'
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,6msiPWZhIPchG2oUoh1d9A7ipo/Ky7+pqhXOmwUxr98=',
    'x-service-signature': 'sha256=acd5f33008871edf8a25f91fd02941f1c9dad92e7f5e0ae0647063938856b599',
  }
  expect(await verify({ headers, body }, secret)).toMatchObject({ standard: true, plain: true, next: false })
  const reference = { ...headers, 'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=' }
  expect(await verify({ headers: reference, body: '{"test": 2432232314}' }, secret)).toMatchObject({
    standard: true,
    plain: false,
  })
})
