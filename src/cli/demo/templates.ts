import { domain } from './resolver'
import type { Scenario } from './scenario'
import { minuteMs } from './time-units'

/** Schedules templates and linked zones: one was modified manually and one is outdated. */
export function scheduleTemplates({ simulation, people: { grace, linus }, ago }: Scenario): void {
  const zone = async (name: string): Promise<string> => (await grace.call('GET', `/v1/dns/zones?name=${name}`)).data[0].id
  simulation.schedule(ago(52), async () => {
    const { id } = await grace.call('POST', '/v1/dns/templates', {
      name: 'Campaign site',
      description: 'A subdomain for a marketing campaign, with a verification record.',
      variables: [
        { name: 'address', type: 'ip', default: '192.0.2.80' },
        { name: 'campaign', type: 'string', pattern: '[a-z0-9-]{2,30}' },
      ],
      records: records(300),
    })
    const apply = async (name: string, host: string, campaign: string) =>
      grace.call('POST', `/v1/dns/templates/${id}/apply`, {
        zone_id: await zone(name),
        host,
        variables: { campaign },
        mode: 'linked',
      })
    simulation.schedule(ago(51), () => apply(domain, 'summer', 'summer-sale'))
    simulation.schedule(ago(50), () => apply(domain, 'outlet', 'outlet'))
    simulation.schedule(ago(43), () => apply('kestrel-outfitters.example', 'winter', 'winter-2026'))
    simulation.schedule(ago(8), () => grace.call('PATCH', `/v1/dns/templates/${id}`, { records: records(600) }))
    simulation.schedule(ago(20), async () =>
      linus.call('PUT', `/v1/dns/zones/${await zone(domain)}/rrsets`, {
        rrsets: [{ name: 'outlet', type: 'A', ttl: 60, records: [{ content: '192.0.2.81' }] }],
      }),
    )
  })
  simulation.schedule(ago(45), () => linus.call('POST', '/v1/dns/zones', { name: 'kestrel-outfitters.example' }))
  simulation.schedule(ago(45) + 10 * minuteMs, async () =>
    grace.call('POST', '/v1/dns/templates/tmpl_builtin_no_mail/apply', {
      zone_id: await zone('kestrel-outfitters.example'),
      mode: 'linked',
      variables: {},
    }),
  )
}

const records = (ttl: number) => [
  { type: 'A', name: '@', content: '{{address}}', ttl, on_conflict: 'replace' },
  { type: 'TXT', name: '_campaign', content: 'campaign={{campaign}}' },
]
