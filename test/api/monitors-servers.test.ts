import { expect, test } from 'bun:test'
import { rollUpMetrics } from '../../src/features/servers/metrics/recorder'
import { watchServers } from '../../src/features/servers/watch'
import { cloudScene } from '../support/clouds/cloud-scene'
import { AgentDouble } from '../support/agent-double'
import { world, type World } from '../support/world'

const minuteMs = 60_000

async function scene(here: World) {
  const input = { name: 'web-1', monitor: false }
  const { id } = (await here.acme.call('POST', '/v1/servers', input, { 'Idempotency-Key': 'web-1' })).body
  const agent = await AgentDouble.enroll(here, id, { facts: { cores: 4, memory_bytes: 2 ** 30 } })
  const create = (body: object) => here.acme.call('POST', '/v1/monitors', { target: id, interval_seconds: 60, ...body })
  return {
    id,
    agent,
    create,
    get: async (monitor: string) => (await here.acme.call('GET', `/v1/monitors/${monitor}`)).body,
    incidents: async (): Promise<any[]> => (await here.acme.call('GET', '/v1/incidents')).body.data,
    /** Lets time pass, in which the agent reports these values, or is silent. */
    async pass(minutes: number, values: Readonly<Record<string, number>> | null): Promise<void> {
      for (let at = 0; at < minutes * 6; at++) {
        if (values && at % 6 === 0) {
          await agent.reports()
          await agent.measured(values, Math.floor(here.clock.now() / minuteMs) * minuteMs)
        }
        for (let seconds = 0; seconds < 10; seconds++) await here.advance(1000)
        await watchServers(here.hub)
      }
    },
  }
}

test('a monitor of a server is down while the server is, with an incident and alerts', async () => {
  const here = await world()
  const { create, get, incidents, pass, id } = await scene(here)
  const created = await create({})
  expect(created.body).toMatchObject({ type: 'server', name: 'web-1', target: id, status: 'new' })
  const renamed = async (name: string | null) =>
    (await here.acme.call('PATCH', `/v1/monitors/${created.body.id}`, { name })).body.name
  expect([await renamed('other'), await renamed(null)]).toEqual(['other', 'web-1'])
  await pass(1, {})
  expect(await get(created.body.id)).toMatchObject({ status: 'up', last_result: { status: 'up', error: null } })
  await here.emitted()
  await pass(4, null)
  expect(await get(created.body.id)).toMatchObject({
    status: 'down',
    last_result: { error: { kind: 'unreachable', message: expect.stringMatching(/^The agent has not reported since \S+Z$/) } },
  })
  expect((await incidents()).map(one => one.status)).toEqual(['open'])
  expect(await here.emitted()).toEqual(['server.status_changed', 'monitor.alert'])
  await pass(2, {})
  expect(await get(created.body.id)).toMatchObject({ status: 'up' })
  expect((await incidents()).map(one => one.status)).toEqual(['resolved'])
})

