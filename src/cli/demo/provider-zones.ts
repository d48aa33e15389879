import type { Scenario } from './scenario'
import { dayMs, hourMs, minuteMs } from './time-units'
import { rrset } from './zones'

/** A zone hosted on the PowerDNS server of the demo, which is also edited there. */
const sharedZone = 'kestrel-cdn.example'

/** Schedules zones at a provider: one with drift and a rejected record, and one with a plan that waits to be applied. */
export function scheduleProviderZones({
  simulation,
  people: { grace, linus },
  servers: { ports, powerDns },
  now,
  ago,
}: Scenario): void {
  let provider = ''
  simulation.schedule(ago(6), async () => {
    const { id } = await grace.call('POST', '/v1/dns/providers', {
      kind: 'powerdns',
      name: 'PowerDNS in Falkenstein',
      settings: { url: `http://ns.kestrel.example:${ports.powerDns}`, api_key: powerDns.apiKey },
    })
    provider = id
  })
  simulation.schedule(now - 30 * hourMs, () =>
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
  scheduleShared()
  simulation.schedule(ago(3), async () => {
    // The zone already existed at the provider.
    powerDns.createZone('kestrel-labs.example.', ['ns1.kestrel.example.'])
    const { id } = await linus.call('POST', '/v1/dns/zones', {
      name: 'kestrel-labs.example',
      provider_id: provider,
      apply: 'manual',
    })
    simulation.schedule(ago(3) + hourMs, () =>
      linus.call('PUT', `/v1/dns/zones/${id}/rrsets`, {
        rrsets: [rrset('www', 'A', ['203.0.113.7']), rrset('try', 'CNAME', ['www.kestrel-labs.example.'])],
      }),
    )
    simulation.schedule(now - 6 * minuteMs, () =>
      linus.call('POST', `/v1/dns/zones/${id}/plan`, {
        rrsets: [rrset('www', 'A', ['203.0.113.8'])],
        note: "Before Monday's demo",
      }),
    )
  })

  function scheduleShared(): void {
    const name = (label: string) => `${label}.${sharedZone}.`
    const zone = `${sharedZone}.`
    let id = ''
    simulation.schedule(ago(5.5), async () => {
      ;({ id } = await grace.call('POST', '/v1/dns/zones', { name: sharedZone, provider_id: provider }))
    })
    simulation.schedule(ago(5.5) + 5 * minuteMs, () =>
      grace.call('PUT', `/v1/dns/zones/${id}/rrsets`, {
        rrsets: [
          ...['www', 'img', 'static', 'video'].map((label, place) => rrset(label, 'A', [`203.0.113.${10 + place}`])),
          rrset('img', 'AAAA', ['2001:db8:cd::11']),
          rrset('origin', 'A', ['192.0.2.11', '192.0.2.12'], { comment: 'Both data centers' }),
          rrset('eu', 'CNAME', ['www.kestrel-cdn.example.']),
          rrset('us', 'CNAME', ['www.kestrel-cdn.example.']),
          rrset('_acme-challenge', 'TXT', ['0hT6pYcS9q']),
          rrset('fonts', 'A', ['203.0.113.20']),
        ],
      }),
    )
    simulation.schedule(ago(2), () =>
      linus.call('PUT', `/v1/dns/zones/${id}/rrsets`, { rrsets: [rrset('video', 'A', ['203.0.113.31', '203.0.113.32'])] }),
    )
    // Edited directly at the provider.
    simulation.schedule(now - 3 * hourMs, async () => {
      powerDns.put(zone, name('img'), 'A', 300, ['198.51.100.44'])
      powerDns.put(zone, name('us'), 'CNAME', 300, null)
      powerDns.put(zone, name('test'), 'A', 60, ['198.51.100.99'])
    })
    simulation.schedule(now - 3 * hourMs + 10 * minuteMs, () => linus.call('POST', `/v1/dns/zones/${id}/refresh`, {}))
    simulation.schedule(now - 95 * minuteMs, async () => {
      powerDns.rejects = one =>
        one.name.startsWith('preview.') ? `RRset ${one.name} IN ${one.type}: blocked by the zone policy` : null
      await linus.call('PUT', `/v1/dns/zones/${id}/rrsets`, { rrsets: [rrset('preview', 'A', ['203.0.113.50'])] })
    })
  }
}

/** Repeatedly changes a record at the provider and changes it back. */
export function editAtProvider({ powerDns }: Scenario['servers']): { stop(): void } {
  const zone = `${sharedZone}.`
  let turn = 0
  const timer = setInterval(
    () => powerDns.put(zone, `static.${zone}`, 'A', 300, [turn++ % 2 === 0 ? '198.51.100.61' : '203.0.113.12']),
    everyMs,
  )
  return { stop: () => clearInterval(timer) }
}

// Longer than the poll interval of the hub.
const everyMs = (150 * dayMs) / 86_400
