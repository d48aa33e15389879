import { systemClock } from '../../core/clock'
import type { AgentReport } from '../../wire/agent'
import type { Bench, Figure } from './bench'
import { BenchAgent } from './bench-agent'
import { certificateOperations } from './certificate-blocks'
import { Client, createToken, json, type Operation, type SentBody } from './client'
import { domainOperations } from './domain-blocks'
import { cpuSecondsOf, startServer, temporaryInstallation, type ServerProcess } from './child-processes'

/** `bailiwick bench blocks`: how long large requests keep all other requests waiting. */
export const blocksBench: Bench = {
  name: 'blocks',
  summary: 'Measure how long large requests delay small ones',
  options: [
    { name: 'monitors', description: 'Number of monitors to import. The first request imports a quarter of them', default: 4000 },
    { name: 'records', description: 'Number of records in zone files', default: 9_900 },
  ],
  async run(args) {
    const { config, folder, remove } = temporaryInstallation()
    try {
      const token = await createToken(config)
      const cloud = await startServer(['bench', 'cloud-server', String(syncedServers)])
      const tls = await startServer(['bench', 'check-targets'])
      const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
      try {
        const client = new Client(hub, token)
        await client.warmUp()
        const figures: Figure[] = []
        for (const operation of await operations(client, hub, { cloud, tls }, args.monitors!, args.records!))
          figures.push(...(await measure(hub, client, operation)))
        await client.removeAll()
        return {
          figures,
          notes: [
            'Longest block: how long the event loop of the hub was blocked, as measured by the hub. Longest wait: how long a small request, sent every 20 ms, had to wait. Client and hub share the machine.',
          ],
        }
      } finally {
        await hub.stop()
        await cloud.stop()
        await tls.stop()
      }
    } finally {
      remove()
    }
  },
}

const bulkSize = 500
const sourceHosts = 100
const repeated = <T>(count: number, item: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => item(n))

const syncedServers = 1000

async function operations(
  client: Client,
  hub: ServerProcess,
  { cloud, tls }: { cloud: ServerProcess; tls: ServerProcess },
  monitors: number,
  records: number,
): Promise<Operation[]> {
  const document = (count: number) => json({ version: 1, monitors: repeated(count, monitor) })
  const bulk = (create: (n: number) => object) =>
    json({ operations: repeated(bulkSize, n => ({ op: 'create', body: create(n) })) })
  const [files, generated, single] = [
    (await client.createZone()).id,
    (await client.createZone()).id,
    (await client.createZone()).id,
  ]
  const source = (zone: { name: string }) => ({
    name: `Bench ${zone.name}`,
    hosts: repeated(sourceHosts, n => ({ name: `h${n}.${zone.name}` })),
  })
  const reported = await client.createSource(source(await client.createZone()))
  const head = '@ 300 IN SOA ns1 hostmaster 1 7200 3600 1209600 300\n@ 300 IN NS ns1\nns1 300 IN A 127.0.0.1\n'
  const zoneFile = (text: string): SentBody => ({ text: head + text, type: 'text/dns' })
  const lines = repeated(records, n => `h${n} 300 IN A 10.0.${(n >> 8) & 255}.${n & 255}\n`).join('')
  const importTo = (id: string) => `/v1/dns/zones/${id}/import?mode=replace`
  const quarter = Math.ceil(monitors / 4)
  const first = document(quarter)
  // Just below the limit of 1 MiB.
  const nested = `{"email":${'['.repeat(500_000)}${']'.repeat(500_000)}}`
  return [
    { name: `import of ${quarter} monitors`, method: 'POST', path: '/v1/monitoring/import', body: first },
    { name: `import of ${quarter} unchanged monitors`, method: 'POST', path: '/v1/monitoring/import', body: first },
    { name: `import of ${monitors} monitors`, method: 'POST', path: '/v1/monitoring/import', body: document(monitors) },
    { name: 'export as YAML', method: 'GET', path: '/v1/monitoring/export' },
    { name: 'export as JSON', method: 'GET', path: '/v1/monitoring/export?format=json' },
    {
      name: `deletion of ${monitors} monitors`,
      method: 'POST',
      path: '/v1/monitoring/import?prune=true',
      body: document(0),
    },
    { name: `bulk of ${bulkSize} heartbeats`, method: 'POST', path: '/v1/heartbeats/bulk', body: bulk(heartbeat) },
    { name: `bulk of ${bulkSize} monitors`, method: 'POST', path: '/v1/monitors/bulk', body: bulk(monitor) },
    {
      name: `bulk of ${bulkSize} records`,
      method: 'POST',
      path: '/v1/dns/records/bulk',
      body: json({ operations: repeated(bulkSize, n => ({ op: 'create', id: single, body: record(n) })) }),
    },
    { name: `zone file with ${records} records`, method: 'POST', path: importTo(files), body: zoneFile(lines) },
    {
      name: `$GENERATE with ${records} records`,
      method: 'POST',
      path: importTo(generated),
      body: zoneFile(`$GENERATE 1-${records} g$ 300 IN A 10.1.1.1\n`),
    },
    {
      name: 'rejected $GENERATE',
      method: 'POST',
      path: importTo(generated),
      body: zoneFile('$GENERATE 1-60000 g$ 300 IN A 10.1.1.1\n'),
      refused: true,
    },
    { name: 'export of a zone', method: 'GET', path: `/v1/dns/zones/${files}/export` },
    {
      name: `dynamic IP source with ${sourceHosts} hosts`,
      method: 'POST',
      path: '/v1/dynamic-ips',
      body: json(source(await client.createZone())),
    },
    {
      name: `report for ${sourceHosts} hosts`,
      method: 'POST',
      path: `/v1/dynamic-ips/${reported}/report`,
      body: json({ ipv4: '203.0.113.7', ipv6: '2001:db8::7' }),
    },
    {
      name: `cloud account with ${syncedServers} servers`,
      method: 'POST',
      path: '/v1/cloud-accounts',
      body: json({
        kind: 'hetzner',
        name: 'Bench',
        settings: { api_token: 't'.repeat(64), base_url: `http://127.0.0.1:${cloud.port}/v1` },
      }),
      isDone: async () => (await client.get('/v1/servers?limit=1&include=total')).pagination.total >= syncedServers,
    },
    ...(await agentOperations(client, hub.port)),
    ...certificateOperations(tls.port),
    ...domainOperations(),
    {
      name: 'rejected 1 MB of nested lists',
      method: 'POST',
      path: '/v1/sessions',
      body: { text: nested, type: 'application/json' },
      refused: true,
    },
    {
      name: 'rejected 490,000 tags',
      method: 'POST',
      path: '/v1/monitors',
      body: json({ ...monitor(0), tags: repeated(490_000, () => 1) }),
      refused: true,
    },
  ]
}

