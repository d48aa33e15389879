import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { webhookEndpoints } from '../../src/features/webhooks/endpoints/tables'
import { endpointAt, raiseAlert, receiver, stopReceivers, type Received } from '../support/receiver'
import { world, type World } from '../support/world'

afterEach(stopReceivers)

const hour = 3_600_000
const somewhere = 'http://127.0.0.1:9/hook'
const rotate = ({ acme }: World, id: string, input: object = {}, headers: Record<string, string> = {}) =>
  acme.call('POST', `/v1/webhook-endpoints/${id}/secret/rotate`, input, headers)
const promote = ({ acme }: World, id: string) => acme.call('POST', `/v1/webhook-endpoints/${id}/secret/promote`)

/** Which signatures of a message match a secret, using node:crypto; and whether the two npm libraries accept it. */
function verdict({ headers, body }: Received, secret: string) {
  const fields = Object.fromEntries(headers)
  const plain = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const verifies = (Webhook: typeof StandardWebhook | typeof SvixWebhook) => {
    setSystemTime(Number(fields['webhook-timestamp']) * 1_000)
    try {
      new Webhook(secret).verify(body, fields)
      return true
    } catch {
      return false
    } finally {
      setSystemTime()
    }
  }
  return {
    plain: fields['x-service-signature'] === plain,
    next: fields['x-service-signature-next'] === plain,
    standardwebhooks: verifies(StandardWebhook),
    svix: verifies(SvixWebhook),
  }
}

const all = { plain: true, next: false, standardwebhooks: true, svix: true }
const none = { plain: false, next: false, standardwebhooks: false, svix: false }

test('three independent verifiers accept the right secrets before, during, and after an overlap', async () => {
  const here = await world()
  const inbox = receiver()
  const { id, secret: old } = await endpointAt(here, inbox.url)
  const next = async () => {
    await raiseAlert(here)
    await here.settle()
    return inbox.received.at(-1)!
  }
  const before = await next()
  const rotated = await rotate(here, id, { overlap_seconds: 3_600 })
  expect(rotated.status).toBe(200)
  const fresh = rotated.body.secret
  expect(fresh).not.toBe(old)
  expect(verdict(before, old)).toEqual(all)
  expect(verdict(before, fresh)).toEqual(none)

  await here.advance(hour - 1)
  const during = await next()
  expect(during.headers.get('webhook-signature')!.split(' ')).toHaveLength(2)
  expect(verdict(during, old)).toEqual(all)
  expect(verdict(during, fresh)).toEqual({ ...all, plain: false, next: true })

  await here.advance(1)
  const after = await next()
  expect(after.headers.get('webhook-signature')!.split(' ')).toHaveLength(1)
  expect(after.headers.get('x-service-signature-next')).toBeNull()
  expect(verdict(after, old)).toEqual(none)
  expect(verdict(after, fresh)).toEqual(all)
})

test('promoting ends the overlap early', async () => {
  const here = await world()
  const inbox = receiver()
  const { id, secret: old } = await endpointAt(here, inbox.url)
  const fresh = (await rotate(here, id)).body.secret
  expect((await promote(here, id)).status).toBe(200)
  await raiseAlert(here)
  await here.settle()
  expect(verdict(inbox.received[0]!, old)).toEqual(none)
  expect(verdict(inbox.received[0]!, fresh)).toEqual(all)
  const again = await promote(here, id)
  expect(again.status).toBe(409)
  expect(again.body.code).toBe('conflict')
})

test('both secrets are shown masked during a rotation, and never in full', async () => {
  const here = await world()
  const { id, secret: old } = await endpointAt(here, somewhere)
  const path = `/v1/webhook-endpoints/${id}`
  await here.audited()
  const rotated = await rotate(here, id, { overlap_seconds: 604_800 })
  const fresh = rotated.body.secret
  const hint = (secret: string) => `whsec_…${secret.slice(-4)}`
  expect(rotated.body).toMatchObject({
    version: 2,
    secret_hint: hint(old),
    next_secret_hint: hint(fresh),
    overlap_ends_at: '2026-11-28T10:00:00.000Z',
  })
  const { secret: _, ...shown } = rotated.body
  expect((await here.acme.call('GET', path)).body).toEqual(shown)
  const rows = JSON.stringify(await here.hub.read.select().from(webhookEndpoints))
  const trail = (await here.acme.call('GET', '/v1/audit-events')).text
  for (const secret of [old, fresh]) expect(rows + trail).not.toContain(secret.slice(6))

  await here.advance(604_800_000)
  expect((await here.acme.call('GET', path)).body).toMatchObject({
    version: 3,
    secret_hint: hint(fresh),
    next_secret_hint: null,
    overlap_ends_at: null,
  })
  expect(await here.audited()).toEqual(['webhooks.secret.rotate', 'webhooks.secret.promote'])
  const [row] = await here.hub.read.select().from(webhookEndpoints)
  expect(row!.nextSecretSealed).toBeNull()
  const place = { table: 'webhook_endpoints', column: 'secret_sealed', row: id, workspaceId: here.acme.workspaceId }
  expect(await here.hub.keys.open(place, row!.secretSealed)).toBe(fresh)
})

