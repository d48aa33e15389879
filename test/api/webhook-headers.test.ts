import { afterEach, expect, test } from 'bun:test'
import { webhookAttempts } from '../../src/features/webhooks/deliveries/tables'
import { webhookEndpoints } from '../../src/features/webhooks/endpoints/tables'
import { endpointAt, raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { world } from '../support/world'

afterEach(stopReceivers)

const token = 'Bearer 5e1f-c0ffee-token'
const somewhere = 'http://127.0.0.1:9/hook'

test('custom headers are sent with every attempt, and their values are never shown', async () => {
  const here = await world()
  const inbox = receiver()
  // A receiver that echoes them must not reveal them.
  inbox.answer = message => new Response(JSON.stringify([...message.headers]), { status: 500, headers: { 'x-echo': token } })
  const { id } = await endpointAt(here, inbox.url, { headers: { Authorization: token, 'X-Team': 'ops' } })
  await raiseAlert(here)
  await here.settle()
  await here.advance(6_000)
  expect(inbox.received).toHaveLength(2)
  for (const { headers } of inbox.received) {
    expect([headers.get('authorization'), headers.get('x-team')]).toEqual([token, 'ops'])
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  }

  const [delivery] = (await here.acme.call('GET', '/v1/webhook-deliveries')).body.data
  const shown = await here.acme.call('GET', `/v1/webhook-deliveries/${delivery.id}`)
  expect(shown.body.attempts[1].request.headers).toMatchObject({ Authorization: '[redacted]', 'X-Team': '[redacted]' })
  const endpoint = await here.acme.call('GET', `/v1/webhook-endpoints/${id}`)
  expect(endpoint.body.header_names).toEqual(['Authorization', 'X-Team'])
  const rows = [await here.hub.read.select().from(webhookEndpoints), await here.hub.read.select().from(webhookAttempts)]
  const trail = await here.acme.call('GET', '/v1/audit-events')
  expect(shown.text + endpoint.text + trail.text + JSON.stringify(rows)).not.toContain('c0ffee')
})

test('an update of headers is merged, and audited without values', async () => {
  const here = await world()
  const { id } = await endpointAt(here, somewhere, { headers: { 'X-A': 'first', 'X-B': 'second' } })
  const path = `/v1/webhook-endpoints/${id}`
  const edit = async (headers: unknown) => (await here.acme.call('PATCH', path, { headers })).body.header_names
  const lastChange = async () => (await here.acme.call('GET', '/v1/audit-events?limit=1')).body.data[0].changes
  expect(await edit({ 'x-a': 'other' })).toEqual(['X-B', 'x-a'])
  expect((await lastChange()).after.headers).toMatch(/^hmac:/)
  expect(await edit({ 'x-a': 'other again' })).toEqual(['X-B', 'x-a'])
  const changed = await lastChange()
  expect(Object.keys(changed.after)).toEqual(['headers'])
  expect(changed.after.headers).not.toBe(changed.before.headers)
  expect(await edit({ 'X-B': null })).toEqual(['x-a'])
  expect(await edit(null)).toEqual([])
  const [row] = await here.hub.read.select().from(webhookEndpoints)
  expect(row!.headersSealed).toBeNull()
})

test('reserved names, line breaks, too many headers, and keeping values for another server are rejected', async () => {
  const here = await world()
  const make = (headers: unknown) =>
    here.acme.call('POST', '/v1/webhook-endpoints', { url: somewhere, events: ['monitor.alert'], headers })
  const refusals: [unknown, string][] = [
    [{ 'X-Service-Signature': 'forged' }, '#/headers/X-Service-Signature'],
    [{ 'webhook-id': 'forged' }, '#/headers/webhook-id'],
    [{ 'Content-Length': '0' }, '#/headers/Content-Length'],
    [{ Host: 'elsewhere' }, '#/headers/Host'],
    [{ 'X-A': 'one\r\nX-Service-Signature: forged' }, '#/headers/X-A'],
    [{ 'X-A': null }, '#/headers/X-A'],
    [Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`X-${n}`, 'v'])), '#/headers'],
  ]
  for (const [headers, pointer] of refusals) {
    const answer = await make(headers)
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, pointer])
    expect(answer.text).not.toContain('forged')
  }
  const { id } = (await make({ 'X-Key': 'value' })).body
  const path = `/v1/webhook-endpoints/${id}`
  const carried = await here.acme.call('PATCH', path, { url: 'http://127.0.0.1:10/mine' })
  expect(carried.body.errors[0]).toMatchObject({ pointer: '#/headers', code: 'required' })
  const moved = await here.acme.call('PATCH', path, { url: 'http://127.0.0.1:10/mine', headers: { 'X-Key': 'value' } })
  expect(moved.status).toBe(200)
})
