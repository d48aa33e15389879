import type { MonitorCheckView } from '../../../features/monitors/check-shapes'
import { Code, Mono } from '../../parts/code'
import { Facts } from '../../parts/page'
import { Status, capitalize } from '../../parts/status'
import { Waterfall } from './waterfall'

type Result = NonNullable<MonitorCheckView['result']>

/** All details of a check: phases, conditions, request, and response. */
export function CheckDetails({ result }: { result: Result }) {
  const { evidence } = result
  return (
    <div className="flex flex-col gap-4">
      <Facts
        rows={[
          ['Status', <Status status={result.status} />],
          ['Error', result.error && capitalize(result.error.message)],
          ['Code', result.code],
          ['IP address', result.address],
          ['Certificate', result.certificate && `${result.certificate.subject}, issued by ${result.certificate.issuer}`],
          ['Request', evidence?.request],
          ['TLS', evidence?.tls && `${evidence.tls.version}, ${evidence.tls.cipher}`],
          ['DNS', evidence?.dns && `${evidence.dns.rcode} ${evidence.dns.answers.join(', ')}`],
        ]}
      />
      {result.conditions.length > 0 && (
        <div>
          <h3 className="mb-1 font-medium">Matched conditions</h3>
          <ul className="flex flex-col gap-1">
            {result.conditions.map(one => (
              <li key={`${one.level}${one.index}`}>
                <Status status={one.level} /> <Mono>{one.found}</Mono>
              </li>
            ))}
          </ul>
        </div>
      )}
      <Waterfall phases={result.phases} latencyMs={result.latency_ms} />
      {evidence?.headers && (
        <Code
          label="response headers"
          text={Object.entries(evidence.headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        />
      )}
      {evidence?.body && (
        <Code label={evidence.body_truncated ? 'start of the response body' : 'response body'} text={evidence.body} wrap />
      )}
    </div>
  )
}