test('conditions compare what the server uses', async () => {
  const here = await world()
  const { create, get, incidents, pass } = await scene(here)
  const full = await create({ name: 'full', degraded_if: ['[DISK_PERCENT] > 90', '[LOAD_PER_CORE] >= 1'] })
  const data = await create({ name: 'data', down_if: ['[DISK_PERCENT]./data > 90'], degraded_if: ['[TEMPERATURE] > 80'] })
  const memory = await create({ name: 'memory', degraded_if: ['[MEMORY_PERCENT] > 70', '[SWAP_PERCENT] > 1'] })
  const size = { 'filesystem.size_bytes:/': 1000, 'filesystem.size_bytes:/data': 1000 }
  await pass(3, {
    ...size,
    ...{ 'filesystem.used_bytes:/': 950, 'filesystem.used_bytes:/data': 500 },
    ...{ 'load.1': 4, 'memory.used_bytes': 0.75 * 2 ** 30, 'temperature.celsius:CPU1 Temp': 60 },
  })
  expect(await get(full.body.id)).toMatchObject({
    status: 'degraded',
    last_result: { error: { kind: 'condition', message: 'Disk use is 95%, more than 90%: /, and 1 more condition' } },
  })
  // The error is about the first condition; the evidence has all that were true.
  const incident = (await incidents()).find(one => one.monitors[0].id === full.body.id)
  expect((await here.acme.call('GET', `/v1/incidents/${incident.id}`)).body.evidence).toEqual({
    conditions: ['[DISK_PERCENT] (95) > 90', '[LOAD_PER_CORE] (1) >= 1'],
  })
  expect(await get(data.body.id)).toMatchObject({ status: 'up' })
  // A value that was not measured makes no condition true.
  expect(await get(memory.body.id)).toMatchObject({
    status: 'degraded',
    last_result: { error: { message: 'Memory use is 75%, more than 70%' } },
  })
  await pass(7, {
    ...size,
    ...{ 'filesystem.used_bytes:/': 100, 'filesystem.used_bytes:/data': 990, 'load.1': 4, 'memory.used_bytes': 2 ** 28 },
    ...{ 'temperature.celsius:CPU1 Temp': 85 },
  })
  expect(await get(data.body.id)).toMatchObject({
    status: 'down',
    last_result: { error: { message: 'Disk use of /data is 99%, more than 90%' } },
  })
  expect(await get(memory.body.id)).toMatchObject({ status: 'up' })
  const checked = await here.acme.call('POST', `/v1/monitors/${data.body.id}/check`)
  expect([checked.status, checked.body.result.status]).toEqual([200, 'down'])
})

test('a file system that will be full soon, and a clock that is wrong', async () => {
  const here = await world()
  const { create, get, agent, id } = await scene(here)
  const start = Math.floor(here.clock.now() / minuteMs) * minuteMs
  const columns = [
    'filesystem.used_bytes:/',
    'filesystem.used_bytes:/data',
    'filesystem.size_bytes:/',
    'filesystem.size_bytes:/data',
  ]
  const row = (at: number) => [500, 10 * (at / 60), 1000, 100]
  const hours = 8
  await agent.sends(here, {
    columns,
    minutes: Array.from({ length: hours * 60 }, (_, at) => [start - (hours * 60 - at) * minuteMs, 6, row(at), row(at)]),
  })
  await rollUpMetrics(here.hub)
  const messages: [condition: string, message: RegExp][] = [
    ['[DISK_HOURS_LEFT] < 24', /^Time until a disk is full is 2\.\d+ h, less than 24 h: \/data$/],
    ['[DISK_HOURS_LEFT]./data < 24', /^Time until \/data is full is 2\.\d+ h, less than 24 h$/],
    ['[CLOCK_OFFSET] > 5s', /^Clock offset is 7s, more than 5s$/],
    ['[CLOCK_OFFSET] > 1000', /^Clock offset is 7s, more than 1s$/],
  ]
  const monitors: string[] = []
  for (const [condition] of messages) monitors.push((await create({ name: condition, degraded_if: [condition] })).body.id)
  const calm = await create({ name: 'calm', down_if: ['[DISK_HOURS_LEFT]./ < 8760', '[CLOCK_OFFSET] > 8s'] })
  const mounts = ['/', '/data'].map(path => ({ path, source: '/dev/sda1', type: 'ext4' }))
  const values = row(hours * 60)
  for (let minute = 0; minute < 2; minute++) {
    const measured = [[Math.floor(here.clock.now() / minuteMs) * minuteMs, 6, values, values]]
    expect((await agent.sendReport({ clock_offset_ms: -7000, mounts, columns, minutes: measured })).status).toBe(200)
    await watchServers(here.hub)
    for (let second = 0; second < 60; second++) await here.advance(1000)
  }
  for (const [at, [, message]] of messages.entries())
    expect((await get(monitors[at]!)).last_result?.error?.message).toMatch(message)
  expect((await get(calm.body.id)).status).toBe('up')
  const { mounts: shown } = (await here.acme.call('GET', `/v1/servers/${id}/inventory`)).body
  expect(shown.items.map((one: any) => [one.path, one.hours_left === null || Math.floor(one.hours_left)])).toEqual([
    ['/', true],
    ['/data', 2],
  ])
})

