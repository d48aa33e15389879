import type { PowerDnsDouble } from './power-dns-double'
import type { World } from './world'
import { zoneMade } from './zones'

/** A workspace whose zone `example.com` is kept at a double of PowerDNS. */
export interface KeptZone {
  zone: any
  provider: any
  /** The zone as the API shows it now. */
  shown(): Promise<any>
  /** Records at the provider, such as `www.example.com. A 300 192.0.2.1`, but for SOA. */
  there(): string[]
  records(query?: string): Promise<any[]>
  put(rrsets: object[]): Promise<any>
  /** An A record of the zone in a request. */
  a(name: string, ...addresses: string[]): object
  /** Reads the zone at the provider, and lets what follows happen. */
  refresh(body?: object): Promise<any>
}

/** @param begun rrsets that the provider has of the zone beforehand: name, type, values; the zone is not there when absent */
export async function keptZone(
  { acme, settle }: World,
  double: PowerDnsDouble,
  begun?: [name: string, type: string, ...values: string[]][],
  more: object = {},
): Promise<KeptZone> {
  double.zones.clear()
  double.trouble = () => null
  double.refuses = () => null
  if (begun) {
    const made = { name: 'example.com.', kind: 'Native', nameservers: ['ns1.example.net.'], soa_edit_api: 'DEFAULT' }
    await fetch(`${double.url}/api/v1/servers/localhost/zones`, {
      method: 'POST',
      headers: { 'x-api-key': double.apiKey },
      body: JSON.stringify(made),
    })
    for (const [name, type, ...values] of begun) double.put('example.com.', name, type, 300, values)
  }
  const provider = (
    await acme.call('POST', '/v1/dns/providers', {
      kind: 'powerdns',
      name: 'PowerDNS',
      settings: { url: double.url, api_key: double.apiKey },
    })
  ).body
  const zone = await zoneMade(acme, 'example.com', { provider_id: provider.id, ...more })
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
