import { expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock'
import { fullToken, installation, startHub, until, type HubProcess } from '../support/binary'
import type { ApiFault, ApiRequest } from '../support/api-double'
import { inconsistencies } from '../support/consistency'
import { rowsOf, type Rows } from '../support/database'
import { differences, FleetTraffic, storageDifferences, type StoredServer, type StoredStorage } from '../support/clouds/fleet'
import { hetznerFleet, incusFleet, proxmoxFleet, type FleetCloud } from '../support/clouds/fleet-clouds'
import type { HetznerCloudDouble } from '../support/clouds/hetzner-cloud'
import { HostDouble } from '../support/host-double'
import { mulberry32 } from '../support/random'

// In full, with 100 kills: `BAILIWICK_TEST_PROVISIONS=500 bun test … -t Hetzner`, and 200 for the others.
const provisions = process.env.BAILIWICK_TEST_PROVISIONS
const seed = Number(process.env.BAILIWICK_TEST_KILL_SEED ?? crypto.getRandomValues(new Uint32Array(1))[0])
// Two hubs share a database on PostgreSQL.
const hubCount = process.env.BAILIWICK_DATABASE_URL ? 2 : 1

/** @param few number of servers in short runs */
const sized = (few: number) => (provisions === undefined ? Math.ceil(few / hubCount) : Number(provisions))

const clouds = [
  { title: 'Hetzner', open: hetznerFleet, servers: sized(40), cap: true, perKill: 5, roundMs: 1200 },
  // Clones run one after another.
  { title: 'Proxmox', open: proxmoxFleet, servers: sized(6), cap: false, perKill: 2, roundMs: 3000 },
  { title: 'Incus', open: incusFleet, servers: sized(4), cap: false, perKill: 2, roundMs: 3000 },
]

for (const { title, open, servers, cap, perKill, roundMs } of clouds) {
  const kills = Math.ceil(servers / perKill)
  test(`${servers} servers at ${title} are each created once, with ${hubCount} hubs killed ${kills} times`, async () => {
    process.stdout.write(`seed ${seed} (BAILIWICK_TEST_KILL_SEED)\n`)
    const random = mulberry32(seed)
    await using here = await installation()
    const cloud = await open()
    const hubs: HubProcess[] = []
    await using _ = {
      async [Symbol.asyncDispose]() {
        await Promise.all(hubs.map(hub => hub.stop('SIGKILL')))
        await cloud.stop()
      },
    }
    for (let n = 0; n < hubCount; n++) hubs.push(await startHub(here))
    const token = await fullToken(here)
    const account = await connect(hubs[0]!, token, cloud, cap ? servers : null)
    await using rows = rowsOf(here)
    const traffic = new FleetTraffic(
      token,
      account.id,
      { servers, order: cloud.order, actions: cloud.actions, volumes: cloud.volumeOrder },
      random,
    )
    const urls = () => hubs.map(hub => hub.url)
    cloud.api.fault = faults(random)
    cloud.api.silenceMs = 1500
    const highest = capMicros(servers)
    const overCap: number[] = []
    const logs: string[] = []
    const watch = setInterval(() => {
      const cost = cloud.monthlyMicros()
      if (cap && cost > highest) overCap.push(cost)
    }, 20)
    const startedAt = performance.now()

    for (let round = 0; round < kills || !traffic.isComplete; round++) {
      traffic.resume(urls())
      const sent = cloud.api.requests.length + Math.floor(random() * Math.min(5 * servers, 300))
      await Bun.sleep(roundMs * (0.5 + random()))
      if (round >= kills) continue
      // On a busy machine, hubs need more time to do anything at all.
      for (let ms = 0; ms < 20_000 && cloud.api.requests.length < sent && !(await isIdle(rows)); ms += 50) await Bun.sleep(50)
      const at = Math.floor(random() * hubs.length)
      await hubs[at]!.stop('SIGKILL')
      logs.push(hubs[at]!.err())
      // Requests to the other hub continue.
      traffic.resume(urls().filter((_, n) => n !== at))
      hubs[at] = await startHub(here)
      expect({ round, found: await inconsistencies(rows) }).toEqual({ round, found: [] })
      // Each creation and deletion frees or takes room, so this always ends.
      if (round > kills * 20) throw new Error('The servers are not created.')
    }
    traffic.resume(urls())
    await traffic.pause()
    const busyMs = performance.now() - startedAt
    cloud.api.fault = () => null
    await until('all actions finished', async () => (await openActions(rows)).length === 0, 60_000 + servers * 5000)
    await synced(traffic, account.id)
    clearInterval(watch)

    logs.push(...hubs.map(hub => hub.err()))
    const stored = await storedServers(rows)
    const machines = await cloud.machines()
    const found = differences(stored, machines)
    if (found.length > 0) process.stdout.write(await historyOf(rows, found))
    expect(found).toEqual([])
    const { volumes, snapshots } = cloud.storage?.() ?? { volumes: [], snapshots: [] }
    const [storedVolumes, storedSnapshots] = [await storedStorage(rows, 'volumes'), await storedStorage(rows, 'snapshots')]
    expect(storageDifferences(storedVolumes, volumes)).toEqual([])
    expect(storageDifferences(storedSnapshots, snapshots)).toEqual([])
    for (const table of ['servers', 'volumes', 'snapshots'])
      expect(await rows.all(`select id from ${table} where origin = 'found'`)).toEqual([])
    expect(await failures(rows)).toEqual([])
    // What was created before its action was interrupted too often is adopted by a reading.
    const [succeeded, interrupted] = [await creations(rows, 'success'), await creations(rows, 'error')]
    expect(cloud.creations()).toBeGreaterThanOrEqual(succeeded)
    expect(cloud.creations()).toBeLessThanOrEqual(succeeded + interrupted)
    const restarts = await rows.all(`select id from actions where type in ('server.reboot', 'server.power_cycle')`)
    expect(cloud.restarts()).toBeLessThanOrEqual(restarts.length)
    const priced = [...stored, ...storedVolumes, ...storedSnapshots]
    expect(cloud.monthlyMicros()).toBe(priced.reduce((sum, one) => sum + (one.price_micros ?? 0), 0))
    expect(overCap).toEqual([])
    expect(await inconsistencies(rows)).toEqual([])
    expect(traffic.unexpected).toEqual([])
    expect(cloud.offences()).toEqual([])
    expect(logs.flatMap(one => one.split('\n')).filter(line => /"level":"(?:error|fatal)"/.test(line))).toEqual([])
    const { created, acted, stored: changed, deleted, overCap: refused } = traffic.counts
    process.stdout.write(
      `${title}: ${created} servers created, ${interrupted} creations interrupted, ${acted} actions, ${changed} on volumes and snapshots, ${deleted} deletions, ${refused} refused by the cap, ${kills} kills in ` +
        `${Math.round(busyMs / 1000)} s; ${cloud.api.requests.length} requests; ${machines.length} machines remain\n`,
    )
  }, 1_800_000)
}

test('the rules of a firewall are restored in time although the hub was killed before', async () => {
  await using here = await installation()
  const cloud = await hetznerFleet()
  const double = cloud.api as HetznerCloudDouble
  double.addServer({ name: 'web-1' })
  const hubs = [await startHub(here)]
  await using _ = {
    async [Symbol.asyncDispose]() {
      await hubs[0]!.stop('SIGKILL')
      double.stop()
    },
  }
  const token = await fullToken(here)
  const api = apiOf(hubs, token)
  await connect(hubs[0]!, token, cloud, null)
  const server = await until('the server', async () => (await api('GET', '/v1/servers')).data[0])
  const rule = { id: 'ssh', direction: 'in', protocol: 'tcp', ports: ['22'], sources: ['198.51.100.0/24'] }
  const https = { ...rule, id: 'https', ports: ['443'] }
  const { id } = await api('POST', '/v1/firewalls', { name: 'web', rules: [rule] })
  const allow = ['cuts_ssh', 'cuts_caller']
  await api('POST', `/v1/firewalls/${id}/attach`, { server_ids: [server.id], allow, note: 'test' })
  const firewall = () => api('GET', `/v1/firewalls/${id}`)
  await until('the firewall', async () => (await firewall()).action_id === null && (await firewall()).state === 'applied')
  await api('PUT', `/v1/firewalls/${id}/rules`, { rules: [https], allow, note: 'test', confirm_within_seconds: 10 })
  const { expires_at } = await until('the countdown', async () => {
    const { state, pending } = await firewall()
    return state === 'awaiting_confirmation' && pending
  })
  const portsThere = () => [...double.project.firewalls.values()][0]!.rules.map(one => one.port)
  expect(portsThere()).toEqual(['443'])
  await hubs[0]!.stop('SIGKILL')
  hubs[0] = await startHub(here)
  await until('the previous rules', async () => (double.project.settle(), portsThere().includes('22')), 120_000)
  expect(Date.now() - Date.parse(expires_at)).toBeLessThan(5000)
  const reverted = await until('the event', async () =>
    (await api('GET', '/v1/events')).data.find((one: { kind: string }) => one.kind === 'firewall.reverted'),
  )
  expect(reverted.data).toMatchObject({ reason: 'expired', rules_version: 2, restored_version: 1, servers: [{ name: 'web-1' }] })
  expect((await firewall()).rules).toMatchObject([{ id: 'ssh' }])
}, 180_000)

test('the rules of a firewall that an agent enforces are restored in time although the hub was killed before', async () => {
  await using here = await installation()
  const hubs = [await startHub(here)]
  await using _ = {
    async [Symbol.asyncDispose]() {
      await hubs[0]!.stop('SIGKILL')
    },
  }
  const api = apiOf(hubs, await fullToken(here))
  const server = await api('POST', '/v1/servers', { name: 'host-1' })
  const reached = {
    clock: systemClock,
    app: { handle: (request: Request) => fetch(new Request(request.url.replace('http://localhost', hubs[0]!.url), request)) },
    acme: { call: async (...args: Parameters<typeof api>) => ({ body: await api(...args) }) as never },
  }
  const host = await HostDouble.enroll(reached, server.id)
  const passes = (port: number) => host.passes(port, '198.51.100.7')
  const rule = { id: 'ssh', direction: 'in', protocol: 'tcp', ports: ['22'], sources: ['198.51.100.0/24'] }
  const { id } = await api('POST', '/v1/firewalls', { name: 'web', rules: [rule] })
  const allow = { allow: ['cuts_ssh', 'cuts_caller'], note: 'test' }
  const firewall = () => api('GET', `/v1/firewalls/${id}`)
  const isIn = async (state: string) => {
    await host.work()
    const found = await firewall()
    return found.state === state && (state !== 'applied' || found.action_id === null) && found
  }
  await api('POST', `/v1/firewalls/${id}/attach`, { server_ids: [server.id], ...allow })
  await until('the firewall', () => isIn('applied'), 120_000)
  const rules = [{ ...rule, id: 'https', ports: ['443'] }]
  await api('PUT', `/v1/firewalls/${id}/rules`, { rules, ...allow, confirm: 'manual', confirm_within_seconds: 10 })
  const { pending } = await until('the countdown', () => isIn('awaiting_confirmation'), 120_000)
  expect([passes(22), passes(443)]).toEqual([false, true])
  await hubs[0]!.stop('SIGKILL')
  hubs[0] = await startHub(here)
  await until('the previous rules', async () => (await host.work(), passes(22)), 120_000)
  expect(Date.now() - Date.parse(pending.expires_at)).toBeLessThan(5000)
  const { attached, rules: restored } = await until('the confirmation of the host', () => isIn('applied'), 120_000)
  await until('that it stays', async () => (await host.work(), host.obeyed.at(-1) === 'firewall_confirm'))
  expect([attached, restored]).toMatchObject([[{ enforcer: 'agent', rules_version: 3 }], [{ id: 'ssh' }]])
  const reverted = (await api('GET', '/v1/events')).data.find((one: { kind: string }) => one.kind === 'firewall.reverted')
  expect(reverted.data).toMatchObject({ reason: 'expired', rules_version: 2, restored_version: 1, servers: [{ name: 'host-1' }] })
}, 180_000)

/** Calls the API of the first hub. @throws Error if the request is rejected */
function apiOf(hubs: readonly HubProcess[], token: string) {
  let requests = 0
  return async (method: string, path: string, body?: unknown): Promise<any> => {
    const headers = {
      ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(method === 'POST' && { 'idempotency-key': `request-${++requests}` }),
    }
    const response = await fetch(hubs[0]!.url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
    return JSON.parse(text)
  }
}

// Enough for two fifths of the servers, at 5.11 EUR each.
const capMicros = (servers: number): number => Math.ceil(servers * 0.4) * 5_200_000

async function connect(hub: HubProcess, token: string, cloud: FleetCloud, servers: number | null): Promise<{ id: string }> {
  const response = await fetch(`${hub.url}/v1/cloud-accounts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      kind: cloud.kind,
      name: cloud.kind,
      settings: cloud.settings,
      ...(servers !== null && {
        spend: { monthly_cap: (capMicros(servers) / 1e6).toFixed(2), confirm_above: '0', currency: 'EUR' },
      }),
    }),
  })
  expect([response.status, await response.clone().text()]).toEqual([201, expect.any(String)])
  return (await response.json()) as { id: string }
}

/** Loses a part of the requests and responses. */
function faults(random: () => number): (request: ApiRequest) => ApiFault | null {
  return ({ method }) => {
    const chance = random() * (method === 'GET' ? 3 : 1)
    if (chance < 0.08) return 'lost'
    if (chance < 0.11) return 'silent'
    if (chance < 0.14) return 'dropped'
    if (chance < 0.17) return 'html'
    if (chance < 0.19) return 'cut'
    return chance < 0.2 ? { raw: { status: 503, body: '<html>Service Unavailable</html>' } } : null
  }
}

/** All servers and actions of the names in differences. */
async function historyOf(rows: Rows, found: readonly string[]): Promise<string> {
  const names = new Set(found.flatMap(one => one.match(/kill-\d+/g) ?? []))
  const servers = await rows.all<{ id: string; name: string }>(
    'select id, name, origin, status, provider_ref, created_at, deleted_at from servers order by id',
  )
  const actions = await rows.all<{ resource_id: string }>(
    'select resource_id, type, status, steps, error, created_at, finished_at from actions order by id',
  )
  return servers
    .filter(one => names.has(one.name))
    .flatMap(one => [one, ...actions.filter(action => action.resource_id === one.id)])
    .map(one => `${JSON.stringify(one)}\n`)
    .join('')
}

const isIdle = async (rows: Rows) => (await openActions(rows)).length === 0

const openActions = (rows: Rows) => rows.all(`select id, type from actions where status in ('pending', 'running')`)

const storedServers = (rows: Rows) =>
  rows.all<StoredServer>('select id, name, status, provider_ref, price_micros, action_id, deleted_at from servers')

const storedStorage = (rows: Rows, table: 'volumes' | 'snapshots') =>
  rows.all<StoredStorage>(`select id, name, state, provider_ref, price_micros, action_id from ${table}`)

const creations = async (rows: Rows, status: 'success' | 'error'): Promise<number> =>
  (await rows.all(`select id from actions where type = 'server.provision' and status = '${status}'`)).length

/** Creations that failed although the cloud only lost requests and responses. After too many kills, an action fails permanently. */
const failures = (rows: Rows) =>
  rows.all(`
    select resource_id, error from actions where type in ('server.provision', 'volume.create') and status = 'error'
    and cast(error as text) not like '%"interrupted"%'`)

/** Reads the account once more, after which everything is as at the cloud. */
async function synced(traffic: FleetTraffic, id: string): Promise<void> {
  const action = await until(
    'a reading of the account',
    async () => {
      const answer = await traffic.call('POST', `/v1/cloud-accounts/${id}/sync`)
      return answer?.status === 202 ? answer.body : null
    },
    180_000,
  )
  await until('the end of the reading', async () => {
    const answer = await traffic.call('GET', `/v1/actions/${action.id}`)
    return answer?.body?.status === 'success'
  })
}
