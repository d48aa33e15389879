import { powerDns } from '../../src/features/dns/providers/power-dns'
import type { HubUnderTest } from './hub-zone'
import type { PowerDnsServer } from './power-dns-server'

let zones = 0

/** A local PowerDNS, for the provider suites. */
export const powerDnsUnderTest = (server: PowerDnsServer): HubUnderTest => ({
  kind: powerDns.kind,
  settings: { url: server.url, api_key: server.apiKey },
  caps: powerDns.caps,
  async makeZone() {
    const name = `zone-${++zones}.example`
    await server.util('create-zone', name, 'ns1.example.net')
    return name
  },
  look: name => server.transferred(name),
  async changeExternally(name, below, type, ttl, values) {
    if (values === null) await server.util('delete-rrset', name, below, type)
    else await server.util('replace-rrset', name, below, type, String(ttl), ...values)
  },
  stop: () => {},
})