test('a failed unit, a container, a failing disk, and a degraded array each open an incident, which is resolved', async () => {
  const here = await world()
  const { create, get, agent, incidents, pass } = await scene(here)
  const messages: [condition: string, message: string][] = [
    ['[FAILED_UNITS] > 0', 'Number of failed units is 1, more than 0: nginx.service'],
    ['[UNHEALTHY_CONTAINERS] > 0', 'Number of unhealthy containers is 1, more than 0: web'],
    ['[CONTAINER].db != running', 'Container db is exited, not running'],
    ['[UNIT].cron == inactive', 'Unit cron is inactive'],
    ['[SMART_FAILING] == true', 'A disk is failing: /dev/sda: It wears out'],
    ['[SMART_FAILING]./dev/sda == true', 'The disk /dev/sda is failing'],
    ['[ARRAYS_DEGRADED] > 0', 'Number of degraded arrays is 1, more than 0: md0'],
    ['[PROCESS].nginx.count < 1', 'Number of nginx processes is 0, less than 1'],
    ['[PROCESS]."my app.count".count != 2', 'Number of my app.count processes is 3, not 2'],
    ['[SECURITY_UPDATES] > 10', 'Number of security updates is 11, more than 10'],
    ['[REBOOT_REQUIRED] == true', 'A restart is required'],
  ]
  const monitors: string[] = []
  for (const [condition] of messages) monitors.push((await create({ name: condition, degraded_if: [condition] })).body.id)
  const statuses = async () => (await Promise.all(monitors.map(get))).map(one => one.status)
  const container = { image: 'a', state: 'running', health: null, restarts: null, exit_code: null }
  const disk = { device: '/dev/sda', model: null, serial: null, error: null }
  const failing = {
    units: [
      { name: 'nginx.service', state: 'failed', sub_state: 'failed', watched: false },
      { name: 'cron', state: 'inactive', sub_state: 'dead', watched: true },
    ],
    containers: [
      { ...container, name: 'web', health: 'unhealthy' },
      { ...container, name: 'db', state: 'exited', exit_code: 137 },
    ],
    disks: [{ ...disk, failing: true, warnings: ['It wears out.'] }],
    arrays: [{ name: 'md0', kind: 'md', state: 'active', degraded: true }],
    processes: [
      { name: 'nginx', count: 0 },
      { name: 'my app.count', count: 3 },
    ],
    facts: { security_updates: 11, reboot_required: true },
  }
  expect((await agent.sendReport(failing)).status).toBe(200)
  // Parts that are not sent again have not changed.
  await pass(4, {})
  const errors = (await Promise.all(monitors.map(get))).map(one => one.last_result.error?.message)
  expect(errors).toEqual(messages.map(([, message]) => message))
  expect([await statuses(), (await incidents()).map(one => one.status)]).toEqual([
    messages.map(() => 'degraded'),
    messages.map(() => 'open'),
  ])
  const well = {
    units: [],
    arrays: [],
    disks: [{ ...disk, failing: false, warnings: [] }],
    processes: [
      { name: 'nginx', count: 1 },
      { name: 'my app.count', count: 2 },
    ],
    facts: { security_updates: 0, reboot_required: false },
  }
  await agent.sendReport({ ...well, containers: [{ ...container, name: 'db' }] })
  await pass(4, {})
  expect([await statuses(), (await incidents()).map(one => one.status)]).toEqual([
    messages.map(() => 'up'),
    messages.map(() => 'resolved'),
  ])
}, 180_000)

test('a condition that was true stays so while nothing measures its source', async () => {
  const here = await world()
  const { create, get, incidents, pass } = await scene(here)
  const { body: full } = await create({ degraded_if: ['[DISK_PERCENT] > 90', '[TEMPERATURE] > 80'] })
  const { body: negated } = await create({ down_if: ['not [DISK_PERCENT] < 99', '[TEMPERATURE] != 20'] })
  const used = (bytes: number) => ({ 'filesystem.size_bytes:/': 1000, 'filesystem.used_bytes:/': bytes })
  const statuses = async () => [(await get(full.id)).status, (await get(negated.id)).status]
  await pass(3, used(970))
  expect(await statuses()).toEqual(['degraded', 'up'])
  // The server stays up, but the measurements of the last five minutes become none.
  await pass(9, {})
  expect(await statuses()).toEqual(['unknown', 'up'])
  expect((await incidents()).map(one => one.status)).toEqual(['open'])
  const checked = await here.acme.call('POST', `/v1/monitors/${full.id}/check`)
  expect([checked.status, checked.body.result]).toEqual([202, null])
  // The temperature was never measured, so it doesn't count.
  await pass(3, used(500))
  expect(await statuses()).toEqual(['up', 'up'])
  expect((await incidents()).map(one => one.status)).toEqual(['resolved'])
})

