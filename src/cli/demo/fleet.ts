import type { Scenario } from './scenario'
import { hourMs, minuteMs } from './time-units'

/** Schedules a cloud account with its servers, a draft, and a machine in the office. */
export function scheduleFleet({ simulation, people: { ada, linus }, servers: { ports, cloud }, now }: Scenario): void {
  let account = ''
  for (const [name, type, location, role] of [
    ['web-1', 'cx22', 'fsn1', 'web'],
    ['web-2', 'cx22', 'nbg1', 'web'],
    ['db-1', 'cx42', 'fsn1', 'db'],
  ] as const)
    cloud.add({ name, type, location, labels: { role, env: 'production' } })
  cloud.add({ name: 'old-shop', type: 'cx32', location: 'hel1', labels: { role: 'web' }, status: 'off' })
  cloud.add({ name: 'try-out', type: 'cx22', location: 'hel1', labels: {} })
  simulation.schedule(now - 2 * hourMs, async () => {
    const { id } = await ada.call('POST', '/v1/cloud-accounts', {
      kind: 'hetzner',
      name: 'Hetzner production',
      settings: { api_token: cloud.apiToken, base_url: `http://cloud.kestrel.example:${ports.cloud}/v1` },
      import: { mode: 'selector', label_selector: 'role' },
      spend: { monthly_cap: '60', confirm_above: '0', currency: 'EUR' },
    })
    account = id
  })
  const create = (key: string, body: object) =>
    linus.call('POST', '/v1/servers', { ...body, monitor: false }, { 'idempotency-key': `demo-fleet-${key}` })
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
    }),
  )
  simulation.schedule(now - 80 * minuteMs, () =>
    create('nas', { name: 'office-nas', kind: 'bare_metal', addresses: ['192.168.40.10'], location: 'Office' }),
  )
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
    const { data } = await linus.call('GET', '/v1/servers?label_selector=role=web&status=running')
    await linus.call('POST', `/v1/firewalls/${id}/attach`, { server_ids: data.map((one: { id: string }) => one.id) })
  })
}