test('at most two secrets are valid, and an overlap of 0 leaves one', async () => {
  const here = await world()
  const { id } = await endpointAt(here, somewhere)
  expect((await rotate(here, id)).status).toBe(200)
  const third = await rotate(here, id)
  expect(third.status).toBe(409)
  expect(third.body.detail).toContain('2026-11-22T10:00:00.000Z')
  await here.advance(86_400_000)
  const own = `whsec_${Buffer.alloc(32, 'n').toString('base64')}`
  const replaced = await rotate(here, id, { secret: own, overlap_seconds: 0 })
  expect(replaced.body).toMatchObject({ secret: own, secret_hint: `whsec_…${own.slice(-4)}`, next_secret_hint: null })
  for (const overlap_seconds of [-1, 604_801, 1.5]) expect((await rotate(here, id, { overlap_seconds })).status).toBe(422)
  const malformed = await rotate(here, id, { secret: 'correct horse battery' })
  expect(malformed.body.errors[0]).toMatchObject({ pointer: '#/secret', code: 'format' })
})

test('a rotation after one that was promoted early keeps its own overlap', async () => {
  const here = await world()
  const { id } = await endpointAt(here, somewhere)
  const overlapping = async () => (await here.acme.call('GET', `/v1/webhook-endpoints/${id}`)).body.next_secret_hint !== null
  await rotate(here, id, { overlap_seconds: 3_600 })
  await promote(here, id)
  await rotate(here, id, { overlap_seconds: 7_200 })
  await here.advance(hour)
  expect(await overlapping()).toBe(true)
  await here.advance(hour)
  expect(await overlapping()).toBe(false)
})

test('a rotation respects If-Match, its idempotency key, and workspace boundaries', async () => {
  const here = await world()
  const { id } = await endpointAt(here, somewhere)
  const path = `/v1/webhook-endpoints/${id}`
  const etag = (await here.acme.call('GET', path)).headers.get('etag')!
  await here.acme.call('PATCH', path, { description: 'moved on' })
  expect((await rotate(here, id, {}, { 'if-match': etag })).status).toBe(412)
  const headers = { 'idempotency-key': 'once' }
  const first = await rotate(here, id, {}, headers)
  const again = await rotate(here, id, {}, headers)
  expect(again.status).toBe(200)
  expect(again.body.secret_shown_before).toBe(true)
  expect(again.text).not.toContain(first.body.secret)
  for (const verb of ['rotate', 'promote']) {
    expect((await here.rival.call('POST', `${path}/secret/${verb}`)).status).toBe(404)
    expect((await here.readOnly.call('POST', `${path}/secret/${verb}`)).status).toBe(403)
  }
})

test('rotating to a secret in use is rejected', async () => {
  const here = await world()
  const { id, secret } = await endpointAt(here, somewhere)
  const refused = async (value: string) => {
    const answer = await rotate(here, id, { secret: value, overlap_seconds: 0 })
    return [answer.status, answer.body.errors?.[0].pointer]
  }
  expect(await refused(secret)).toEqual([422, '#/secret'])
  const next = (await rotate(here, id)).body.secret
  await here.advance(25 * hour)
  expect(await refused(next)).toEqual([422, '#/secret'])
  expect(await refused(secret)).toEqual([200, undefined])
  const stream = (await here.acme.call('POST', '/v1/audit-streams', { name: 'SIEM', url: somewhere, active: false })).body
  const again = await here.acme.call('POST', `/v1/audit-streams/${stream.id}/secret/rotate`, { secret: stream.secret })
  expect([again.status, again.body.errors[0].pointer]).toEqual([422, '#/secret'])
})
