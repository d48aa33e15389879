import { afterEach, expect, test } from 'bun:test'
import { webhookAttempts, webhookDeliveries } from '../../src/features/webhooks/deliveries/tables'
import { endpointAt, raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { world, type World } from '../support/world'

afterEach(stopReceivers)

const secret = 'patient 4711'
const answering = (status: number) => () => new Response(secret, { status, headers: { 'x-patient': secret } })
const expunge = ({ acme }: World, id: string, headers = {}) =>
  acme.call('POST', `/v1/webhook-deliveries/${id}/expunge`, undefined, headers)

/** Whether the log contains it anywhere. */
async function logged({ hub }: World): Promise<boolean> {
  const rows = [await hub.read.select().from(webhookAttempts), await hub.read.select().from(webhookDeliveries)]
  return JSON.stringify(rows).includes(secret)
}

test('the responses of a delivery are removed, and the attempts are kept', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = answering(503)
  await endpointAt(here, inbox.url, { retry_schedule: [60] })
  await raiseAlert(here)
  await here.settle()
  const [{ id }] = (await here.acme.call('GET', '/v1/webhook-deliveries')).body.data
  const early = await expunge(here, id)
  expect([early.status, early.body.code]).toEqual([409, 'conflict'])
  inbox.answer = answering(200)
  await here.advance(66_001)
  expect(await logged(here)).toBe(true)
  const before = (await here.acme.call('GET', `/v1/webhook-deliveries/${id}`)).body
  expect([before.status, before.expunged_at, before.attempts[0].response.body]).toEqual(['delivered', null, secret])
  await here.audited()

  const done = await expunge(here, id)
  expect([done.status, done.body.expunged_at, done.body.status]).toEqual([200, '2026-11-21T10:01:06.001Z', 'delivered'])
  expect(await logged(here)).toBe(false)
  expect(await here.audited()).toEqual(['webhooks.delivery.expunge'])
  const after = (await here.acme.call('GET', `/v1/webhook-deliveries/${id}`)).body
  const without = before.attempts.map((one: any) => ({ ...one, response: null }))
  expect(after.attempts).toEqual(without)
  expect(after).toMatchObject({ attempt_count: 2, version: before.version + 1, finished_at: before.finished_at })
})

test('a later resend is logged, and can be expunged too', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = answering(200)
  await endpointAt(here, inbox.url)
  await raiseAlert(here)
  await here.settle()
  const [{ id }] = (await here.acme.call('GET', '/v1/webhook-deliveries')).body.data
  expect((await expunge(here, id)).status).toBe(200)
  await here.acme.call('POST', `/v1/webhook-deliveries/${id}/resend`)
  await here.settle()
  expect(inbox.received).toHaveLength(2)
  expect(await logged(here)).toBe(true)
  here.clock.advance(1_000)
  expect((await expunge(here, id)).body.expunged_at).toBe('2026-11-21T10:00:01.000Z')
  expect(await logged(here)).toBe(false)
})

test('the body of a test message is also removed, and it can’t be resent', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = answering(200)
  const endpoint = await endpointAt(here, inbox.url)
  const sent = (await here.acme.call('POST', `/v1/webhook-endpoints/${endpoint.id}/test`, {})).body
  expect(sent.attempts[0].request.body).toBe(inbox.received[0]!.body)
  expect((await expunge(here, sent.id)).status).toBe(200)
  expect(await logged(here)).toBe(false)
  const [attempt] = (await here.acme.call('GET', `/v1/webhook-deliveries/${sent.id}`)).body.attempts
  expect([attempt.request.body, attempt.response]).toEqual([null, null])
  const again = await here.acme.call('POST', `/v1/webhook-deliveries/${sent.id}/resend`)
  expect([again.status, again.body.detail]).toEqual([409, 'The body of this test message was removed, so it can’t be resent.'])
})

test('it requires webhooks.write, the current version, and a delivery of the workspace', async () => {
  const here = await world()
  const inbox = receiver()
  await endpointAt(here, inbox.url)
  await raiseAlert(here)
  await here.settle()
  const [{ id, version }] = (await here.acme.call('GET', '/v1/webhook-deliveries')).body.data
  const path = `/v1/webhook-deliveries/${id}/expunge`
  expect((await here.rival.call('POST', path)).status).toBe(404)
  expect((await (await here.scoped('webhooks.read')).call('POST', path)).status).toBe(403)
  expect((await expunge(here, id, { 'if-match': `"${version + 1}"` })).status).toBe(412)
  expect((await expunge(here, id, { 'if-match': `"${version}"` })).status).toBe(200)
})
