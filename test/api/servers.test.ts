import { describe, expect, test } from 'bun:test'
import { actions } from '../../src/features/actions/tables'
import { servers } from '../../src/features/servers/tables'
import { cloudScene } from '../support/clouds/cloud-scene'
import { pointers } from '../support/pointers'
import { watched } from '../support/watched-monitors'
import { callerWith, world } from '../support/world'

describe('servers', () => {
  test('can be added without a cloud account', async () => {
    const here = await world()
    const call = (body: object) => here.acme.call('POST', '/v1/servers', body, { 'Idempotency-Key': JSON.stringify(body) })
    const added = await call({ name: 'nas', kind: 'bare_metal', location: 'Basement', addresses: ['fd00::1', '192.0.2.7'] })
    expect(added.status).toBe(201)
    expect(added.body).toMatchObject({
      origin: 'added',
      status: 'unknown',
      location: 'Basement',
      actions: [],
      addresses: [{ address: '192.0.2.7' }, { address: 'fd00::1', family: 6, scope: 'private' }],
    })
    expect(pointers(await call({ name: 'nas2', size: 'cx22', addresses: ['192.0.2.0/24'] }))).toEqual([
      422,
      ['#/size', '#/addresses/0'],
    ])
    const act = await here.acme.call('POST', `/v1/servers/${added.body.id}/actions`, { action: 'power-on' })
    expect([act.status, act.body.code]).toEqual([422, 'unsupported_action'])
    expect((await here.acme.call('DELETE', `/v1/servers/${added.body.id}`)).status).toBe(204)
  })

  test('are listed by ID', async () => {
    const here = await world()
    const create = async (name: string, of = here.acme): Promise<string> =>
      (await of.call('POST', '/v1/servers', { name }, { 'Idempotency-Key': name })).body.id
    const [first, , third] = [await create('one'), await create('two'), await create('three')]
    const foreign = await create('four', here.rival)
    const { body } = await here.acme.call('GET', `/v1/servers?ids=${first},${third},${foreign}&sort=name`)
    expect(body.data.map((one: { name: string }) => one.name)).toEqual(['one', 'three'])
  })

  test('private keys and user data are stored nowhere in plain text', async () => {
    const here = await world()
    const { double, create, act, finish, named } = await cloudScene(here)
    const privateKey = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----'
    const draft = { provision: false, ssh_keys: [privateKey] }
    expect(pointers(await create('web-1', draft))).toEqual([422, ['#/ssh_keys/0']])
    const { id } = (await create('web-2', { provision: false })).body
    expect(pointers(await here.acme.call('PATCH', `/v1/servers/${id}`, { ssh_keys: [privateKey] }))).toEqual([
      422,
      ['#/ssh_keys/0'],
    ])
    double.addServer({ name: 'web-3' })
    await here.advance(60_000)
    const found = await named('web-3')
    const rebuild = await act(found.id, 'rebuild', { image: 'debian-12', user_data: '#cloud-config secret-4711' })
    await finish(rebuild.body.id)
    expect(double.requests.some(one => JSON.stringify(one.body ?? null).includes('secret-4711'))).toBe(true)
    const stored = JSON.stringify([await here.hub.read.select().from(actions), await here.hub.read.select().from(servers)])
    expect(stored).not.toContain('secret-4711')
    expect(stored).not.toContain('PRIVATE KEY')
    const tooLong = await act(found.id, 'rebuild', { image: 'debian-12', user_data: 'ü'.repeat(20_000) })
    expect(pointers(tooLong)).toEqual([422, ['#/params/user_data']])
    expect(pointers(await act(found.id, 'rebuild', { image: 'windows' }))).toEqual([422, ['#/params/image']])
    expect(pointers(await act(found.id, 'rename', { name: 'not valid!' }))).toEqual([422, ['#/params/name']])
  })

  test('tokens that are restricted to a server learn about monitors', async () => {
    const here = await world()
    const { double, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    const monitor = await watched(here, { name: 'Secret customer' })
    const token = (await here.acme.call('POST', '/v1/tokens', { name: 'narrow', mode: 'full', resource_ids: [id] })).body.token
    const narrow = callerWith(here.app, here.acme.workspaceId, token)
    expect(pointers(await narrow.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [monitor] }))).toEqual([
      422,
      ['#/health_monitor_ids/0'],
    ])
  })
})
