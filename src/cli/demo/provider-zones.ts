import { dayMs, hourMs, minuteMs, type Telling } from './telling'
import { rrset } from './zones'

/** A zone that is kept at the PowerDNS of the demo, where others change it as well. */
export const sharedZone = 'kestrel-cdn.example'

/** Plans zones that are kept elsewhere: one that others changed there, with a record that is refused, and one that waits for a plan. */
export function planProviderZones({ past, people: { grace, linus }, servers: { ports, powerDns }, now, ago }: Telling): void {
  let provider = ''
  past.plan(ago(6), async () => {
    const { id } = await grace.call('POST', '/v1/dns/providers', {
      kind: 'powerdns',
      name: 'PowerDNS in Falkenstein',
      settings: { url: `http://ns.kestrel.example:${ports.powerDns}`, api_key: powerDns.apiKey },
    })
    provider = id
  })
  past.plan(now - 30 * hourMs, () =>
    linus.call('POST', '/v1/dns/providers', {
      kind: 'rfc2136',
      name: 'BIND in the old office',
      settings: {
        host: 'office.kestrel.example',
        port: 9,
        key_name: 'bailiwick',
        key_secret: Buffer.alloc(32, 7).toString('base64'),
        zones: ['kestrel-archive.example'],
      },
    }),
  )
  planShared()
  past.plan(ago(3), async () => {
    // It was there before the hub was.
    powerDns.make('kestrel-labs.example.', ['ns1.kestrel.example.'])
    const { id } = await linus.call('POST', '/v1/dns/zones', {
      name: 'kestrel-labs.example',
      provider_id: provider,
      apply: 'manual',
    })
    past.plan(ago(3) + hourMs, () =>
      linus.call('PUT', `/v1/dns/zones/${id}/rrsets`, {
        rrsets: [rrset('www', 'A', ['203.0.113.7']), rrset('try', 'CNAME', ['www.kestrel-labs.example.'])],
      }),
    )
    past.plan(now - 6 * minuteMs, () =>
      linus.call('POST', `/v1/dns/zones/${id}/plan`, {
        rrsets: [rrset('www', 'A', ['203.0.113.8'])],
        note: 'Before the demo on Monday',
      }),
    )
  })

  function planShared(): void {
    const name = (label: string) => `${label}.${sharedZone}.`
    const zone = `${sharedZone}.`
    let id = ''
    past.plan(ago(5.5), async () => {
      ;({ id } = await grace.call('POST', '/v1/dns/zones', { name: sharedZone, provider_id: provider }))
    })
    past.plan(ago(5.5) + 5 * minuteMs, () =>
      grace.call('PUT', `/v1/dns/zones/${id}/rrsets`, {
        rrsets: [
          ...['www', 'img', 'static', 'video'].map((label, place) => rrset(label, 'A', [`203.0.113.${10 + place}`])),
          rrset('img', 'AAAA', ['2001:db8:cd::11']),
          rrset('origin', 'A', ['192.0.2.11', '192.0.2.12'], { comment: 'Both data centres' }),
          rrset('eu', 'CNAME', ['www.kestrel-cdn.example.']),
          rrset('us', 'CNAME', ['www.kestrel-cdn.example.']),
          rrset('_acme-challenge', 'TXT', ['0hT6pYcS9q']),
          rrset('fonts', 'A', ['203.0.113.20']),
        ],
      }),
    )
    past.plan(ago(2), () =>
      linus.call('PUT', `/v1/dns/zones/${id}/rrsets`, { rrsets: [rrset('video', 'A', ['203.0.113.31', '203.0.113.32'])] }),
    )
    // Somebody works at the server itself.
    past.plan(now - 3 * hourMs, async () => {
      powerDns.put(zone, name('img'), 'A', 300, ['198.51.100.44'])
      powerDns.put(zone, name('us'), 'CNAME', 300, null)
      powerDns.put(zone, name('test'), 'A', 60, ['198.51.100.99'])
    })
    past.plan(now - 3 * hourMs + 10 * minuteMs, () => linus.call('POST', `/v1/dns/zones/${id}/refresh`, {}))
    past.plan(now - 95 * minuteMs, async () => {
      powerDns.refuses = one =>
        one.name.startsWith('preview.') ? `RRset ${one.name} IN ${one.type}: blocked by the policy of the zone` : null
      await linus.call('PUT', `/v1/dns/zones/${id}/rrsets`, { rrsets: [rrset('preview', 'A', ['203.0.113.50'])] })
    })
  }
}

/** From now on somebody changes a record at the server, and changes it back. */
export function meddle({ powerDns }: Telling['servers']): { stop(): void } {
  const zone = `${sharedZone}.`
  let turn = 0
  const timer = setInterval(
    () => powerDns.put(zone, `static.${zone}`, 'A', 300, [turn++ % 2 === 0 ? '198.51.100.61' : '203.0.113.12']),
    eachMs,
  )
  return { stop: () => clearInterval(timer) }
}

// Longer than the time between two readings.
const eachMs = (150 * dayMs) / 86_400
