import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { call, fullToken, installation, startHub, until, type HubProcess, type Installation } from '../support/binary'
import { receiver, stopReceivers, type Receiver } from '../support/receiver'

// What a compiled hub sends, verified over the wire by three strangers to it: Python's hmac and the two npm libraries.
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

async function verdict(message: Message, secret: string) {
  const python = Bun.spawn(['python3', join(import.meta.dir, 'verify_webhook.py')], {
    stdin: new Blob([JSON.stringify({ secret, ...message })]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const said = await new Response(python.stdout).json()
  expect(await python.exited).toBe(0)
  return { ...said, standardwebhooks: taken(StandardWebhook), svix: taken(SvixWebhook) }

  function taken(Webhook: typeof StandardWebhook | typeof SvixWebhook): boolean {
    try {
      new Webhook(secret).verify(message.body, message.headers)
      return true
    } catch {
      return false
    }
  }
}

const both = { standardwebhooks: true, svix: true, standard: true }
const neither = { standardwebhooks: false, svix: false, standard: false, plain: false, next: false }
const whole = { ...both, plain: true, next: false }

test('Python, standardwebhooks and svix verify each message before, during and after a rotation', async () => {
  const endpoint = (await call(hub, token, 'POST', '/v1/webhook-endpoints', { url: inbox.url, events: ['monitor.alert'] })).body
  const schedule = { kind: 'period', period_seconds: 3_600, grace_seconds: 600 }
  // Beyond ASCII, so that a verifier that does not work on the raw bytes is found out.
  const beat = (await call(hub, token, 'POST', '/v1/heartbeats', { name: 'Größe ☃ 北', schedule })).body
  const next = async (): Promise<Message> => {
    const before = inbox.received.length
    for (const path of ['', '/fail']) expect((await fetch(`${hub.url}/ping/${beat.uuid}${path}`)).status).toBe(200)
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
  expect(await verdict(before, old)).toEqual(whole)
  expect(await verdict(before, fresh)).toEqual(neither)

  const during = await next()
  expect(await verdict(during, old)).toEqual(whole)
  expect(await verdict(during, fresh)).toEqual({ ...both, plain: false, next: true })

  expect((await rotation('promote')).status).toBe(200)
  const after = await next()
  expect(await verdict(after, old)).toEqual(neither)
  expect(await verdict(after, fresh)).toEqual(whole)
  expect(await verdict({ ...after, body: after.body.replace('☃', '☂') }, fresh)).toEqual(neither)
}, 30_000)

test('an overlap that runs out leaves the new secret alone', async () => {
  const endpoint = (await call(hub, token, 'POST', '/v1/webhook-endpoints', { url: inbox.url, events: ['monitor.alert'] })).body
  const path = `/v1/webhook-endpoints/${endpoint.id}`
  const fresh = (await call(hub, token, 'POST', `${path}/secret/rotate`, { overlap_seconds: 1 })).body.secret
  await until('the end of the overlap', async () => (await call(hub, token, 'GET', path)).body.overlap_ends_at === null)
  await call(hub, token, 'POST', `${path}/test`, {})
  const { headers, body } = inbox.received.at(-1)!
  const message = { headers: Object.fromEntries(headers), body }
  expect(await verdict(message, fresh)).toEqual(whole)
  expect(await verdict(message, endpoint.secret)).toEqual(neither)
}, 30_000)

test('Python’s verdict on both published messages', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const body = '{"event":"domain.expiring","data":{"domain":"example.com","expires_at":"2027-01-31"}}'
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,6msiPWZhIPchG2oUoh1d9A7ipo/Ky7+pqhXOmwUxr98=',
    'x-service-signature': 'sha256=acd5f33008871edf8a25f91fd02941f1c9dad92e7f5e0ae0647063938856b599',
  }
  expect(await verdict({ headers, body }, secret)).toMatchObject({ standard: true, plain: true, next: false })
  const reference = { ...headers, 'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=' }
  expect(await verdict({ headers: reference, body: '{"test": 2432232314}' }, secret)).toMatchObject({
    standard: true,
    plain: false,
  })
})
