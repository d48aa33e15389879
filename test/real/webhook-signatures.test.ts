import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { call, fullToken, installation, startHub, until, type HubProcess, type Installation } from '../support/binary'
import { generatorEnv } from '../support/client-generators'
import { receiver, stopReceivers, type Receiver } from '../support/receiver'
import { startServer } from '../support/server-process'

// Verifies messages of a compiled hub with three independent implementations: Python's hmac and the two npm libraries, and with
// the receivers in the handbook.
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
}, 180_000)

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
}, 180_000)

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

// The receivers in the handbook, by language of the code block.
const receivers = [
  { language: 'js', file: 'receiver.mjs', command: () => 'node receiver.mjs' },
  { language: 'python', file: 'receiver.py', command: () => 'python3 receiver.py' },
  { language: 'go', file: 'receiver.go', command: () => './receiver', prepare: 'go build -o receiver receiver.go && ' },
  { language: 'php', file: 'receiver.php', command: (port: number) => `php -S 127.0.0.1:${port} receiver.php` },
]
const page = readFileSync('src/docs/webhook-receivers.md', 'utf8')

test.concurrent.each(receivers)(
  'the $file of the handbook handles each message once, and rejects forged and old ones',
  async one => {
    const secret = `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')}`
    const code = new RegExp(`^\`\`\`${one.language}\n([\\s\\S]*?)^\`\`\``, 'm').exec(page)![1]!
    const server = await startServer(1, (_folder, [port]) => ({
      command: [
        ...['env', `WEBHOOK_SECRET=${secret}`, `PORT=${port}`, `PATH=${generatorEnv.PATH}`, 'GOTOOLCHAIN=local'],
        ...['sh', '-c', `${one.prepare ?? ''}exec ${one.command(port!)} >output 2>&1`],
      ],
      files: { [one.file]: code },
    }))
    try {
      const url = `http://127.0.0.1:${server.ports[0]}/`
      const schedule = { kind: 'period', period_seconds: 3_600, grace_seconds: 600 }
      const heartbeat = (await call(hub, token, 'POST', '/v1/heartbeats', { name: `Größe ☃ ${one.file}`, schedule })).body
      const endpoint = { url, secret, events: ['monitor.alert'], filters: { resource_ids: [heartbeat.id] } }
      const { id } = (await call(hub, token, 'POST', '/v1/webhook-endpoints', endpoint)).body
      for (const path of ['', '/fail']) expect((await fetch(`${hub.url}/ping/${heartbeat.uuid}${path}`)).status).toBe(200)
      const [delivery] = await until('the delivery', async () => {
        const { data } = (await call(hub, token, 'GET', `/v1/webhook-deliveries?endpoint_id=${id}&status=delivered`)).body
        return data.length > 0 && data
      })
      // The same message again.
      expect((await call(hub, token, 'POST', `/v1/webhook-deliveries/${delivery.id}/resend`, {})).status).toBeLessThan(300)
      const resent = await until('the resent message', async () => {
        const { body } = await call(hub, token, 'GET', `/v1/webhook-deliveries/${delivery.id}`)
        return body.attempt_count === 2 && body
      })
      expect(resent.attempts.map((attempt: any) => attempt.status_code)).toEqual([204, 204])

      const [stored, ...others] = readdirSync(join(server.folder, 'inbox'))
      expect(others).toEqual([])
      const body = readFileSync(join(server.folder, 'inbox', stored!), 'utf8')
      expect(JSON.parse(body)).toMatchObject({ event: 'monitor.alert', data: { heartbeat: { name: heartbeat.name } } })
      // Each message that is handled is one line.
      const messageId = stored!.replace('.json', '')
      const handled = await until('the output', async () => {
        const lines = readFileSync(join(server.folder, 'output'), 'utf8').split('\n')
        const found = lines.filter(line => line.includes(`monitor.alert ${messageId}`))
        return found.length > 0 && found
      })
      expect(handled).toEqual([expect.stringMatching(/^monitor\.alert /)])

      const sent = (await call(hub, token, 'POST', `/v1/webhook-endpoints/${id}/test`, {})).body
      expect(sent.status).toBe('delivered')
      await until('the test message', async () =>
        /^Test message: monitor\.alert msg_/m.test(readFileSync(join(server.folder, 'output'), 'utf8')),
      )
      const afterTest = readdirSync(join(server.folder, 'inbox'))

      const now = Math.trunc(Date.now() / 1000)
      const sign = (messageId: string, timestamp: number, text = body) =>
        new StandardWebhook(secret).sign(messageId, new Date(timestamp * 1000), text)
      const send = async (messageId: string, timestamp: number, signature: string, method = 'POST') =>
        (
          await fetch(url, {
            method,
            headers: { 'webhook-id': messageId, 'webhook-timestamp': String(timestamp), 'webhook-signature': signature },
            ...(method === 'POST' && { body }),
          })
        ).status
      expect(await send('msg_old', now - 400, sign('msg_old', now - 400))).toBe(401)
      expect(await send('msg_forged', now, sign('msg_forged', now, `${body} `))).toBe(401)
      expect(await send('msg_forged', now, '')).toBe(401)
      expect(await send('../outside', now, sign('../outside', now))).toBe(401)
      expect(await send('msg_second', now, `v1,AAAA ${sign('msg_second', now)}`)).toBe(204)
      expect(await send('msg_second', now, '', 'GET')).toBeOneOf([405, 501])
      expect(readdirSync(join(server.folder, 'inbox')).sort()).toEqual([...afterTest, 'msg_second.json'].sort())
    } finally {
      await server.stop()
    }
  },
  180_000,
)
