import { expect, test } from 'bun:test'
import { cloudScene } from '../support/clouds/cloud-scene'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { idTime, minIdAt, newId } from '../../src/core/ids'
import { stateMark, unsyncedMark } from '../../src/features/dns/sync/three-way'
import { dnsRecordMarks, dnsRecords } from '../../src/features/dns/records/tables'
import { dnsZones } from '../../src/features/dns/zones/tables'
import { watchSources } from '../../src/features/dynamic-ips/watch'
import { rollUpMetrics } from '../../src/features/servers/metrics/recorder'
import { watchServers } from '../../src/features/servers/watch'
import { notificationChannels } from '../../src/features/notifications/tables'
import { webhookDeliveries } from '../../src/features/webhooks/deliveries/tables'
import { webhookEndpoints } from '../../src/features/webhooks/endpoints/tables'
import { AgentDouble } from '../support/agent-double'
import { channelAt } from '../support/channels'
import { bad, restart, say, watched } from '../support/watched-monitors'
import { addPerson, person } from '../support/people'
import { raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { callerWith, world, type Caller } from '../support/world'
import { createZone } from '../support/zones'

const dayMs = 86_400_000
const schedule = { kind: 'period', period_seconds: 3600, grace_seconds: 60 }
const overview = async (caller: Caller) => {
  const answer = await caller.call('GET', '/v1/overview')
  expect(answer.status).toBe(200)
  return answer.body
}

test('the overview of an empty workspace is empty', async () => {
  const here = await world()
  const { changes, ...rest } = await overview(here.rival)
  expect(changes.map((one: any) => one.action)).toEqual(['account.token.create'])
  expect(rest).toMatchObject({
    at: '2026-11-21T10:00:00.000Z',
    incidents: { total: 0, data: [] },
    monitors: { total: 0, by_status: { up: 0, down: 0, new: 0 }, slowest: [] },
    heartbeats: { total: 0, by_status: { grace: 0 }, overdue: [] },
    channels: { total: 0, disabled: 0, failing: 0 },
    dns: { zones: { total: 0, by_state: { synced: 0 } }, records_out_of_sync: 0, unsynced_zones: [], unsynced_records: [] },
    dynamic_ips: { total: 0, by_status: { stale: 0 }, failing: [] },
    servers: {
      ...{ total: 0, by_health: { up: 0, down: 0, unknown: 0 }, failing: [], filling: [] },
      agents: { by_state: { reporting: 0, silent: 0, awaiting_approval: 0 }, silent: [] },
    },
    spend: [],
    members: { total: 0 },
    webhooks: { endpoints: { total: 0, disabled: 0, inactive: 0, failing: 0 }, deliveries: { failed: 0, retrying: 0 } },
    certificates: { total: 0, data: [] },
    posture: { expiring: { total: 0, data: [] } },
    tokens: { total: 0, data: [] },
    invitations: { pending: 0 },
    notices: { total: 0, data: [] },
    maintenance: { active: [], upcoming: [] },
  })
})

test('counts of monitors and heartbeats match their lists, and incidents are included', async () => {
  const here = await world()
  const [one] = [await watched(here, { confirm: 1 }), await watched(here, { name: 'other' })]
  await say(here, one, bad)
  const names = ['new', 'up', 'grace', 'down', 'paused']
  for (const name of names) {
    const { id, uuid } = (await here.acme.call('POST', '/v1/heartbeats', { name, schedule })).body
    if (['grace', 'down'].includes(name)) await here.anonymous.call('GET', `/ping/${uuid}`)
    if (name === 'paused') await here.acme.call('POST', `/v1/heartbeats/${id}/pause`, {})
    if (name === 'grace') await here.advance(30_000)
  }
  // The one pinged half a minute earlier is past its grace period, but nothing has marked it down yet.
  here.clock.jump(3_600_000 + 30_000)
  const up = (await here.acme.call('GET', '/v1/heartbeats?q=up')).body.data[0]
  await here.anonymous.call('GET', `/ping/${up.uuid}`)
  const seen = await overview(here.acme)
  const shown = (await here.acme.call('GET', '/v1/heartbeats')).body.data
  const counted = (word: string) => shown.filter((row: any) => row.status === word).length
  const { overdue, ...heartbeats } = seen.heartbeats
  expect(heartbeats).toEqual({ total: 5, by_status: Object.fromEntries(names.map(name => [name, counted(name)])) })
  expect(overdue.map((row: any) => [row.name, row.status])).toEqual([
    ['down', 'grace'],
    ['grace', 'down'],
  ])
  expect(seen.heartbeats.by_status).toMatchObject({ new: 1, up: 1, grace: 1, down: 1, paused: 1 })
  expect(seen.monitors).toMatchObject({ total: 2, by_status: { down: 1, new: 1, up: 0 } })
  const { data } = (await here.acme.call('GET', '/v1/incidents?status=open,acknowledged')).body
  expect(data).toHaveLength(1)
  expect(seen.incidents).toEqual({ total: 1, data })
})

test('the slowest monitors are ordered by their last check, without those that are down', async () => {
  const here = await world()
  for (const [name, total, status] of [
    ['quick', 12.4, 'up'],
    ['slow', 900.2, 'degraded'],
    ['down', 5000, 'down'],
    ['middle', 80, 'up'],
  ] as const)
    await say(here, await watched(here, { name, confirm: 1 }), {
      status,
      phases: { dns: null, connect: null, tls: null, first_byte: null, total },
    })
  const { monitors } = await overview(here.acme)
  expect(monitors.slowest.map((one: any) => [one.name, one.latency_ms])).toEqual([
    ['slow', 900],
    ['middle', 80],
    ['quick', 12],
  ])
  expect((await overview(here.rival)).monitors.slowest).toEqual([])
  await here.audited()
  const verdicts = (await here.acme.call('GET', '/v1/audit-events?actor_type=system')).body.data
  expect(verdicts.length).toBeGreaterThan(0)
  expect((await overview(here.acme)).changes.map((one: any) => one.actor.type)).not.toContain('system')
})

test('expiring certificates are those last seen by checks of any hub, also after a restart', async () => {
  const here = await world()
  const ending = (days: number) => ({
    sha256: 'aa',
    subject: 'CN=shop',
    issuer: 'CN=ca',
    serial: '01',
    names: ['shop.example.com'],
    not_before: 0,
    not_after: here.clock.now() + days * dayMs,
    chain_not_after: here.clock.now() + days * dayMs,
  })
  const ids: Record<string, string> = {}
  for (const name of ['ended', 'soon', 'later', 'edited', 'plain']) ids[name] = await watched(here, { name })
  await say(here, ids.ended!, { certificate: ending(-1), status: 'down' })
  for (const [name, days] of [
    ['soon', 10],
    ['later', 60],
    ['edited', 5],
    ['plain', 3],
  ] as const)
    await say(here, ids[name]!, { certificate: ending(days) })
  await here.acme.call('PATCH', `/v1/monitors/${ids.edited}`, { target: 'https://other.example.com/' })
  await here.settle()
  // A failed connection says nothing about the certificate; a successful one without a certificate removes it.
  await say(here, ids.soon!, { status: 'down', certificate: null })
  await say(here, ids.plain!, { certificate: null })
  for (let n = 0; n < 61; n++) await here.advance(1000)
  await restart(here)
  const { certificates } = await overview(here.acme)
  expect(certificates.data.map((one: any) => [one.name, one.monitor_id])).toEqual([
    ['ended', ids.ended],
    ['soon', ids.soon],
  ])
  expect(certificates.total).toBe(2)
  expect((await overview(here.rival)).certificates.total).toBe(0)
})

test('expiring tokens, invitations, unread notices, maintenance, and changes are included', async () => {
  const here = await world()
  const ends = (days: number) => new Date(here.clock.now() + days * dayMs).toISOString()
  const token = async (name: string, days: number) =>
    (await here.acme.call('POST', '/v1/tokens', { name, mode: 'read_only', expires_at: ends(days) })).body.id
  const [later, soon, sooner, gone] = [
    await token('later', 31),
    await token('soon', 20),
    await token('sooner', 3),
    await token('gone', 4),
  ]
  await here.acme.call('DELETE', `/v1/tokens/${gone}`)
  await here.acme.call('POST', '/v1/invitations', { email: 'eve@example.com', role: 'member' })
  const window = (name: string, starts: string) =>
    here.acme.call('POST', '/v1/maintenance-windows', {
      name,
      kind: 'once',
      starts_at_local: starts,
      timezone: 'UTC',
      duration_seconds: 3600,
      targets: { all: true },
    })
  await window('tomorrow', '2026-11-22T10:00:00')
  await window('now', '2026-11-21T09:30:00')
  await window('over', '2026-11-20T09:30:00')
  await window('next week', '2026-11-28T10:00:00')
  await record(here.hub, async () => ({
    result: undefined,
    notices: [
      {
        workspaceId: here.acme.workspaceId,
        kind: 'token.expiring' as const,
        resource: null,
        text: 'Soon.',
        details: {},
        dedupKey: 'x',
      },
    ],
  }))
  const seen = await overview(here.acme)
  expect(seen.tokens).toMatchObject({ total: 2, data: [{ id: sooner }, { id: soon, name: 'soon', expires_at: ends(20) }] })
  expect(JSON.stringify(seen.tokens)).not.toContain(later)
  expect(seen.invitations).toEqual({ pending: 1 })
  expect(seen.notices).toMatchObject({ total: 1, data: [{ text: 'Soon.', read: false }] })
  expect(seen.maintenance).toMatchObject({
    active: [{ name: 'now', ends_at: '2026-11-21T10:30:00.000Z' }],
    upcoming: [{ name: 'tomorrow', starts_at: '2026-11-22T10:00:00.000Z' }, { name: 'next week' }],
  })
  const log = (await here.acme.call('GET', '/v1/audit-events?limit=20&actor_type=user,token,operator')).body.data
  expect(seen.changes).toEqual(log)
  expect(log.length).toBeGreaterThan(5)
})

test('counts zones by sync state, and records that are out of sync', async () => {
  const here = await world()
  for (const name of ['example.com', 'example.org']) await here.acme.call('POST', '/v1/dns/zones', { name })
  expect((await overview(here.acme)).dns).toMatchObject({ zones: { total: 2, by_state: { synced: 2 } }, records_out_of_sync: 0 })
  const [first] = await here.hub.read.select().from(dnsRecords)
  const { id, zoneId, workspaceId } = first!
  await record(here.hub, async tx => {
    await tx.update(dnsZones).set({ syncState: 'drifted', isSynced: false }).where(eq(dnsZones.id, zoneId))
    for (const mark of [unsyncedMark, stateMark('drifted')])
      await tx.insert(dnsRecordMarks).values({ workspaceId, zoneId, recordId: id, mark })
    return { result: undefined }
  })
  const { dns } = await overview(here.acme)
  expect(dns).toMatchObject({ zones: { total: 2, by_state: { synced: 1, drifted: 1 } }, records_out_of_sync: 1 })
  expect(dns.unsynced_zones).toEqual((await here.acme.call('GET', '/v1/dns/zones?synced=false')).body.data)
  expect(dns.unsynced_zones.map((one: any) => one.id)).toEqual([zoneId])
  expect(dns.unsynced_records).toEqual((await here.acme.call('GET', '/v1/dns/records?synced=false')).body.data)
  expect(dns.unsynced_records.map((one: any) => one.id)).toEqual([id])
  const zones = (await here.acme.call('GET', '/v1/dns/zones?include=total')).body
  expect(dns.zones.total).toBe(zones.pagination.total)
  expect((await here.acme.call('GET', '/v1/dns/records?synced=false&include=total')).body.pagination.total).toBe(1)
})

test('counts deliveries that failed permanently within a day, and failing endpoints', async () => {
  const here = await world()
  const inbox = receiver()
  const endpoint = (await here.acme.call('POST', '/v1/webhook-endpoints', { url: inbox.url, events: ['monitor.alert'] })).body
  for (let n = 0; n < 4; n++) await raiseAlert(here)
  await here.settle()
  const rows = await here.hub.read.select().from(webhookDeliveries)
  expect(rows).toHaveLength(4)
  const now = here.clock.now()
  const ends = [
    { status: 'exhausted' as const, updatedAt: now - dayMs + 1000 },
    { status: 'exhausted' as const, updatedAt: now - dayMs - 1000 },
    { status: 'retrying' as const, updatedAt: now },
  ]
  await record(here.hub, async tx => {
    for (const [place, end] of ends.entries())
      await tx.update(webhookDeliveries).set(end).where(eq(webhookDeliveries.id, rows[place]!.id))
    await tx.update(webhookEndpoints).set({ failingSince: now }).where(eq(webhookEndpoints.id, endpoint.id))
    return { result: undefined }
  })
  expect((await overview(here.acme)).webhooks).toEqual({
    endpoints: { total: 1, disabled: 0, inactive: 0, failing: 1 },
    deliveries: { failed: 1, retrying: 1 },
  })
  const listed = async (filter: string) =>
    (await here.acme.call('GET', `/v1/webhook-endpoints?${filter}`)).body.data.map((one: any) => [one.id, one.failing])
  expect(await listed('failing=true')).toEqual([[endpoint.id, true]])
  expect(await listed('failing=false')).toEqual([])
  await here.acme.call('PATCH', `/v1/webhook-endpoints/${endpoint.id}`, { active: false })
  expect((await overview(here.acme)).webhooks.endpoints).toEqual({ total: 1, disabled: 0, inactive: 1, failing: 0 })
  expect(await listed('failing=true')).toEqual([])
  expect(await listed('failing=false')).toEqual([[endpoint.id, false]])
  await stopReceivers()
})

test('counts failing and disabled channels, except inactive ones', async () => {
  const here = await world()
  const channels = await Promise.all(['a', 'b', 'c', 'd'].map(name => channelAt(here, 'https://hooks.example/a', { name })))
  const [failing, inactive, disabled] = channels.map(one => one.id)
  const set = (id: string, columns: Partial<typeof notificationChannels.$inferInsert>) =>
    record(here.hub, async tx => {
      await tx.update(notificationChannels).set(columns).where(eq(notificationChannels.id, id))
      return { result: undefined }
    })
  await set(failing, { consecutiveFailures: 1 })
  await set(inactive, { consecutiveFailures: 1, active: false })
  await set(disabled, { consecutiveFailures: 3, status: 'disabled' })
  expect((await overview(here.acme)).channels).toEqual({ total: 4, disabled: 1, failing: 1 })
})

test('dynamic IP sources are counted, and those that are stale or have a host with a problem are included', async () => {
  const here = await world()
  const zone = await createZone(here.acme)
  const create = async (name: string, body: object = {}) => {
    const input = { name, hosts: [{ name: `${name}.example.com` }], ...body }
    const { id, secret } = (await here.acme.call('POST', '/v1/dynamic-ips', input)).body
    // Created before the first report, which then can’t set it.
    if (name === 'b') await here.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { name, type: 'A', content: '192.0.2.1' })
    const router = callerWith(here.app, here.acme.workspaceId, secret)
    expect((await router.call('POST', '/v1/ingest/dynamic-ips/update', { ipv4: '203.0.113.7' })).status).toBe(200)
    return id
  }
  const stale = await create('a', { stale_after_seconds: 300 })
  const failing = await create('b')
  await create('c')
  await here.acme.call('POST', '/v1/dynamic-ips', { name: 'd' })
  await here.advance(400_000)
  await watchSources(here.hub)
  const { dynamic_ips: sources } = await overview(here.acme)
  expect(sources).toMatchObject({ total: 4, by_status: { new: 1, fresh: 2, stale: 1, held: 0, paused: 0 } })
  expect(sources.failing.map((one: any) => [one.id, one.status, one.hosts[0].problem?.code ?? null])).toEqual([
    [failing, 'fresh', 'record_exists'],
    [stale, 'stale', null],
  ])
  expect((await overview(here.rival)).dynamic_ips).toMatchObject({ total: 0, failing: [] })
})

