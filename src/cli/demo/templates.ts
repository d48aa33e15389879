import { domain } from './resolver'
import { minuteMs, type Telling } from './telling'

/** Plans templates, with zones that follow them, one that was edited by hand and one that is behind. */
export function planTemplates({ past, people: { grace, linus }, ago }: Telling): void {
  const zone = async (name: string): Promise<string> => (await grace.call('GET', `/v1/dns/zones?name=${name}`)).data[0].id
  past.plan(ago(52), async () => {
    const { id } = await grace.call('POST', '/v1/dns/templates', {
      name: 'Campaign site',
      description: 'A name for a campaign, with the proof that marketing needs.',
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
    past.plan(ago(51), () => apply(domain, 'summer', 'summer-sale'))
    past.plan(ago(50), () => apply(domain, 'outlet', 'outlet'))
    past.plan(ago(43), () => apply('kestrel-outfitters.example', 'winter', 'winter-2026'))
    past.plan(ago(8), () => grace.call('PATCH', `/v1/dns/templates/${id}`, { records: records(600) }))
    past.plan(ago(20), async () =>
      linus.call('PUT', `/v1/dns/zones/${await zone(domain)}/rrsets`, {
        rrsets: [{ name: 'outlet', type: 'A', ttl: 60, records: [{ content: '192.0.2.81' }] }],
      }),
    )
  })
  past.plan(ago(45), () => linus.call('POST', '/v1/dns/zones', { name: 'kestrel-outfitters.example' }))
  past.plan(ago(45) + 10 * minuteMs, async () =>
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
