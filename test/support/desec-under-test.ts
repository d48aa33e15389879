import { desec } from '../../src/features/dns/providers/desec'
import { withinZone } from '../../src/features/dns/zones/names'
import type { ApiRequest } from './api-double'
import type { DesecDouble } from './desec'
import type { DesecDomain } from './desec-domain'
import type { TroubledUnderTest } from './hub-zone'
import { rrset } from './provider-contract'

let zones = 0

// deSEC grants a lower minimum on request. The suites use short TTLs.
const minimumTtl = 60

/** The double of deSEC, for the provider suites. */
export function desecUnderTest(double: DesecDouble): TroubledUnderTest {
  const domainNamed = (name: string) => double.domains.find(one => one.name === name)!
  const isReading = ({ method, path, query }: ApiRequest) =>
    method === 'GET' && path.endsWith('/rrsets/') && !query.has('subname')
  return {
    kind: desec.kind,
    settings: { api_token: double.token, base_url: double.url },
    caps: { ...desec.caps, ttl: { ...desec.caps.ttl, min: minimumTtl } },
    async makeZone() {
      const domain = double.domain(`zone-${++zones}.example`, minimumTtl)
      domain.patch([{ subname: '', type: 'NS', records: ['ns1.example.net.'] }])
      return domain.name
    },
    look: async name => looked(domainNamed(name)),
    async changeExternally(zoneName, name, type, ttl, values) {
      domainNamed(zoneName).patch([{ subname: name === '@' ? '' : name, type, ttl, records: values ?? [] }])
    },
    async makeForeign(zoneName) {
      // RFC 8659 reserves all bits of the flags but the first. deSEC accepts them, the hub doesn’t.
      domainNamed(zoneName).put('odd', 'CAA', 3600, ['1 issue "ca.example.net"'])
      return { name: 'odd', type: 'CAA' }
    },
    trouble: {
      throttle: () => (double.fault = () => 'throttled'),
      shorten: () => (double.fault = request => (isReading(request) ? 'cut' : null)),
      fallSilent: () => (double.fault = ({ method }) => (method === 'GET' ? null : 'lost')),
      lose(kept, from) {
        let started = from === 'now'
        double.fault = request => {
          started ||= request.method !== 'GET'
          return null
        }
        // The apex NS is the oldest, and so the last.
        double.answered = (body, request) => (started && isReading(request) ? body.slice(body.length - kept) : body)
      },
      interrupt(changeExternally) {
        let readings = 0
        // The hub reads to compare, and the adapter once more to be sure.
        double.fault = request => {
          if (request.method === 'GET' && request.path.endsWith('/rrsets/') && ++readings === 2) void changeExternally()
          return null
        }
      },
      calm() {
        double.fault = () => null
        double.answered = body => body
      },
    },
    lacks: ['TYPE65280'],
    stop() {},
  }
}

const looked = ({ name: zoneName, rrsets }: DesecDomain) =>
  rrsets.map(one => rrset(withinZone(one.name, zoneName)!, one.type, one.ttl, one.records))
