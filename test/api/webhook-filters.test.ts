import { afterEach, expect, test } from 'bun:test'
import { endpointAt, raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { world } from '../support/world'

afterEach(stopReceivers)

const [one, two] = ['hb_01k3zb2c4d6e8f0g2h4j6k8m0n', 'hb_01k3zb2c4d6e8f0g2h4j6k8m0p'] as const

test('undelivered messages are found by the error class and status of the last attempt', async () => {
  const here = await world()
  const [good, bad] = [receiver(), receiver()]
  bad.answer = () => new Response(null, { status: 503 })
  const delivered = await endpointAt(here, good.url)
  const refused = await endpointAt(here, bad.url)
  const unreachable = await endpointAt(here, 'http://127.0.0.1:1/')
  const paused = await endpointAt(here, good.url, { active: false })
  await raiseAlert(here)
  await here.settle()
  const found = async (query: string) =>
    (await here.acme.call('GET', `/v1/webhook-deliveries?sort=id&${query}`)).body.data.map((row: any) => row.endpoint_id).sort()
  const ids = (...endpoints: { id: string }[]) => endpoints.map(endpoint => endpoint.id).sort()
  expect(await found('undelivered=true')).toEqual(ids(refused, unreachable, paused))
  expect(await found('undelivered=false')).toEqual(ids(delivered))
  expect(await found('undelivered=true&status=held')).toEqual(ids(paused))
  expect(await found('error_class=http_status')).toEqual(ids(refused))
  expect(await found('error_class=connect,timeout')).toEqual(ids(unreachable))
  expect(await found('status_code=503')).toEqual(ids(refused))
  expect(await found('status_code=204')).toEqual(ids(delivered))
  for (const query of ['undelivered=maybe', 'error_class=bad_luck', 'status_code=42', 'status_code=ok']) {
    expect((await here.acme.call('GET', `/v1/webhook-deliveries?${query}`)).status).toBe(400)
  }
  const [row] = (await here.acme.call('GET', '/v1/webhook-deliveries?status_code=503')).body.data
  expect(row).toMatchObject({ last_status_code: 503, last_error_class: 'http_status' })

  bad.answer = () => new Response()
  await here.advance(6_000)
  expect(await found('undelivered=true')).toEqual(ids(unreachable, paused))
  expect(await found('error_class=http_status')).toEqual([])
})

test('an endpoint with a resource filter receives only events about those resources', async () => {
  const here = await world()
  const inbox = receiver()
  const { id } = await endpointAt(here, inbox.url, { filters: { resource_ids: [one] } })
  const path = `/v1/webhook-endpoints/${id}`
  const arrived = async () => {
    await raiseAlert(here, one)
    await raiseAlert(here, two)
    await here.settle()
    return inbox.received
      .splice(0)
      .map(message => message.headers.get('x-service-resource')!.split('/')[1]!)
      .sort()
  }
  expect((await here.acme.call('GET', path)).body.filters).toEqual({ resource_ids: [one] })
  expect(await arrived()).toEqual([one])
  expect((await here.acme.call('GET', '/v1/webhook-deliveries')).body.data).toHaveLength(1)
  await here.acme.call('PATCH', path, { filters: { resource_ids: null } })
  expect(await arrived()).toEqual([one, two])
  for (const resource_ids of [[], ['', one], [one, one], Array.from({ length: 101 }, (_, n) => `hb_${n}`), undefined]) {
    expect((await here.acme.call('PATCH', path, { filters: { resource_ids } })).status).toBe(422)
  }
})

test('widening the filter requires read permission on the areas of the kinds', async () => {
  const here = await world()
  const hooks = await here.scoped('webhooks.write')
  const { id } = await endpointAt(here, 'http://127.0.0.1:9/hook', { filters: { resource_ids: [one, two] } })
  const edit = (resource_ids: string[] | null) =>
    hooks.call('PATCH', `/v1/webhook-endpoints/${id}`, { filters: { resource_ids } })
  expect((await edit([one])).status).toBe(200)
  expect((await edit([one, two])).body.required_permission).toBe('monitoring.read')
  expect((await edit(null)).body.required_permission).toBe('monitoring.read')
})

test('an invalid resource id is rejected as a filter', async () => {
  const here = await world()
  const filters = { resource_ids: [one, 'nonsense', 'tok_01k3zb2c4d6e8f0g2h4j6k8m0n'] }
  const body = { url: 'http://127.0.0.1:9/hook', events: ['monitor.alert'] }
  const created = await here.acme.call('POST', '/v1/webhook-endpoints', { ...body, filters })
  const { id } = await endpointAt(here, body.url)
  const edited = await here.acme.call('PATCH', `/v1/webhook-endpoints/${id}`, { filters })
  for (const answer of [created, edited]) {
    expect([answer.status, answer.body.errors.map((error: any) => `${error.pointer} ${error.code}`)]).toEqual([
      422,
      ['#/filters/resource_ids/1 format', '#/filters/resource_ids/2 format'],
    ])
  }
})
