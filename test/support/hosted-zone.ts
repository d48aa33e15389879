import type { PowerDnsDouble } from './power-dns-double'
import type { World } from './world'
import { createZone } from './zones'

/** A workspace with the zone `example.com` synced to a PowerDNS double. */
export interface HostedZone {
  zone: any
  provider: any
  /** Gets the zone over the API. */
  shown(): Promise<any>
  /** Records at the provider, without the SOA, such as `www.example.com. A 300 192.0.2.1`. */
  there(): string[]
  records(query?: string): Promise<any[]>
  put(rrsets: object[]): Promise<any>
  /** An A rrset for a request. */
  a(name: string, ...addresses: string[]): object
  /** Refreshes the zone from the provider and waits for the resulting jobs. */
  refresh(body?: object): Promise<any>
}

/** @param initial rrsets that already exist at the provider (name, type, values); without it, the zone doesn’t exist there */
export async function hostedZone(
  { acme, settle }: World,
  double: PowerDnsDouble,
  initial?: [name: string, type: string, ...values: string[]][],
  more: object = {},
): Promise<HostedZone> {
  double.zones.clear()
  double.trouble = () => null
  double.rejects = () => null
  if (initial) {
    const zoneInput = { name: 'example.com.', kind: 'Native', nameservers: ['ns1.example.net.'], soa_edit_api: 'DEFAULT' }
    await fetch(`${double.url}/api/v1/servers/localhost/zones`, {
      method: 'POST',
      headers: { 'x-api-key': double.apiKey },
      body: JSON.stringify(zoneInput),
    })
    for (const [name, type, ...values] of initial) double.put('example.com.', name, type, 300, values)
  }
  const provider = (
    await acme.call('POST', '/v1/dns/providers', {
      kind: 'powerdns',
      name: 'PowerDNS',
      settings: { url: double.url, api_key: double.apiKey },
    })
  ).body
  const zone = await createZone(acme, 'example.com', { provider_id: provider.id, ...more })
  const path = `/v1/dns/zones/${zone.id}`
  await settle()
  return {
    zone,
    provider,
    shown: async () => (await acme.call('GET', path)).body,
    there: () =>
      [...(double.zones.get('example.com.')?.rrsets.values() ?? [])]
        .filter(one => one.type !== 'SOA')
        .flatMap(one => one.records.map(record => `${one.name} ${one.type} ${one.ttl} ${record.content}`))
        .sort(),
    records: async (query = '') => (await acme.call('GET', `${path}/records${query}`)).body.data,
    async put(rrsets) {
      const answer = await acme.call('PUT', `${path}/rrsets`, { rrsets })
      if (answer.status !== 200) throw new Error(answer.text)
      await settle()
      return answer.body
    },
    a: (name, ...addresses) => ({ name, type: 'A', ttl: 300, records: addresses.map(content => ({ content })) }),
    async refresh(body = {}) {
      const { headers } = await acme.call('POST', `${path}/refresh`, body)
      await settle()
      return (await acme.call('GET', headers.get('location')!)).body
    },
  }
}
