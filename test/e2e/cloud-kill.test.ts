import { expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { parseNotes } from '../../src/features/servers/clouds/proxmox/notes'
import { fullToken, installation, startHub, until, type HubProcess } from '../support/binary'
import type { ApiDouble, ApiFault, ApiRequest } from '../support/api-double'
import { certificateChain } from '../support/certificate-chain'
import { inconsistencies } from '../support/consistency'
import { rowsOf, type Rows } from '../support/database'
import { differences, FleetTraffic, hetznerOrder, proxmoxOrder, type Machine, type StoredServer } from '../support/clouds/fleet'
import { HetznerCloudDouble } from '../support/clouds/hetzner-cloud'
import { ProxmoxCloud } from '../support/clouds/proxmox-cloud'
import { template } from '../support/clouds/proxmox-under-test'
import { mulberry32 } from '../support/random'

// `BAILIWICK_TEST_PROVISIONS=500 bun test …` runs it in full, with at least 100 kills.
const provisions = Number(process.env.BAILIWICK_TEST_PROVISIONS ?? 40)
const seed = Number(process.env.BAILIWICK_TEST_KILL_SEED ?? crypto.getRandomValues(new Uint32Array(1))[0])
// Two hubs share a database on PostgreSQL.
const hubCount = process.env.BAILIWICK_DATABASE_URL ? 2 : 1
const scaled = (size: number) => Math.round(provisions * size * (hubCount === 2 ? 0.75 : 1))

interface Cloud {
  double: ApiDouble
  kind: string
  settings: object
  order: object
  actions: readonly string[]
  machines(): Machine[]
  /** How many machines were created in all, including deleted ones. */
  creations(): number
  /** How many reboots and power cycles were carried out. */
  restarts(): number
  monthlyMicros(): number
  offences(): string[]
}

async function hetzner(): Promise<Cloud> {
  const double = new HetznerCloudDouble()
  // Requests are limited by other tests.
  double.remaining = 1_000_000
  double.project.actionMs = () => 300
  return {
    double,
    kind: 'hetzner',
    get settings() {
      return { api_token: double.token, base_url: double.url }
    },
    order: hetznerOrder,
    actions: ['provision', 'power_off', 'power_on', 'reboot', 'power_cycle'],
    machines() {
      double.project.settle()
      return [...double.project.servers.values()].map(one => ({
        ref: String(one.id),
        name: one.name,
        mark: one.labels.bailiwick ?? null,
      }))
    },
    creations: () => [...double.project.actions.values()].filter(one => one.command === 'create_server').length,
    restarts: () => [...double.project.actions.values()].filter(one => /^re(?:boot|set)_server$/.test(one.command)).length,
    monthlyMicros: () => double.bill().monthlyMicros,
    offences: () => double.offences,
  }
}

async function proxmox(): Promise<Cloud> {
  const { chain, key } = await certificateChain('127.0.0.1', { intermediate: 30, leaf: 30 })
  const double = new ProxmoxCloud({ cert: chain, key })
  const fingerprint = new X509Certificate(chain).fingerprint256
  template(double, 9000, 'debian-12')
  double.tasks.durationMs = 150
  return {
    double,
    kind: 'proxmox',
    get settings() {
      return { url: double.address, token_id: double.tokenId, token_secret: double.secret, fingerprint }
    },
    order: proxmoxOrder,
    actions: ['provision', 'power_off', 'power_on', 'power_cycle'],
    machines() {
      double.tasks.settle()
      return [...double.guests.values()]
        .filter(one => !one.template)
        .map(one => ({
          ref: String(one.vmid),
          name: one.config.name ?? '',
          mark: parseNotes(one.config.description ?? '', one.vmid).mark,
        }))
    },
    creations: () => double.tasks.all.filter(one => one.type === 'qmclone' && one.exitstatus === 'OK').length,
    restarts: () => double.tasks.all.filter(one => /^qmre(?:boot|set)$/.test(one.type)).length,
    monthlyMicros: () => 0,
    offences: () => [],
  }
}

const clouds = [
  { title: 'Hetzner', open: hetzner, servers: scaled(1), cap: true, perKill: 5, roundMs: 1200 },
  // Clones run one after another.
  { title: 'Proxmox', open: proxmox, servers: scaled(0.15), cap: false, perKill: 2, roundMs: 3000 },
]

for (const { title, open, servers, cap, perKill, roundMs } of clouds) {
  const kills = Math.ceil(servers / perKill)
  test(`${servers} servers at ${title} are each created once, with ${hubCount} hubs killed ${kills} times`, async () => {
    process.stdout.write(`seed ${seed} (BAILIWICK_TEST_KILL_SEED)\n`)
    const random = mulberry32(seed)
    await using here = await installation()
    const cloud = await open()
    await cloud.double.start()
    const hubs: HubProcess[] = []
    await using _ = {
      async [Symbol.asyncDispose]() {
        await Promise.all(hubs.map(hub => hub.stop('SIGKILL')))
        cloud.double.stop()
      },
    }
    for (let n = 0; n < hubCount; n++) hubs.push(await startHub(here))
    const token = await fullToken(here)
    const account = await connect(hubs[0]!, token, cloud, cap ? servers : null)
    await using rows = rowsOf(here)
    const traffic = new FleetTraffic(token, account.id, { servers, order: cloud.order, actions: cloud.actions }, random)
    const urls = () => hubs.map(hub => hub.url)
    cloud.double.fault = faults(random)
    cloud.double.silenceMs = 1500
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
      await Bun.sleep(roundMs * (0.5 + random()))
      if (round >= kills) continue
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
    cloud.double.fault = () => null
    await until('all actions finished', async () => (await openActions(rows)).length === 0, 60_000 + servers * 5000)
    await synced(traffic, account.id)
    clearInterval(watch)

    logs.push(...hubs.map(hub => hub.err()))
    const stored = await storedServers(rows)
    expect(differences(stored, cloud.machines())).toEqual([])
    expect(await rows.all(`select id from servers where origin = 'found'`)).toEqual([])
    expect(await failures(rows)).toEqual([])
    // What was created before its action was interrupted too often is adopted by a reading.
    const [succeeded, interrupted] = [await creations(rows, 'success'), await creations(rows, 'error')]
    expect(cloud.creations()).toBeGreaterThanOrEqual(succeeded)
    expect(cloud.creations()).toBeLessThanOrEqual(succeeded + interrupted)
    const restarts = await rows.all(`select id from actions where type in ('server.reboot', 'server.power_cycle')`)
    expect(cloud.restarts()).toBeLessThanOrEqual(restarts.length)
    expect(cloud.monthlyMicros()).toBe(stored.reduce((sum, one) => sum + (one.price_micros ?? 0), 0))
    expect(overCap).toEqual([])
    expect(await inconsistencies(rows)).toEqual([])
    expect(traffic.unexpected).toEqual([])
    expect(cloud.offences()).toEqual([])
    expect(logs.flatMap(one => one.split('\n')).filter(line => /"level":"(?:error|fatal)"/.test(line))).toEqual([])
    const { created, acted, deleted, overCap: refused } = traffic.counts
    process.stdout.write(
      `${title}: ${created} servers created, ${acted} actions, ${deleted} deletions, ${refused} refused by the cap, ${kills} kills in ` +
        `${Math.round(busyMs / 1000)} s; ${cloud.double.requests.length} requests; ${cloud.machines().length} machines remain\n`,
    )
  }, 1_800_000)
}

test('the rules of a firewall are restored in time although the hub was killed before', async () => {
  await using here = await installation()
  const cloud = await hetzner()
  const double = cloud.double as HetznerCloudDouble
  await double.start()
  double.addServer({ name: 'web-1' })
  const hubs = [await startHub(here)]
  await using _ = {
    async [Symbol.asyncDispose]() {
      await hubs[0]!.stop('SIGKILL')
      double.stop()
    },
  }
  const token = await fullToken(here)
  const api = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(hubs[0]!.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
    return JSON.parse(text)
  }
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
  await until('the previous rules', async () => (double.project.settle(), portsThere().includes('22')), 30_000)
  expect(Date.now() - Date.parse(expires_at)).toBeLessThan(5000)
  const reverted = await until('the event', async () =>
    (await api('GET', '/v1/events')).data.find((one: { kind: string }) => one.kind === 'firewall.reverted'),
  )
  expect(reverted.data).toMatchObject({ reason: 'expired', rules_version: 2, restored_version: 1, servers: [{ name: 'web-1' }] })
  expect((await firewall()).rules).toMatchObject([{ id: 'ssh' }])
}, 120_000)

// Enough for two fifths of the servers, at 5.11 EUR each.
const capMicros = (servers: number): number => Math.ceil(servers * 0.4) * 5_200_000

async function connect(hub: HubProcess, token: string, cloud: Cloud, servers: number | null): Promise<{ id: string }> {
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

const openActions = (rows: Rows) => rows.all(`select id, type from actions where status in ('pending', 'running')`)

const storedServers = (rows: Rows) =>
  rows.all<StoredServer>('select id, name, status, provider_ref, price_micros, action_id, deleted_at from servers')

const creations = async (rows: Rows, status: 'success' | 'error'): Promise<number> =>
  (await rows.all(`select id from actions where type = 'server.provision' and status = '${status}'`)).length

/** Creations that failed although the cloud only lost requests and responses. After too many kills, an action fails permanently. */
const failures = (rows: Rows) =>
  rows.all(`
    select resource_id, error from actions where type = 'server.provision' and status = 'error'
    and cast(error as text) not like '%"interrupted"%'`)

/** Reads the account once more, after which everything is as at the cloud. */
async function synced(traffic: FleetTraffic, id: string): Promise<void> {
  const action = await until(
    'a reading of the account',
    async () => {
      const answer = await traffic.call('POST', `/v1/cloud-accounts/${id}/sync`)
      return answer?.status === 202 ? answer.body : null
    },
    90_000,
  )
  await until('the end of the reading', async () => {
    const answer = await traffic.call('GET', `/v1/actions/${action.id}`)
    return answer?.body?.status === 'success'
  })
}
