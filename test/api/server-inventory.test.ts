import { expect, test } from 'bun:test'
import { watchServers } from '../../src/features/servers/watch'
import { AgentDouble } from '../support/agent-double'
import { world, type World } from '../support/world'

const minuteMs = 60_000
const addServer = async (here: World, name: string): Promise<string> =>
  (await here.acme.call('POST', '/v1/servers', { name }, { 'Idempotency-Key': name })).body.id
const inventory = async (here: World, id: string) => await here.acme.call('GET', `/v1/servers/${id}/inventory`)
const time = ({ clock }: World) => new Date(clock.now()).toISOString()

const containers = [{ name: 'shop', image: 'shop:1.4', state: 'running', health: 'healthy', restarts: 0, exit_code: null }]
const units = [{ name: 'nginx.service', state: 'failed', sub_state: 'failed', watched: true }]
const disks = [{ device: '/dev/sda', model: null, serial: null, failing: true, warnings: ['It fails.'], error: null }]
const arrays = [{ name: 'md0', kind: 'md', state: 'active', degraded: true }]
const sockets = [{ protocol: 'tcp', address: '0.0.0.0', port: 22, process: null, user: 'root' }]
const mounts = [{ path: '/', source: '/dev/sda1', type: 'ext4' }]
const session = { user: 'alice', terminal: 'pts/0', from: '192.0.2.7' }
const problems = ['/mnt/backup doesn’t respond.']

test('the inventory has each part that the agent reported, with its time, and why the others are empty or unknown', async () => {
  const here = await world()
  const id = await addServer(here, 'web-1')
  const nothing = { items: null, reported_at: null, reason: 'The server has no agent.' }
  expect((await inventory(here, id)).body).toEqual({
    ...{ agent_id: null, observed_at: null, stale: false },
    ...{ containers: nothing, units: nothing, disks: nothing, arrays: nothing, problems: nothing },
    ...{ sockets: nothing, mounts: nothing, sessions: nothing, processes: nothing },
  })

  const agent = await AgentDouble.enroll(here, id)
  const first = time(here)
  expect((await agent.sendReport({ containers, units, problems, arrays: [] })).status).toBe(200)
  expect(
    (
      await agent.sendReport({
        processes: [{ name: 'nginx', count: 0 }],
        sockets,
        mounts,
        sessions: [{ ...session, since: here.clock.now() }],
      })
    ).status,
  ).toBe(200)
  await here.advance(minuteMs)
  const second = time(here)
  expect((await agent.sendReport({ disks, containers: [] })).status).toBe(200)
  const { status, body } = await inventory(here, id)
  expect([status, body]).toEqual([
    200,
    {
      ...{ agent_id: agent.id, observed_at: second, stale: false },
      containers: { items: [], reported_at: second, reason: expect.stringContaining('containers = yes') },
      units: { items: units, reported_at: first, reason: null },
      disks: { items: disks, reported_at: second, reason: null },
      arrays: { items: [], reported_at: first, reason: 'The server has no Linux software RAID and no pool of ZFS.' },
      problems: { items: problems, reported_at: first, reason: null },
      sockets: { items: sockets, reported_at: first, reason: null },
      mounts: { items: mounts.map(one => ({ ...one, hours_left: null })), reported_at: first, reason: null },
      processes: { items: [{ name: 'nginx', count: 0 }], reported_at: first, reason: null },
      sessions: { items: [{ ...session, since_at: first }], reported_at: first, reason: null },
    },
  ])

  await here.advance(minuteMs)
  expect((await agent.sendReport({ arrays })).status).toBe(200)
  expect((await inventory(here, id)).body).toMatchObject({
    observed_at: time(here),
    arrays: { items: arrays, reported_at: time(here), reason: null },
    units: { items: units, reported_at: first },
  })
  const heard = time(here)
  await here.advance(5 * minuteMs)
  await watchServers(here.hub)
  expect((await inventory(here, id)).body).toMatchObject({ stale: true, observed_at: heard, arrays: { items: arrays } })
  await agent.isDeleted()
  expect((await inventory(here, id)).body).toMatchObject({ agent_id: null, stale: false, arrays: nothing })
})

test('an inventory that was never reported says so', async () => {
  const here = await world()
  const agent = await AgentDouble.enroll(here, await addServer(here, 'web-1'))
  expect((await inventory(here, agent.serverId)).body.units).toEqual({
    ...{ items: null, reported_at: null, reason: 'The agent has not reported this yet.' },
  })
  await agent.reports({ allow: [] })
  expect((await inventory(here, agent.serverId)).body.units.reason).toBe('The shell agent doesn’t report this.')
})

test('servers of other workspaces have no inventory, and reading it needs cloud.read', async () => {
  const here = await world()
  const id = await addServer(here, 'web-1')
  expect((await here.rival.call('GET', `/v1/servers/${id}/inventory`)).status).toBe(404)
  expect((await inventory(here, 'srv_unknown')).status).toBe(404)
  const { call } = await here.scoped('dns.read')
  expect((await call('GET', `/v1/servers/${id}/inventory`)).status).toBe(403)
})

test('packages are listed and searched apart from the inventory', async () => {
  const here = await world()
  const id = await addServer(here, 'web-1')
  const list = async (query = '', caller = here.acme) => await caller.call('GET', `/v1/servers/${id}/packages${query}`)
  const unknown = { stale: false, total: 0, packages: [], reported_at: null }
  expect((await list()).body).toEqual({ ...unknown, agent_id: null, observed_at: null, reason: 'The server has no agent.' })
  const agent = await AgentDouble.enroll(here, id)
  const first = time(here)
  const packages = [
    { name: 'bash', version: '5.2.15-2+b2' },
    { name: 'libssl3', version: '3.0.15-1' },
    { name: 'openssl', version: '3.0.15-1' },
  ]
  expect((await agent.sendReport({ packages })).status).toBe(200)
  await here.advance(minuteMs)
  expect((await agent.sendReport({})).status).toBe(200)
  const known = { agent_id: agent.id, observed_at: time(here), reported_at: first, stale: false, reason: null, total: 3 }
  expect((await list()).body).toEqual({ ...known, packages })
  expect((await list('?q=SSL')).body).toEqual({ ...known, packages: packages.slice(1) })
  expect((await list(`?q=${'x'.repeat(101)}`)).status).toBe(400)
  expect((await list('', here.rival)).status).toBe(404)
  expect(Object.keys((await inventory(here, id)).body)).not.toContain('packages')

  for (const [one, detail] of [
    [{ name: 'a', version: '' }, 'packages/0/version'],
    [{ name: 'a\nb', version: '1' }, 'packages/0/name'],
    [{ name: 'a' }, 'packages/0/version'],
  ] as const) {
    const { status, body } = await agent.sendReport({ packages: [one] })
    expect([status, body.errors[0].pointer]).toEqual([422, `#/${detail}`])
  }
  const many = Array.from({ length: 5001 }, (_, at) => ({ name: `p${at}`, version: '1' }))
  expect((await agent.sendReport({ packages: many })).status).toBe(422)
})
