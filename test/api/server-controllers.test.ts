import { expect, test } from 'bun:test'
import { BmcDouble } from '../support/controllers/bmc'
import { pointers } from '../support/pointers'
import { closeLater, world, type World } from '../support/world'

const password = 'changeme-bmc-20bytes'
/** A server without a cloud, and a BMC. */
async function scene(here: World) {
  const bmc = await new BmcDouble().start()
  closeLater(async () => bmc.stop())
  const added = await here.acme.call(
    'POST',
    '/v1/servers',
    { name: 'rack-1', kind: 'bare_metal' },
    { 'Idempotency-Key': 'rack-1' },
  )
  const path = `/v1/servers/${added.body.id}`
  const settings = { host: '127.0.0.1', port: bmc.port, user: 'bailiwick', password }
  return {
    bmc,
    path,
    settings,
    put: (more: object = {}, kind = 'ipmi') =>
      here.acme.call('PUT', `${path}/controllers/${kind}`, { settings: { ...settings, ...more } }),
    server: async () => (await here.acme.call('GET', path)).body,
    controllers: async () => (await here.acme.call('GET', `${path}/controllers`)).body.data,
  }
}

test('a controller tells the power of its server each minute', async () => {
  const here = await world()
  const { bmc, path, put, server, controllers } = await scene(here)
  await here.audited()
  const created = await put()
  expect(created.status).toBe(200)
  expect(created.body).toMatchObject({
    kind: 'ipmi',
    settings: { host: '127.0.0.1', cipher_suite: 17 },
    secrets_set: ['password'],
    state: 'unknown',
    power: 'unknown',
    power_at: null,
  })
  expect(created.text).not.toContain(password)
  expect(await here.audited()).toEqual(['cloud.controller.create'])
  await here.settle()
  const [checked] = await controllers()
  expect(checked).toMatchObject({
    state: 'ok',
    detail: 'IPMI 2.0, firmware 2.41, Dell, product 256',
    power: 'off',
    last_error: null,
  })
  expect(await server()).toMatchObject({
    power: 'off',
    status: 'off',
    health: 'down',
    controllers: [{ kind: 'ipmi', state: 'ok' }],
    observed: { power: { source: 'controller', at: checked.power_at, stale: false }, health: { source: 'controller' } },
  })
  expect(await here.emitted()).toEqual(['server.status_changed'])

  bmc.power = 'on'
  await here.advance(60_000)
  expect(await server()).toMatchObject({ power: 'on', status: 'running', health: 'unknown' })
  const moves = (await here.acme.call('GET', `${path}/transitions?field=power`)).body.data
  expect(moves.map((one: any) => [one.from, one.to, one.source])).toEqual([
    ['off', 'on', 'controller'],
    ['unknown', 'off', 'controller'],
  ])
  const facts = (await here.acme.call('GET', `${path}/facts`)).body.data
  expect(facts.find((one: any) => one.fact === 'power')).toMatchObject({ value: 'on', source: 'controller', stale: false })
})

test('a controller that fails is reported once, and its last reading becomes unknown', async () => {
  const here = await world()
  const { bmc, put, server, controllers } = await scene(here)
  const { port } = bmc
  await put()
  await here.settle()
  await here.audited()
  bmc.stop()
  await here.advance(60_000)
  const [failing] = await controllers()
  expect(failing).toMatchObject({
    state: 'failing',
    last_error: { code: 'unreachable', detail: 'Nothing listens on this UDP port of the host.' },
    power: 'off',
  })
  expect(await here.audited()).toEqual(['cloud.controller.fail'])
  const notices = (await here.acme.call('GET', '/v1/notices')).body.data
  expect(notices.filter((one: any) => one.kind === 'server_controller.failing')).toMatchObject([
    { text: expect.stringContaining('IPMI of rack-1'), count: 1 },
  ])
  await here.advance(6 * 60_000)
  expect(await server()).toMatchObject({ power: 'unknown', status: 'unknown', observed: { power: { source: null } } })

  await bmc.start(port)
  bmc.power = 'on'
  await here.advance(20 * 60_000)
  expect(await server()).toMatchObject({ power: 'on', controllers: [{ kind: 'ipmi', state: 'ok' }] })
  expect(await here.audited()).toContain('cloud.controller.recover')
})

