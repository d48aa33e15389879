import type { Scenario } from './scenario'
import { runPolicyJob, runSnapshotPolicies } from '../../features/servers/snapshot-policies/run'
import { hourMs, minuteMs } from './time-units'

const gibibyte = 2 ** 30

const sshKeys = [
  ['Ada', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl ada@kestrel.example', true],
  ['Deploy', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMK56v7Bs51BBNrQVhovk1FSQza9kxEdInxOa87XzyWU deploy@kestrel.example', false],
] as const

/** Schedules a cloud account with its servers, volumes, and snapshots, a draft, and a machine in the office. */
export function scheduleFleet({ simulation, people: { ada, linus }, servers: { ports, cloud }, now, ago }: Scenario): void {
  // Changes at the cloud take seconds, and would time out if they continued with the next step only.
  for (const kind of ['firewall.apply', 'volume.create', 'server.snapshot', runPolicyJob.kind]) simulation.runJobsWhenDue(kind)
  let account = ''
  for (const [name, type, location, role] of [
    ['web-1', 'cx22', 'fsn1', 'web'],
    ['web-2', 'cx22', 'nbg1', 'web'],
    ['db-1', 'cx42', 'fsn1', 'db'],
  ] as const)
    cloud.add({ name, type, location, labels: { role, env: 'production' } })
  cloud.add({ name: 'old-shop', type: 'cx32', location: 'hel1', labels: { role: 'web' }, status: 'off' })
  cloud.add({ name: 'try-out', type: 'cx22', location: 'hel1', labels: {} })
  cloud.addVolume({ name: 'db-data', size: 100, location: 'fsn1', format: 'ext4', labels: { role: 'db' } }, 'db-1')
  cloud.addVolume({ name: 'old-shop-data', size: 20, location: 'hel1', format: 'ext4', labels: { role: 'web' } }, null)
  cloud.addSnapshot('db-1', 'Before the upgrade to PostgreSQL 17', ago(34))
  simulation.schedule(now - 2 * hourMs, async () => {
    const { id } = await ada.call('POST', '/v1/cloud-accounts', {
      kind: 'hetzner',
      name: 'Hetzner production',
      settings: { api_token: cloud.apiToken, base_url: `http://cloud.kestrel.example:${ports.cloud}/v1` },
      import: { mode: 'selector', label_selector: 'role' },
      spend: { monthly_cap: '80', confirm_above: '0', currency: 'EUR' },
    })
    account = id
  })
  const create = (key: string, body: object, path = '/v1/servers') =>
    linus.call('POST', path, body, { 'idempotency-key': `demo-fleet-${key}` })
  const serversIn = async (query: string): Promise<string[]> =>
    (await linus.call('GET', `/v1/servers?${query}`)).data.map((one: { id: string }) => one.id)
  for (const [name, public_key, isDefault] of sshKeys)
    simulation.schedule(now - 110 * minuteMs, () => linus.call('POST', '/v1/ssh-keys', { name, public_key, default: isDefault }))
  simulation.schedule(now - 90 * minuteMs, () =>
    create('draft', {
      name: 'web-3',
      account_id: account,
      location: 'nbg1',
      size: 'cx22',
      image: 'debian-12',
      labels: { role: 'web' },
      notes: 'For the sale in December.',
      provision: false,
      monitor: false,
    }),
  )
  simulation.schedule(now - 80 * minuteMs, async () => {
    const nas = { name: 'office-nas', kind: 'bare_metal', addresses: ['192.168.40.10'], location: 'Office', monitor: false }
    const { id } = await create('nas', nas)
    await linus.call('PUT', `/v1/servers/${id}/controllers/wake_on_lan`, { settings: { mac: '52:54:00:12:34:56' } })
  })
  simulation.schedule(now - 70 * minuteMs, async () => {
    const rule = (id: string, port: string, sources: string[], description: string) => ({
      ...{ id, direction: 'in', protocol: 'tcp', ports: [port], sources, description },
    })
    const { id } = await linus.call('POST', '/v1/firewalls', {
      name: 'web',
      description: 'Web servers of the shop.',
      rules: [
        rule('https', '443', ['0.0.0.0/0', '::/0'], 'HTTPS'),
        rule('http', '80', ['0.0.0.0/0', '::/0'], 'Redirects to HTTPS'),
        rule('ssh', '22', ['198.51.100.0/24'], 'Office'),
      ],
    })
    await linus.call('POST', `/v1/firewalls/${id}/attach`, {
      server_ids: await serversIn('label_selector=role=web&status=running'),
    })
  })
  const price = { max_monthly_price: '5.00', currency: 'EUR' }
  simulation.schedule(now - 60 * minuteMs, async () => {
    const [server_id] = await serversIn('q=web-1')
    const volume = { name: 'shop-media', account_id: account, size_bytes: 50 * gibibyte, format: 'ext4', server_id, ...price }
    await create('volume', volume, '/v1/volumes')
  })
  simulation.schedule(now - 50 * minuteMs, async () => {
    const { id } = await linus.call('POST', '/v1/snapshot-policies', {
      name: 'nightly',
      label_selector: 'role=db',
      schedule: { cron: '30 3 * * *', timezone: 'Europe/Berlin' },
      keep: { last: 1, hourly: 0, daily: 7, weekly: 4, monthly: 0 },
      ...price,
    })
    await linus.call('POST', `/v1/snapshot-policies/${id}/run`)
    // The simulation runs no scheduled tasks.
    await runSnapshotPolicies(simulation.hub)
  })
}
