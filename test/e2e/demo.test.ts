import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Resolver } from 'node:dns/promises'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram, until } from '../support/binary'
import { startDemo, type Demo } from '../support/demo'

describe('a demo', () => {
  let demo: Demo
  let url = ''
  let cookie = ''
  const get = async (path: string) => {
    const response = await fetch(url + path, { headers: { cookie } })
    expect([path, response.status]).toEqual([path, 200])
    return (await response.json()) as any
  }
  const post = async (path: string, body: object) => {
    const key = { 'idempotency-key': crypto.randomUUID() }
    const headers = { 'content-type': 'application/json', 'bailiwick-csrf': '1', origin: url, cookie, ...key }
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    expect([path, response.ok]).toEqual([path, true])
    return (await response.json()) as any
  }

  beforeAll(async () => {
    demo = startDemo()
    url = (await demo.ready()).url
  }, 660_000)

  afterAll(async () => {
    await demo.stop('SIGKILL')
    demo.remove()
  })

  test('signs in with its single-use link', async () => {
    const link = /single-use link: (\S+)/.exec(demo.output.out)![1]!
    const wrong = await fetch(`${link}x`, { redirect: 'manual' })
    expect([wrong.status, wrong.headers.get('location'), wrong.headers.get('set-cookie')]).toEqual([303, '/login', null])
    const first = await fetch(link, { redirect: 'manual' })
    expect([first.status, first.headers.get('location')]).toEqual([303, '/'])
    cookie = first.headers.get('set-cookie')!.split(';')[0]!
    const second = await fetch(link, { redirect: 'manual' })
    expect([second.headers.get('location'), second.headers.get('set-cookie')]).toEqual(['/login', null])
    expect((await get('/v1/users/me')).email).toBe('ada@kestrel.example')
  })

  test('signs in the owner with the printed password', async () => {
    const [, email, password] = /^Or sign in as (\S+) with the password (\S+)$/m.exec(demo.output.out)!
    const response = await fetch(`${url}/v1/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    })
    expect(response.status).toBe(201)
  })

  test('has a cloud account with servers, which can be switched', async () => {
    const [account] = (await get('/v1/cloud-accounts')).data
    expect(account).toMatchObject({ state: 'ok', counts: { servers: 5, unclaimed: 1 }, committed: { unpriced: 0 } })
    const failed = (await get('/v1/actions?status=error')).data
    expect(failed).toEqual([])
    const { data } = await get('/v1/servers?sort=name')
    const [firewall] = (await get('/v1/firewalls')).data
    expect(firewall).toMatchObject({ name: 'web', state: 'applied', attached: [{ error: null }, { error: null }] })
    expect(data.map((one: any) => [one.name, one.status])).toEqual([
      ['db-1', 'running'],
      ['office-nas', 'unknown'],
      ['old-shop', 'off'],
      ['web-1', 'running'],
      ['web-2', 'running'],
      ['web-3', 'draft'],
    ])
    await post(`/v1/servers/${data[2].id}/actions`, { action: 'power_on' })
    await until('the server to run', async () => (await get(`/v1/servers/${data[2].id}`)).status === 'running')
    expect((await get(`/v1/servers/${data[0].id}/metrics`)).series.length).toBeGreaterThan(5)
  })

  test('has volumes, snapshots, and a policy, and creates more', async () => {
    const named = async (path: string) => new Map<string, any>((await get(path)).data.map((one: any) => [one.name, one]))
    const volumes = await named('/v1/volumes')
    expect([...volumes.values()].map(one => [one.name, one.state]).sort()).toEqual([
      ['db-data', 'in_use'],
      ['old-shop-data', 'available'],
      ['shop-media', 'in_use'],
    ])
    const [policy] = (await get('/v1/snapshot-policies')).data
    expect(policy.last_run).toMatchObject({ made: 1, failed: [], finished: true })
    expect((await get('/v1/snapshots')).data.map((one: any) => [one.state, one.origin])).toEqual([
      ['available', 'made'],
      ['available', 'found'],
    ])
    const servers = await named('/v1/servers')
    const price = { max_monthly_price: '1.00', currency: 'EUR' }
    const account_id = volumes.get('db-data').account_id
    const volume = { name: 'data-2', account_id, size_bytes: 10 * 2 ** 30, server_id: servers.get('web-2').id, ...price }
    const { id } = await post('/v1/volumes', volume)
    await until('the volume to be attached', async () => (await get(`/v1/volumes/${id}`)).state === 'in_use')
    const snapshot = await post('/v1/snapshots', { server_id: servers.get('web-2').id, name: 'before', ...price })
    await until('the snapshot', async () => (await get(`/v1/snapshots/${snapshot.id}`)).state === 'available')
  }, 180_000)

  test('has monitors with every status, and one that is down with an open incident', async () => {
    const { data } = await get('/v1/monitors?limit=100')
    expect(data.length).toBeGreaterThan(15)
    for (const status of ['up', 'degraded', 'down']) expect(data.map((one: any) => one.status)).toContain(status)
    const payments = data.find((one: any) => one.key === 'payments')
    expect(payments.status).toBe('down')
    const incidents = await get(`/v1/incidents?monitor=${payments.id}&status=open`)
    expect(incidents.data).toHaveLength(1)
  })

  test('has 90 days of uptime and latency', async () => {
    const { data } = await get('/v1/monitors?key=shop')
    const uptime = await get(`/v1/monitors/${data[0].id}/uptime?range=90d`)
    expect(uptime.days.length).toBeGreaterThanOrEqual(90)
    const known = uptime.days.filter((one: any) => one.uptime_percent !== null)
    expect(known.length).toBeGreaterThanOrEqual(89)
    expect(uptime.uptime_percent).toBeGreaterThan(99)
    expect(uptime.uptime_percent).toBeLessThan(100)
    expect(uptime.outages).toBeGreaterThan(0)
    expect(uptime.latency.p95).toBeGreaterThan(uptime.latency.p50)
  })

  test('has heartbeats that are up, late, down, running, and paused', async () => {
    const { data } = await get('/v1/heartbeats?limit=100')
    expect(new Set(data.map((one: any) => one.status))).toEqual(new Set(['up', 'grace', 'down', 'paused']))
    expect(data.some((one: any) => one.started)).toBe(true)
    const backup = data.find((one: any) => one.name === 'Nightly database backup')
    const pings = await get(`/v1/heartbeats/${backup.id}/pings`)
    expect(pings.data[0].duration_ms).toBeGreaterThan(60_000)
  })

  test('has delivered, held, and failed deliveries, and a failing channel', async () => {
    const of = async (status: string) => (await get(`/v1/webhook-deliveries?status=${status}&limit=1`)).data.length
    for (const status of ['delivered', 'held', 'exhausted']) expect([status, await of(status)]).toEqual([status, 1])
    const endpoints = (await get('/v1/webhook-endpoints')).data
    expect(endpoints.map((one: any) => one.disabled_reason)).toContain('gone')
    expect(endpoints.map((one: any) => one.active)).toContain(false)
    const channels = (await get('/v1/notification-channels')).data
    expect(channels.filter((one: any) => one.failing).map((one: any) => one.name)).toEqual(['Pager'])
  })

  test('has incidents that people handled, and one with affected dependents', async () => {
    const shop = (await get('/v1/monitors?key=shop')).data[0]
    const { data } = await get(`/v1/incidents?monitor=${shop.id}&limit=100`)
    expect(data.find((one: any) => one.postmortem !== null).timeline.map((one: any) => one.kind)).toEqual(
      expect.arrayContaining(['opened', 'acknowledged', 'note', 'resolved']),
    )
    const edge = (await get('/v1/monitors?key=edge')).data[0]
    const router = (await get(`/v1/incidents?monitor=${edge.id}&limit=1`)).data[0]
    expect(router.monitors.map((one: any) => one.role).sort()).toEqual(['affected', 'affected', 'cause'])
    const windows = (await get('/v1/maintenance-windows')).data
    expect(windows.map((one: any) => one.status)).toEqual(expect.arrayContaining(['in_progress', 'scheduled']))
  })

  test('has a zone with drift and a rejected record, and a zone with changes by several people and two routers', async () => {
    const zone = async (name: string) => (await get(`/v1/dns/zones?name=${name}`)).data[0]
    const shared = await zone('kestrel-cdn.example')
    expect(shared.synced).toBe(false)
    const { rrsets } = await get(`/v1/dns/zones/${shared.id}/drift`)
    expect(rrsets.map((one: any) => one.state)).toEqual(expect.arrayContaining(['drifted', 'error', 'unmanaged']))
    expect(rrsets.find((one: any) => one.state === 'error').detail).toContain('blocked by the zone policy')
    const own = await zone('kestrel.example')
    const history = (await get(`/v1/dns/zones/${own.id}/history?limit=100`)).data
    expect(history.length).toBeGreaterThan(12)
    expect(new Set(history.map((one: any) => one.actor.name)).size).toBe(6)
    const routers = (await get('/v1/dynamic-ips?sort=name')).data
    expect(routers.map((one: any) => one.status)).toEqual(['fresh', 'stale'])
    const bindings = (await get('/v1/dns/template-bindings')).data
    expect(new Set(bindings.map((one: any) => one.state))).toContain('outdated')
    const dnsPort = /^The name server is listening on \S+:(\d+)$/m.exec(demo.output.out)![1]!
    const resolver = new Resolver()
    resolver.setServers([`127.0.0.1:${dnsPort}`])
    expect(await resolver.resolve4('shop.kestrel.example')).toEqual(['192.0.2.10'])
  })

  test('keeps checking its servers', async () => {
    const { data } = await get('/v1/monitors?key=payments')
    await until(
      'a check of a failing server',
      async () => (await get(`/v1/monitors/${data[0].id}`)).last_result?.code === 503,
      60_000,
    )
  }, 180_000)

  test('leaves nothing behind when it stops', async () => {
    expect(demo.folders()).toHaveLength(1)
    expect(await demo.stop('SIGTERM')).toBe(0)
    expect(demo.folders()).toEqual([])
    expect(demo.output.err).toBe('')
  }, 180_000)
})

test('a demo that is stopped during its start leaves nothing behind', async () => {
  const demo = startDemo()
  try {
    await until('the demo is starting', async () => demo.folders().length === 1 && demo.output.out.includes('Creating'))
    expect(await demo.stop('SIGINT')).toBe(0)
    expect(demo.folders()).toEqual([])
  } finally {
    demo.remove()
  }
}, 180_000)

test('a demo with --data that is stopped during its start leaves the folder empty', async () => {
  const own = mkdtempSync(join(tmpdir(), 'bailiwick-demo-test-'))
  const demo = startDemo('--data', own)
  try {
    await until('the demo is starting', async () => readdirSync(own).length > 0)
    expect(await demo.stop('SIGINT')).toBe(0)
    expect(readdirSync(own)).toEqual([])
  } finally {
    demo.remove()
    rmSync(own, { recursive: true, force: true })
  }
}, 180_000)

test('a demo doesn’t touch existing installations', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-demo-test-'))
  try {
    writeFileSync(join(folder, 'bailiwick.db'), 'mine')
    const inUse = await runProgram('bailiwick', ['demo', '--data', folder])
    expect([inUse.code, inUse.err]).toEqual([1, expect.stringContaining('is not empty')])
    expect(readdirSync(folder)).toEqual(['bailiwick.db'])
    const shared = await runProgram('bailiwick', ['demo'], {
      env: {
        PATH: process.env.PATH!,
        BAILIWICK_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
        BAILIWICK_MASTER_KEY_FILE: '/dev/null',
      },
    })
    expect([shared.code, shared.err]).toEqual([1, expect.stringContaining('unset BAILIWICK_DATABASE_URL')])
    expect(existsSync(join(folder, 'master.key'))).toBe(false)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 180_000)
