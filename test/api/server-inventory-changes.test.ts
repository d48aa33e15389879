import { expect, test } from 'bun:test'
import { pruneServers } from '../../src/features/servers/watch'
import { AgentDouble } from '../support/agent-double'
import { world, type World } from '../support/world'

const minuteMs = 60_000
const dayMs = 86_400_000
const addServer = async (here: World, name: string): Promise<string> =>
  (await here.acme.call('POST', '/v1/servers', { name }, { 'Idempotency-Key': name })).body.id

async function scene() {
  const here = await world()
  const agent = await AgentDouble.enroll(here, await addServer(here, 'web-1'))
  const reports = async (changed: Record<string, unknown>) => {
    await here.advance(minuteMs)
    expect((await agent.sendReport(changed)).status).toBe(200)
  }
  const changes = async (query = '') =>
    (await here.acme.call('GET', `/v1/servers/${agent.serverId}/inventory/changes${query}`)).body
  const shown = async (query = '') => (await changes(query)).data.map((one: any) => `${one.kind} ${one.name} ${one.change}`)
  return { here, agent, reports, changes, shown }
}

const socket = (port: number, changed = {}) => ({
  protocol: 'tcp',
  address: '0.0.0.0',
  port,
  process: null,
  user: 'root',
  ...changed,
})
const container = (name: string, changed = {}) => ({
  ...{ name, image: 'shop:1.4', state: 'running', health: null, restarts: 0, exit_code: null },
  ...changed,
})
const mount = { path: '/', source: '/dev/sda1', type: 'ext4' }
const facts = { hostname: 'web-1', kernel: '6.1.0-25', addresses: ['88.198.0.7', '10.0.0.2'], boot_at: 1 }

test('what was added, removed, or changed is listed with its values, newest first', async () => {
  const { here, reports, changes, shown } = await scene()
  await reports({ facts, sockets: [socket(22)], mounts: [mount], containers: [container('shop'), container('old')] })
  expect(await shown()).toEqual([])
  // The same in another order, what is not part of the inventory, and what was unknown.
  await reports({
    facts: { ...facts, addresses: facts.addresses.toReversed(), boot_at: 2, updates: 7 },
    sockets: [socket(22, { process: 'sshd' })],
    containers: [container('old'), container('shop', { state: 'exited', exit_code: 1 })],
  })
  expect(await shown()).toEqual([])

  await reports({ sockets: [socket(22), socket(443)], containers: [container('shop', { image: 'shop:1.5' })] })
  const at = new Date(here.clock.now()).toISOString()
  await reports({ facts: { ...facts, kernel: '6.1.0-26' }, mounts: [mount, { ...mount, path: '/data', source: '/dev/sdb1' }] })
  expect((await shown()).sort()).toEqual([
    'container old removed',
    'container shop changed',
    'fact kernel changed',
    'file_system /data added',
    'port 0.0.0.0:443/tcp added',
  ])
  expect((await changes('?kind=container&change=changed')).data).toEqual([
    {
      id: expect.stringMatching(/^ichg_/),
      ...{ at, kind: 'container', change: 'changed', name: 'shop' },
      before: { name: 'shop', image: 'shop:1.4' },
      after: { name: 'shop', image: 'shop:1.5' },
    },
  ])
  expect((await changes('?kind=fact')).data[0]).toMatchObject({ before: { value: '6.1.0-25' }, after: { value: '6.1.0-26' } })
  expect(await shown(`?at[gt]=${at}`)).toHaveLength(2)
  expect(await shown('?name=0.0.0.0:443/tcp')).toEqual(['port 0.0.0.0:443/tcp added'])
  const first = await changes('?limit=3')
  expect(first.data.map((one: any) => one.kind)).toContain('fact')
  const rest = await shown(`?limit=3&cursor=${first.pagination.next_cursor}`)
  expect(rest).toHaveLength(2)

  await here.advance(364 * dayMs)
  await pruneServers(here.hub)
  expect(await shown()).toHaveLength(5)
  await here.advance(2 * dayMs)
  await pruneServers(here.hub)
  expect(await shown()).toEqual([])
})

test('a port that is opened on a public address is an event, unless it was open a short time ago', async () => {
  const { here, agent, reports } = await scene()
  const opened = async () => {
    const { data } = (await here.acme.call('GET', '/v1/events?kind=port.opened')).body
    return data.map((one: any) => `${one.data.socket.address} ${one.data.socket.port}`)
  }
  await reports({ facts, sockets: [socket(22)] })
  await reports({
    sockets: [
      socket(22),
      socket(80),
      socket(5432, { address: '127.0.0.1' }),
      socket(9100, { address: '10.0.0.2' }),
      socket(53, { address: '88.198.0.7', protocol: 'udp' }),
      socket(8080, { address: '::' }),
    ],
  })
  expect((await opened()).sort()).toEqual(['0.0.0.0 80', '88.198.0.7 53', ':: 8080'])
  const [event] = (await here.acme.call('GET', '/v1/events?kind=port.opened')).body.data
  expect(event.data).toMatchObject({ server: { id: agent.serverId, name: 'web-1' }, opened_at: expect.any(String) })

  // The server restarts: the agent is faster than the service.
  await reports({ sockets: [socket(22)] })
  await reports({ sockets: [socket(22), socket(80)] })
  expect(await opened()).toHaveLength(3)
  await reports({ sockets: [socket(22)] })
  await here.advance(dayMs)
  await reports({ sockets: [socket(22), socket(80)] })
  expect(await opened()).toHaveLength(4)

  // Behind a router, nobody else reaches it.
  await reports({ facts: { ...facts, addresses: ['10.0.0.2'] }, sockets: [socket(22), socket(80), socket(8443)] })
  expect(await opened()).toHaveLength(4)
})