test('servers are counted by health, and cloud accounts have what they cost', async () => {
  const here = await world()
  const { double } = await cloudScene(here, { spend: { monthly_cap: '50', confirm_above: '0', currency: 'EUR' } })
  double.addServer({ name: 'web-1' })
  double.console.powerOff(double.addServer({ name: 'db-1' }))
  await here.advance(60_000)
  const { servers, spend } = await overview(here.acme)
  expect(servers).toMatchObject({ total: 2, by_health: { up: 1, down: 1, unknown: 0 } })
  expect(servers.failing.map((one: any) => one.name)).toEqual(['db-1'])
  expect(spend).toMatchObject([{ name: 'Hetzner', currency: 'EUR', monthly_cap: '50' }])
  expect(Number(spend[0].monthly) * 1e6).toBe(double.bill().monthlyMicros)
  expect((await overview(here.rival)).servers.total).toBe(0)
})

test('file systems that fill, and agents that are silent on servers that are not down, are listed', async () => {
  const here = await world()
  const addServer = async (name: string): Promise<string> =>
    (await here.acme.call('POST', '/v1/servers', { name, monitor: false }, { 'Idempotency-Key': name })).body.id
  const web = await AgentDouble.enroll(here, await addServer('web-1'))
  const monitor = await watched(here)
  const db = await AgentDouble.enroll(here, await addServer('db-1'))
  await here.acme.call('PATCH', `/v1/servers/${db.serverId}`, { health_monitor_ids: [monitor] })
  await say(here, monitor, { status: 'up' })
  expect((await overview(here.acme)).servers).toMatchObject({ filling: [], agents: { by_state: { reporting: 2 }, silent: [] } })

  const minuteMs = 60_000
  const columns = ['/', '/srv', '/old'].flatMap(path => [`filesystem.used_bytes:${path}`, `filesystem.size_bytes:${path}`])
  const used = (srv: number) => [95, 100, srv, 100, 80, 100]
  const start = Math.floor(here.clock.now() / minuteMs) * minuteMs
  // It fills by 2 % an hour.
  await web.sends(here, {
    columns,
    minutes: Array.from({ length: 23 }, (_, n) => [start - n * 60 * minuteMs, 6, used(69 - 2 * n), used(69 - 2 * n)]),
  })
  await here.advance(0)
  await rollUpMetrics(here.hub)
  for (let n = 0; n < 36; n++) {
    await here.advance(10_000)
    if (n % 6 === 5) await web.reports()
    await watchServers(here.hub)
  }
  await web.sends(here, { columns, minutes: [[Math.floor(here.clock.now() / minuteMs - 1) * minuteMs, 6, used(69), used(69)]] })
  const { servers } = await overview(here.acme)
  const ofWeb = { server_id: web.serverId, name: 'web-1' }
  expect(servers.filling).toEqual([
    { ...ofWeb, path: '/', used_percent: 95, hours_left: null },
    { ...ofWeb, path: '/srv', used_percent: 69, hours_left: expect.closeTo(15.5, 0) },
  ])
  expect(servers.agents).toMatchObject({
    by_state: { reporting: 1, silent: 1 },
    silent: [{ id: db.id, server_id: db.serverId, name: 'db-1', silent_since_at: expect.any(String) }],
  })
  expect((await overview(here.rival)).servers).toMatchObject({ filling: [], agents: { silent: [] } })
})

