import { expect, test } from 'bun:test'
import { record } from '../../src/core/change'
import { eventKind } from '../../src/features/event-kinds'
import { raiseAlert } from '../support/receiver'
import { world, type World } from '../support/world'

const raiseExpiring = ({ hub, acme }: World) =>
  record(hub, async () => ({
    result: undefined,
    events: [
      {
        workspaceId: acme.workspaceId,
        kind: 'domain.expiring' as const,
        resource: { type: 'domain', id: 'dom_01k3zb2c4d6e8f0g2h4j6k8m0n' },
        data: { domain: 'example.com', expires_at: '2027-01-31' },
      },
    ],
  }))

test('events are listed newest first, with the data of their kind', async () => {
  const here = await world()
  await raiseExpiring(here)
  await here.advance(1_000)
  await raiseAlert(here)
  await raiseAlert(here)
  const { body } = await here.acme.call('GET', '/v1/events')
  expect(body.data.map((one: any) => [one.kind, one.sequence])).toEqual([
    ['monitor.alert', 2],
    ['monitor.alert', 1],
    ['domain.expiring', 1],
  ])
  expect(body.data[2]).toEqual({
    id: expect.stringMatching(/^evt_/),
    workspace_id: here.acme.workspaceId,
    message_id: expect.stringMatching(/^msg_/),
    kind: 'domain.expiring',
    occurred_at: '2026-11-21T10:00:00.000Z',
    resource: { type: 'domain', id: 'dom_01k3zb2c4d6e8f0g2h4j6k8m0n' },
    sequence: 1,
    data: { domain: 'example.com', expires_at: '2027-01-31' },
  })
  expect(body.data[0].data).toEqual(eventKind('monitor.alert')!.example)
  expect((await here.acme.call('GET', `/v1/events/${body.data[2].id}`)).body).toEqual(body.data[2])
})

test('a caller sees only events of areas it may read', async () => {
  const here = await world()
  await raiseExpiring(here)
  await raiseAlert(here)
  const [alert, expiring] = (await here.acme.call('GET', '/v1/events')).body.data
  const domains = await here.scoped('domains.read')
  const kinds = async (query = '') => (await domains.call('GET', `/v1/events?${query}`)).body.data.map((one: any) => one.kind)
  expect(await kinds()).toEqual(['domain.expiring'])
  expect(await kinds('kind=monitor.alert,domain.expiring')).toEqual(['domain.expiring'])
  expect(await kinds('kind=monitor.alert')).toEqual([])
  expect((await domains.call('GET', '/v1/events?include=total')).body.pagination.total).toBe(1)
  expect((await domains.call('GET', `/v1/events/${expiring.id}`)).status).toBe(200)
  expect((await domains.call('GET', `/v1/events/${alert.id}`)).status).toBe(404)
  expect((await (await here.scoped('account.read')).call('GET', '/v1/events')).body.data).toEqual([])
  expect((await here.readOnly.call('GET', '/v1/events')).body.data).toHaveLength(2)
  expect((await here.anonymous.call('GET', '/v1/events')).status).toBe(401)
})

test('events of another workspace are not visible', async () => {
  const here = await world()
  await raiseAlert(here)
  const [event] = (await here.acme.call('GET', '/v1/events')).body.data
  expect((await here.rival.call('GET', '/v1/events')).body.data).toEqual([])
  expect((await here.rival.call('GET', `/v1/events/${event.id}`)).status).toBe(404)
})

test('the list is filtered by kind, resource, and time, and paged by cursor', async () => {
  const here = await world()
  await raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m0n')
  await here.advance(60_000)
  await raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m0p')
  await raiseExpiring(here)
  const list = async (query: string) => (await here.acme.call('GET', `/v1/events?${query}`)).body
  expect((await list('kind=domain.expiring')).data).toHaveLength(1)
  expect((await list('resource_id=hb_01k3zb2c4d6e8f0g2h4j6k8m0p')).data).toHaveLength(1)
  expect((await list('resource_type=heartbeat')).data).toHaveLength(2)
  expect((await list('occurred_at[gte]=2026-11-21T10:01:00Z')).data).toHaveLength(2)
  const first = await list('limit=2')
  const rest = await list(`limit=2&cursor=${first.pagination.next_cursor}`)
  expect([...first.data, ...rest.data].map((one: any) => one.id)).toEqual((await list('')).data.map((one: any) => one.id))
  expect(rest.pagination).toEqual({ has_more: false, next_cursor: null })
  expect((await here.acme.call('GET', '/v1/events?kind=nonsense')).status).toBe(400)
})
