import { rdataOfText } from '../../src/dns/rdata'
import type { ProviderRrset } from '../../src/features/dns/providers/provider'
import { route53 } from '../../src/features/dns/providers/route53'
import { withinZone } from '../../src/features/dns/zones/names'
import type { TroubledUnderTest } from './hub-zone'
import { pluginContext } from './plugin-context'
import type { Route53Double, Route53Fault, Route53Request } from './route53'
import { escapedName, type Route53Zone } from './route53-zone'

let zones = 0

/** The double of Route 53, for the provider suites. */
export function route53UnderTest(double: Route53Double): TroubledUnderTest {
  const zoneNamed = (name: string) => double.zones.find(one => one.name === name)!
  const changing = (fault: Route53Fault) => (request: Route53Request) => (request.method === 'GET' ? null : fault)
  const isList = ({ method, path }: Route53Request) => method === 'GET' && path.endsWith('/rrset')
  const settings = { access_key_id: double.accessKeyId, secret_access_key: double.secretAccessKey, base_url: double.url }
  return {
    kind: route53.kind,
    settings,
    caps: route53.open(settings, pluginContext()).caps,
    checksTime: true,
    makeZone: async () => double.zone(`zone-${++zones}.example`).name,
    look: async name => looked(zoneNamed(name)),
    async changeExternally(zoneName, name, type, ttl, values) {
      const zone = zoneNamed(zoneName)
      const Name = escapedName(name === '@' ? zoneName : `${name}.${zoneName}`)
      if (values) zone.put({ Name, Type: type, TTL: ttl, values: [...values], more: {} })
      else zone.remove(Name, type)
    },
    async makeForeign(zoneName) {
      const target = '<HostedZoneId>Z2FDTNDATAQYW2</HostedZoneId><DNSName>d111111abcdef8.cloudfront.net.</DNSName>'
      const AliasTarget = `${target}<EvaluateTargetHealth>false</EvaluateTargetHealth>`
      zoneNamed(zoneName).put({ Name: `cdn.${zoneName}.`, Type: 'A', more: { AliasTarget } })
      return { name: 'cdn', type: 'A' }
    },
    lacks: ['TYPE65280'],
    trouble: {
      throttle: () => (double.fault = () => 'throttled'),
      shorten: () => (double.answered = (xml, request) => (isList(request) ? xml.slice(0, xml.length >> 1) : xml)),
      fallSilent: () => (double.fault = changing('lost')),
      lose(kept, from) {
        let started = from === 'now'
        double.fault = request => {
          started ||= request.method !== 'GET'
          return null
        }
        double.listed = sets => {
          if (!started) return sets
          const [soa, others] = [sets.filter(one => one.Type === 'SOA'), sets.filter(one => one.Type !== 'SOA')]
          return [...soa, ...others.slice(0, kept)]
        }
      },
      interrupt(changeExternally) {
        let isDone = false
        double.fault = ({ method }) => {
          if (isDone || method === 'GET') return null
          isDone = true
          void changeExternally()
          return null
        }
      },
      calm() {
        double.fault = () => null
        double.answered = xml => xml
        double.listed = sets => sets
      },
    },
    stop() {},
  }
}

/** Escapes are octal here and decimal in zone files. */
const decimal = (text: string): string =>
  text.replaceAll(/\\(\d{3})|\\[^]/g, (escape, octal?: string) =>
    octal === undefined ? escape : `\\${String(parseInt(octal, 8)).padStart(3, '0')}`,
  )

const looked = ({ name, sets }: Route53Zone): ProviderRrset[] =>
  sets
    .filter(one => one.Type !== 'SOA' && one.values)
    .map(({ Name, Type, TTL, values }) => ({
      name: withinZone(Name.replaceAll('\\052', '*'), name)!,
      type: Type,
      ttl: TTL!,
      values: values!.map(value => rdataOfText(Type, decimal(value), '.')),
    }))
