import { afterAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { call, installation, startHub, until } from '../support/binary'
import { receiver, stopReceivers, type Received } from '../support/receiver'

afterAll(stopReceivers)

test('from an empty folder to an alert with a webhook, and its recovery', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  const createdToken = await here.run(['token', 'create', '--name', 't', '--full'])
  expect({ code: createdToken.code, err: createdToken.err }).toEqual({ code: 0, err: '' })
  expect(createdToken.out).toMatch(/^bw_live_[0-9A-Za-z]{36}\n$/)
  const token = createdToken.out.trim()

  const { url, received, arrivedAt } = timedReceiver()
  const endpoint = await call(hub, token, 'POST', '/v1/webhook-endpoints', {
    url,
    events: ['monitor.alert', 'monitor.recovered'],
  })
  expect(endpoint.status).toBe(201)
  const { secret } = endpoint.body
  const created = await call(hub, token, 'POST', '/v1/heartbeats', {
    name: 'nightly backup',
    schedule: { kind: 'period', period_seconds: 5, grace_seconds: 1 },
  })
  expect(created.body).toMatchObject({ status: 'new', ping_url: `${hub.url}/ping/${created.body.uuid}` })
  const heartbeat = () => call(hub, token, 'GET', `/v1/heartbeats/${created.body.id}`).then(response => response.body)
  expect(await curl(created.body.ping_url)).toBe('OK')
  const { status, last_ping_at, down_at } = await heartbeat()
  expect(status).toBe('up')
  const dueAt = Date.parse(last_ping_at) + 6000
  expect(Date.parse(down_at)).toBe(dueAt)

  await until('the alert', async () => received.length > 0)
  const alertedAfter = arrivedAt[0]! - dueAt
  expect(alertedAfter).toBeGreaterThanOrEqual(0)
  expect(alertedAfter).toBeLessThan(1000)
  const alert = received[0]!
  verify(alert, secret)
  const alerted = JSON.parse(alert.body)
  expect(Object.keys(alerted)).toEqual(['event', 'data'])
  expect(alerted).toMatchObject({
    event: 'monitor.alert',
    data: {
      kind: 'heartbeat.missed',
      status: 'down',
      previous_status: 'up',
      reason: 'late',
      monitor: null,
      probe: null,
      heartbeat: { id: created.body.id, name: 'nightly backup' },
    },
  })
  expect((await heartbeat()).status).toBe('down')

  expect(await curl(created.body.ping_url)).toBe('OK')
  await until('the recovery', async () => received.length > 1)
  const recovery = received[1]!
  verify(recovery, secret)
  const recovered = JSON.parse(recovery.body)
  expect(recovered).toMatchObject({
    event: 'monitor.recovered',
    data: { kind: 'heartbeat.recovered', status: 'up', previous_status: 'down', heartbeat: { id: created.body.id } },
  })
  expect(recovered.data.downtime_seconds).toBeWithin(0, 3)

  const deliveries = await until('both deliveries ended', async () => {
    const { body } = await call(hub, token, 'GET', `/v1/webhook-deliveries?endpoint_id=${endpoint.body.id}&status=delivered`)
    return body.data.length === 2 && body.data
  })
  const events = (await call(hub, token, 'GET', `/v1/events?resource_id=${created.body.id}`)).body.data
  expect(events.map((one: any) => [one.kind, one.sequence])).toEqual([
    ['monitor.recovered', 1],
    ['monitor.alert', 1],
  ])
  expect(events[1]).toMatchObject({
    resource: { type: 'heartbeat', id: created.body.id },
    data: alerted.data,
    occurred_at: new Date(dueAt).toISOString(),
  })
  for (const [place, message] of [recovery, alert].entries()) {
    expect(deliveries[place]).toMatchObject({
      id: message.headers.get('x-service-delivery'),
      message_id: message.headers.get('webhook-id'),
      event_id: events[place].id,
      attempt_count: 1,
    })
    const { attempts } = (await call(hub, token, 'GET', `/v1/webhook-deliveries/${deliveries[place].id}`)).body
    expect(attempts).toMatchObject([
      { number: 1, trigger: 'auto', status_code: 204, error_class: null, request: { url, body: message.body } },
    ])
    expect(JSON.stringify(attempts)).not.toContain(message.headers.get('x-service-signature')!.slice('sha256='.length))
  }
  const audited = (await call(hub, token, 'GET', '/v1/audit-events')).body.data
  expect(audited.map((one: any) => [one.seq, one.action, one.outcome, one.actor.type]).reverse()).toEqual([
    [1, 'account.workspace.create', 'success', 'system'],
    [2, 'account.token.create', 'success', 'operator'],
    [3, 'webhooks.endpoint.create', 'success', 'token'],
    [4, 'heartbeat.create', 'success', 'token'],
    [5, 'heartbeat.activate', 'success', 'ingest'],
    [6, 'heartbeat.miss', 'success', 'system'],
    [7, 'incident.open', 'success', 'system'],
    [8, 'heartbeat.recover', 'success', 'ingest'],
    [9, 'incident.resolve', 'success', 'system'],
  ])
  expect(JSON.stringify(audited)).not.toContain(secret)

  // Keeps pinging beyond the time of a second alert.
  for (let n = 0; n < 4; n++) {
    await Bun.sleep(2000)
    expect(await curl(created.body.ping_url)).toBe('OK')
  }
  expect(received).toHaveLength(2)
  process.stdout.write(`alert ${alertedAfter} ms after it was due\n`)
}, 180_000)

function timedReceiver() {
  const here = receiver()
  const arrivedAt: number[] = []
  here.answer = () => {
    arrivedAt.push(Date.now())
    return new Response(null, { status: 204 })
  }
  return { url: here.url, received: here.received, arrivedAt }
}

/** Pings like a crontab. */
async function curl(url: string): Promise<string> {
  const run = Bun.spawn(['curl', '-fsS', '-m', '10', url], { stdout: 'pipe', stderr: 'inherit' })
  const out = await new Response(run.stdout).text()
  expect(await run.exited).toBe(0)
  return out
}

/** Verifies all signatures of a message with third-party libraries. */
function verify({ headers, body }: Received, secret: string): void {
  expect(headers.get('x-service-signature')).toBe(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  const sent = Object.fromEntries(headers)
  for (const Webhook of [StandardWebhook, SvixWebhook]) {
    expect(() => new Webhook(secret).verify(body, sent)).not.toThrow()
    expect(() => new Webhook(secret).verify(`${body} `, sent)).toThrow()
  }
}