const agents = 100
const agentColumns = 90
const minuteMs = 60_000

/** What agents send, all of them at once, and what is read of them. */
async function agentOperations(client: Client, port: number): Promise<Operation[]> {
  const { key } = await client.call('POST', '/v1/enrolment-keys', { name: 'Bench', uses: null })
  const fleet: BenchAgent[] = []
  const enroll = async (n: number) => {
    const agent = await BenchAgent.enroll(client, key, `bench-${n}`, agentColumns)
    agent.connect(port)
    fleet.push(agent)
  }
  const now = systemClock.now()
  const hour = repeated(60, n => now - (n + 2) * minuteMs)
  const first = await BenchAgent.enroll(client, key, 'bench', agentColumns)
  first.connect(port)
  await first.report([now], everything)
  const read = { method: 'GET', path: '' } as const
  return [
    { ...read, name: `enrolment of ${agents} agents`, run: () => Promise.all(repeated(agents, enroll)) },
    { ...read, name: `reports of ${agents} agents`, run: () => Promise.all(fleet.map(one => one.report([now]))) },
    {
      ...read,
      name: `reports of ${agents} agents with everything on their servers`,
      run: () => Promise.all(fleet.map(one => one.report([now], everything))),
    },
    {
      ...read,
      name: `an hour of ${agents} agents, sent late`,
      run: () => Promise.all(fleet.map(one => one.report(hour, { backlog: true }))),
    },
    { name: `list of ${agents} agents`, method: 'GET', path: `/v1/agents?limit=${agents}` },
    { name: 'inventory of a server', method: 'GET', path: `/v1/servers/${first.serverId}/inventory` },
  ]
}

/** As much as a report can contain. */
const everything: Partial<AgentReport> = {
  containers: repeated(50, n => ({
    ...{ name: `container-${n}`, image: 'docker.io/library/nginx:1.29', state: 'running' },
    ...{ health: 'healthy', restarts: 0, exit_code: null },
  })),
  units: repeated(200, n => ({ name: `unit-${n}.service`, state: 'failed', sub_state: 'failed', watched: false })),
  disks: repeated(64, n => ({
    ...{ device: `/dev/sd${n}`, model: 'Model', serial: `S${n}`, failing: true },
    ...{ warnings: repeated(20, m => `Attribute ${m} is at its threshold.`), error: null },
  })),
}

const monitor = (n: number) => ({
  key: `bench-${n}`,
  type: 'tcp',
  name: `Bench ${n}`,
  target: '127.0.0.1:9',
  tags: ['bench', `group-${n % 50}`],
  interval_seconds: 86_400,
})

const heartbeat = (n: number) => ({
  name: `Job ${n}`,
  tags: ['bench'],
  schedule: { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 },
})

const record = (n: number) => ({ name: `r${n}`, type: 'A', content: '192.0.2.1', ttl: 300 })

const probeEveryMs = 20
// Long enough for the hub to send and process what follows a change.
const settleMs = 300

/** Sends a request and small ones meanwhile. */
async function measure(hub: ServerProcess, client: Client, operation: Operation): Promise<Figure[]> {
  await client.longestBlock()
  const waits: Promise<number>[] = []
  const probe = setInterval(() => waits.push(client.probe()), probeEveryMs)
  await Bun.sleep(2 * probeEveryMs)
  const [startedAt, cpu] = [performance.now(), cpuSecondsOf(hub.pid)]
  const ok = await (operation.run ? operation.run().then(() => true) : client.send(operation))
  while (operation.isDone && !(await operation.isDone())) await Bun.sleep(5 * probeEveryMs)
  const duration = performance.now() - startedAt
  const used = cpuSecondsOf(hub.pid) - cpu
  await Bun.sleep(settleMs)
  clearInterval(probe)
  const longestWait = Math.max(...(await Promise.all(waits)))
  const block = await client.longestBlock()
  if (ok === (operation.refused ?? false)) throw new Error(`${operation.name}: unexpected response.`)
  const { name } = operation
  return [
    { name: `${name}: longest block`, value: block, unit: 'ms' },
    { name: `${name}: longest wait`, value: longestWait, unit: 'ms' },
    { name: `${name}: duration`, value: duration, unit: 'ms' },
    { name: `${name}: CPU of the hub`, value: used * 1000, unit: 'ms' },
  ]
}