test('settings are replaced, and secrets are kept unless they would be sent elsewhere', async () => {
  const here = await world()
  const { path, put, settings, controllers, bmc } = await scene(here)
  await put({ privilege: 'operator' })
  const replaced = await here.acme.call('PUT', `${path}/controllers/ipmi`, {
    settings: { host: '127.0.0.1', port: bmc.port, user: 'bailiwick', cipher_suite: 3 },
  })
  expect(replaced.body).toMatchObject({ settings: { cipher_suite: 3 }, secrets_set: ['password'], version: 2, state: 'unknown' })
  await here.settle()
  expect((await controllers())[0]).toMatchObject({ state: 'ok' })
  expect(
    (await here.acme.call('PUT', `${path}/controllers/ipmi`, { settings: { ...settings, cipher_suite: 3 } })).body.version,
  ).toBe(2)
  const moved = { settings: { host: '127.0.0.2', user: 'bailiwick' } }
  expect(pointers(await here.acme.call('PUT', `${path}/controllers/ipmi`, moved))).toEqual([422, ['#/settings/password']])
  expect(pointers(await put({ user: 'x'.repeat(17) }))).toEqual([422, ['#/settings/user']])
  expect(pointers(await put({}, 'wake_on_lan'))[0]).toBe(422)
  const stale = await here.acme.call('PUT', `${path}/controllers/ipmi`, { settings }, { 'If-Match': '"1"' })
  expect(stale.status).toBe(412)
  const stored = JSON.stringify((await here.acme.call('GET', '/v1/audit-events?limit=100')).body)
  expect(stored).not.toContain(password)
})

test('a check reports what is wrong', async () => {
  const here = await world()
  const { bmc, path, put } = await scene(here)
  await put()
  bmc.users.bailiwick!.password = 'another'
  const checked = await here.acme.call('POST', `${path}/controllers/ipmi/check`)
  expect(checked.body).toMatchObject({
    state: 'failing',
    last_error: { code: 'unauthorized', detail: 'The password of the user "bailiwick" is wrong.' },
  })
  bmc.users.bailiwick!.password = password
  expect((await here.acme.call('POST', `${path}/controllers/ipmi/check`)).body).toMatchObject({ state: 'ok', last_error: null })
})

test('controllers are deleted by themselves, and with their server', async () => {
  const here = await world()
  const { path, put, controllers } = await scene(here)
  expect((await here.acme.call('DELETE', `${path}/controllers/ipmi`)).status).toBe(404)
  await put()
  expect((await put({}, 'telepathy')).status).toBe(404)
  for (const [method, end] of [
    ['GET', ''],
    ['PUT', '/ipmi'],
    ['DELETE', '/ipmi'],
    ['POST', '/ipmi/check'],
  ] as const) {
    const body = method === 'PUT' ? { settings: {} } : undefined
    expect((await here.rival.call(method, `${path}/controllers${end}`, body)).status).toBe(404)
  }
  expect((await here.acme.call('DELETE', `${path}/controllers/ipmi`)).status).toBe(204)
  expect(await controllers()).toEqual([])
  await put()
  await here.settle()
  expect((await here.acme.call('DELETE', path)).status).toBe(204)
  // The jobs of a deleted controller do nothing.
  await here.advance(10 * 60_000)
  expect((await here.acme.call('GET', `${path}/controllers`)).status).toBe(404)
})

test('kinds are listed with their settings', async () => {
  const here = await world()
  const { data } = (await here.acme.call('GET', '/v1/controller-kinds')).body
  expect(data.map((one: any) => [one.kind, one.capabilities.reads_power, one.secrets])).toEqual([
    ['redfish', true, ['password']],
    ['ipmi', true, ['password']],
    ['ssh', false, ['private_key', 'password']],
    ['wake_on_lan', false, []],
  ])
})

test('actions of a server without a cloud are performed by its controllers', async () => {
  const here = await world()
  const { bmc, path, put, server } = await scene(here)
  expect((await server()).actions).toEqual([])
  await put()
  await here.settle()
  const act = (action: string, more: object = {}) => here.acme.call('POST', `${path}/actions`, { action, ...more })
  const finish = async (id: string) => {
    for (let seconds = 0; seconds < 600; seconds += 2) {
      const action = (await here.acme.call('GET', `/v1/actions/${id}`)).body
      if (action.finished_at !== null) return action
      await here.advance(2000)
    }
    throw new Error('The action does not finish.')
  }
  expect((await server()).actions).toEqual([{ action: 'power_on', via: ['ipmi'] }])
  expect(pointers(await act('power_on', { via: 'redfish' }))).toEqual([422, ['#/via']])
  expect(pointers(await act('resize'))).toEqual([422, ['#/action']])
  const on = await act('power_on')
  expect((await server()).status).toBe('starting')
  expect(await finish(on.body.id)).toMatchObject({ status: 'success' })
  expect(bmc.power).toBe('on')
  expect(await server()).toMatchObject({ status: 'running', power: 'on', action_id: null })
  expect((await act('power_on')).body.result).toEqual({ unchanged: true })
  await here.emitted()
  expect(await finish((await act('power_off', { via: 'ipmi' })).body.id)).toMatchObject({ status: 'success' })
  expect(bmc.power).toBe('off')
  expect(await server()).toMatchObject({ status: 'off', health: 'down' })
  const events = (await here.acme.call('GET', '/v1/events')).body.data
  expect(events[0].data).toMatchObject({ status: 'down', power: 'off' })
  bmc.stop()
  const failed = await finish((await act('power_on')).body.id)
  expect(failed).toMatchObject({ status: 'error', error: { code: 'provider_failed' } })
  expect((await server()).action_id).toBeNull()
})