test('a caller gets only the sections it may read, and a restricted token none', async () => {
  const here = await world()
  const sections = async (caller: Caller) => {
    const { at: _, ...parts } = await overview(caller)
    return Object.keys(parts)
      .filter(name => parts[name] !== null)
      .sort()
  }
  const monitoring = ['certificates', 'channels', 'heartbeats', 'incidents', 'maintenance', 'monitors']
  expect(await sections(await here.scoped('monitoring.read'))).toEqual(monitoring)
  expect(await sections(await here.scoped('dns.write'))).toEqual(['dns'])
  expect(await sections(await here.scoped('dynamic_ip.read'))).toEqual(['dynamic_ips'])
  expect(await sections(await here.scoped('cloud.read'))).toEqual(['servers', 'spend'])
  expect(await sections(await here.scoped('certificates.read'))).toEqual(['posture'])
  expect(await sections(await here.scoped('webhooks.read'))).toEqual(['webhooks'])
  expect(await sections(await here.scoped('account.read'))).toEqual(['changes', 'invitations', 'members', 'notices', 'tokens'])
  await addPerson(here.hub, here.acme.workspaceId, 'owner', 'olga@example.com')
  const { call } = await person(here, here.acme.workspaceId, 'viewer', 'eve@example.com')
  expect((await call('GET', '/v1/overview')).body.changes).toBeNull()
  const created = await here.acme.call('POST', '/v1/tokens', { name: 'restricted', mode: 'full', resource_ids: [newId('hb')] })
  const restricted = callerWith(here.app, here.acme.workspaceId, created.body.token)
  expect((await restricted.call('GET', '/v1/overview')).body.code).toBe('restricted_token')
})

test('the smallest id for a time sorts before all ids created from then on', () => {
  const id = newId('dlv')
  expect(minIdAt('dlv', idTime(id)) <= id).toBe(true)
  expect(minIdAt('dlv', idTime(id) + 1) > id).toBe(true)
  expect(idTime(minIdAt('dlv', 1_790_000_000_000))).toBe(1_790_000_000_000)
})