test('servers that are down are reported even if usage can’t be read', async () => {
  const here = await world()
  const { create, get, pass } = await scene(here)
  const { body: monitor } = await create({ degraded_if: ['[DISK_PERCENT] > 90'] })
  const other = (await here.acme.call('POST', '/v1/servers', { name: 'web-2', monitor: false }, { 'Idempotency-Key': 'web-2' }))
    .body
  const { body: ofOther } = await create({ target: other.id, degraded_if: ['[DISK_PERCENT] > 90'] })
  const agent = await AgentDouble.enroll(here, other.id)
  await pass(1, {})
  here.hub.serverStates = { ...here.hub.serverStates, usageOf: () => Promise.reject(new Error('the disk is broken')) }
  for (let minute = 0; minute < 4; minute++) {
    await agent.reports()
    await pass(1, null)
  }
  expect([(await get(monitor.id)).status, (await get(ofOther.id)).status]).toEqual(['down', 'up'])
})

test('while the health of the server is unknown, the monitor becomes unknown without an alert', async () => {
  const here = await world()
  const { create, get, incidents, pass, agent } = await scene(here)
  const { body } = await create({})
  await pass(1, {})
  await agent.stops('shutdown')
  await pass(2, null)
  expect(await get(body.id)).toMatchObject({ status: 'up' })
  await pass(3, null)
  expect(await get(body.id)).toMatchObject({ status: 'unknown' })
  expect(await incidents()).toEqual([])
  // It does not wait for a result.
  expect((await here.acme.call('POST', `/v1/monitors/${body.id}/check`)).body.result).toBeNull()
  await pass(6, null)
  expect(await get(body.id)).toMatchObject({ status: 'down' })
})

test('only servers that the caller can read can be followed', async () => {
  const here = await world()
  const { create, id } = await scene(here)
  const pointers = ({ status, body }: any) => [status, body.errors?.map((one: any) => [one.pointer, one.code])]
  const unknown = 'srv_01k3z9a1b2c3d4e5f6g7h8j9km'
  expect(pointers(await create({ target: unknown }))).toEqual([422, [['#/target', 'not_found']]])
  expect(pointers(await create({ target: 'web-1', type: 'server' }))).toEqual([422, [['#/target', 'invalid']]])
  const theirs = await here.rival.call('POST', '/v1/monitors', { target: id })
  expect(pointers(theirs)).toEqual([422, [['#/target', 'not_found']]])
  const narrow = await here.scoped('monitoring.read', 'monitoring.write')
  expect(pointers(await narrow.call('POST', '/v1/monitors', { target: id }))).toEqual([422, [['#/target', 'not_found']]])
  for (const condition of [
    '[STATUS] == 200',
    '[DISK_PERCENT]. > 90',
    '[CPU_PERCENT]./data > 90',
    '[CPU_PERCENT] > high',
    '[UNIT] == failed',
    '[SMART_FAILING] == yes',
    '[PROCESS] < 1',
    '[PROCESS].nginx < 1',
    '[PROCESS].nginx.counter < 1',
    '[PROCESS].nginx.count == running',
    '[FAILED_UNITS].nginx > 0',
  ])
    expect({ condition, found: pointers(await create({ down_if: [condition] })) }).toMatchObject({
      found: [422, [['#/down_if/0', 'condition']]],
    })
  const form = { source: 'TEMPERATURE', path: 'CPU1 Temp', op: '>', value: 80 }
  expect((await create({ down_if: [form] })).body.down_if).toEqual(['[TEMPERATURE]."CPU1 Temp" > 80'])
  const counted = { source: 'PROCESS', path: 'nginx', op: '<', value: 1 }
  expect((await create({ down_if: [counted] })).body.down_if).toEqual(['[PROCESS].nginx.count < 1'])
})