test('the changes of a report and of a day are limited', async () => {
  const { here, reports, changes } = await scene()
  const total = async () => (await changes('?include=total')).pagination.total
  const many = (from: number) => Array.from({ length: 150 }, (_, at) => socket(from + at, { address: '127.0.0.1' }))
  await reports({ sockets: [] })
  await reports({ sockets: many(1000) })
  expect(await total()).toBe(100)
  for (let round = 0; round < 12; round++) await reports({ sockets: many(2000 + 150 * round) })
  expect(await total()).toBe(1000)
  await here.advance(dayMs)
  await reports({ sockets: [] })
  expect(await total()).toBe(1100)
})

test('packages that were installed, removed, or updated are changes, which don’t hide those of ports', async () => {
  const { here, reports, changes, shown } = await scene()
  const total = async (kind: string) => (await changes(`?include=total&kind=${kind}`)).pagination.total
  const packages = (version: string, length = 3) => Array.from({ length }, (_, at) => ({ name: `package-${at}`, version }))
  await reports({ packages: packages('1'), sockets: [] })
  expect(await shown()).toEqual([])
  const [, second, third] = packages('1')
  await reports({ packages: [second, { ...third, version: '2' }, { name: 'nginx', version: '1.22.1-9' }] })
  expect((await shown()).sort()).toEqual(['package nginx added', 'package package-0 removed', 'package package-2 changed'])
  expect((await changes('?name=package-2')).data[0]).toMatchObject({ before: { version: '1' }, after: { version: '2' } })

  for (let version = 3; version < 9; version++) await reports({ packages: packages(`${version}`, 600) })
  expect(await total('package')).toBe(2000)
  await reports({ packages: packages('9', 600), sockets: [socket(443)] })
  expect([await total('package'), await total('port')]).toEqual([2000, 1])
  for (let day = 0; day < 2; day++) {
    await here.advance(dayMs)
    for (let version = 0; version < 4; version++) await reports({ packages: packages(`${day}.${version}`, 600) })
  }
  expect([await total('package'), await total('port')]).toEqual([5000, 1])
})

test('events about opened ports are limited, and never repeated', async () => {
  const { here, reports } = await scene()
  const opened = async (): Promise<number[]> => {
    const { data } = (await here.acme.call('GET', '/v1/events?kind=port.opened&limit=100')).body
    return data.map((one: any) => one.data.socket.port)
  }
  const many = (from: number, length: number, changed = {}) => Array.from({ length }, (_, at) => socket(from + at, changed))
  await reports({ facts, sockets: [socket(22)] })
  await reports({ sockets: many(1000, 100) })
  expect(await opened()).toHaveLength(20)
  // The limit of the day is reached, whether or not the others were announced.
  await reports({ sockets: many(2000, 5) })
  expect(await opened()).toHaveLength(20)

  // A service that is started again and again doesn’t use up the events of other ports.
  await here.advance(dayMs)
  const started = many(5000, 10)
  for (let round = 0; round < 6; round++) {
    await reports({ sockets: started })
    await reports({ sockets: [] })
  }
  await reports({ sockets: [...started, socket(8080)] })
  expect((await opened()).toSorted().slice(-11)).toEqual([...started.map(one => one.port), 8080])

  // Changes beyond the limit are not stored, so it would be unknown whether a port was opened before.
  await here.advance(dayMs)
  const local = many(3000, 150, { address: '127.0.0.1' })
  for (let round = 0; round < 2; round++) {
    await reports({ sockets: local })
    await reports({ sockets: [...local.slice(0, 20), socket(443)] })
    await reports({ sockets: [] })
  }
  expect((await opened()).filter(port => port === 443).length).toBeLessThanOrEqual(1)
  for (let round = 0; round < 12; round++) await reports({ sockets: many(4000 + 200 * round, 150, { address: '127.0.0.1' }) })
  const before = (await opened()).length
  for (const sockets of [[socket(8443)], [], [socket(8443)]]) await reports({ sockets })
  expect(await opened()).toHaveLength(before)
})

test('servers of other workspaces have no changes, and reading them needs cloud.read', async () => {
  const { here, agent } = await scene()
  const path = `/v1/servers/${agent.serverId}/inventory/changes`
  expect((await here.rival.call('GET', path)).status).toBe(404)
  expect((await (await here.scoped('dns.read')).call('GET', path)).status).toBe(403)
  expect((await here.acme.call('GET', `${path}?kind=moon`)).status).toBe(400)
})