test('a monitor of a server is no proof that the server is up, alone or in a group', async () => {
  const here = await world()
  const { create, pass, id } = await scene(here)
  const { body: monitor } = await create({})
  const group = (options: object) => here.acme.call('POST', '/v1/monitors', { type: 'group', name: 'all', options })
  const outer = await group({ members: [(await group({ members: [monitor.id] })).body.id] })
  for (const bound of [monitor.id, outer.body.id]) {
    const { status, body } = await here.acme.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [bound] })
    expect([status, body.errors[0].pointer, body.errors[0].code]).toEqual([422, '#/health_monitor_ids/0', 'circular'])
  }
  // The group gets the member after it was bound.
  const { body: late } = await group({ members: [] })
  await here.acme.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [late.id] })
  await here.acme.call('PATCH', `/v1/monitors/${late.id}`, { options: { members: [monitor.id] } })
  await pass(1, {})
  expect((await here.acme.call('GET', `/v1/monitors/${late.id}`)).body.status).toBe('up')
  await pass(4, null)
  expect((await here.acme.call('GET', `/v1/servers/${id}`)).body.health).toBe('down')
})

test('a new server gets a monitor, which is deleted with it', async () => {
  const here = await world()
  const monitorsOf = async (id: string) =>
    (await here.acme.call('GET', '/v1/monitors?type=server')).body.data.filter((one: any) => one.target === id)
  const add = (name: string, more = {}, by = here.acme) =>
    by.call('POST', '/v1/servers', { name, ...more }, { 'Idempotency-Key': name })
  const { id } = (await add('web-1', { monitor: true })).body
  const degraded_if = [
    ...['[DISK_PERCENT] > 90', '[SMART_FAILING] == true', '[ARRAYS_DEGRADED] > 0', '[FAILED_UNITS] > 0'],
    '[CERTIFICATES_NOT_SERVED] > 0',
  ]
  expect(await monitorsOf(id)).toMatchObject([{ name: 'web-1', degraded_if, status: 'new' }])
  expect(await here.audited()).toEqual(['cloud.server.create', 'monitor.create'])
  expect(await monitorsOf((await add('without', { monitor: false })).body.id)).toEqual([])
  // Nothing tells yet whether it is up.
  expect(await monitorsOf((await add('by default')).body.id)).toEqual([])
  const narrow = await here.scoped('cloud.read', 'cloud.write')
  expect(await monitorsOf((await add('narrow', { monitor: true }, narrow)).body.id)).toEqual([])
  await here.audited()
  const group = { type: 'group', name: 'all', options: { members: [(await monitorsOf(id))[0].id] } }
  const { body: all } = await here.acme.call('POST', '/v1/monitors', group)
  await here.audited()
  expect((await here.acme.call('DELETE', `/v1/servers/${id}`)).status).toBe(204)
  expect(await monitorsOf(id)).toEqual([])
  expect(await here.audited()).toEqual(['cloud.server.delete', 'monitor.delete'])
  expect((await here.acme.call('GET', `/v1/monitors/${all.id}`)).body.options.members).toEqual([])
})

test('a server is created without a monitor if the plan does not allow another one', async () => {
  const here = await world()
  await here.limit(here.acme.workspaceId, { monitors: 1 })
  for (const name of ['one', 'two'])
    expect((await here.acme.call('POST', '/v1/servers', { name, monitor: true }, { 'Idempotency-Key': name })).status).toBe(201)
  expect((await here.acme.call('GET', '/v1/monitors')).body.data).toHaveLength(1)
  const { data } = (await here.acme.call('GET', '/v1/notices')).body
  expect(data.filter((one: any) => one.kind === 'server.not_monitored').map((one: any) => one.resource.name)).toEqual(['two'])
})

test('the monitor of a server at a cloud is deleted once the server is', async () => {
  const here = await world()
  const { create, act, finish } = await cloudScene(here)
  const { body: server } = await create('web', { monitor: true })
  await finish(server.action_id)
  const monitors = async () => (await here.acme.call('GET', '/v1/monitors?type=server')).body.data
  await here.advance(60_000)
  expect(await monitors()).toMatchObject([{ target: server.id, status: 'up' }])
  await finish((await act(server.id, 'delete')).body.id)
  expect(await monitors()).toEqual([])
})
