import type { MonitorCheckView } from '../../../features/monitors/check-shapes'
import type { MonitorTypeView } from '../../../features/monitors/definition/shapes'
import type { MonitorView } from '../../../features/monitors/shapes'
import { CopyableText, Mono } from '../../parts/code'
import { Card } from '../../parts/page'
import { ResourceLinks } from '../../parts/resource'
import { useResourceNames } from '../../parts/resource-search'
import { severityLabels } from '../../parts/severity'
import { Tags } from '../../parts/status'
import { RelativeTime, formatDate, formatDuration, useNow } from '../../parts/time'
import { useOne } from '../../queries'
import { groupRuleOf } from './group-rules'

/** The settings of a monitor, and details of its last check. */
export function MonitorFacts({ monitor }: { monitor: MonitorView }) {
  const types = useOne<{ data: MonitorTypeView[] }>('/monitors/types')
  const last = useOne<MonitorCheckView>(monitor.type === 'group' ? null : `/monitors/${monitor.id}/last-check`)
  const type = types.data?.data.find(one => one.type === monitor.type)
  const isGroup = monitor.type === 'group'
  const isServer = monitor.type === 'server'
  const names = useResourceNames(isServer ? [monitor.target] : [])
  // The result can be newer than the monitor, which is loaded at another time.
  const lastCheckAt = [monitor.last_check_at, last.data?.result?.at].reduce((one, other) =>
    (other ?? '') > (one ?? '') ? other : one,
  )
  const seconds = (n: number) => formatDuration(n * 1000)
  return (
    <>
      <Card
        title="Monitor"
        facts={[
          ['Type', type?.title],
          isGroup
            ? ['Down when', groupRuleOf(monitor)]
            : isServer
              ? [
                  'Server',
                  <ResourceLinks of={[{ id: monitor.target, type: 'server', name: names.get(monitor.target) ?? null }]} />,
                ]
              : ['Target', <Target text={monitor.target} />],
          isGroup ? null : ['Last check', <RelativeTime at={lastCheckAt} />],
          monitor.next_check_at === null ? null : ['Next check', <RelativeTime at={monitor.next_check_at} past="due now" />],
          [isGroup ? 'Degraded after' : 'Interval', seconds(monitor.interval_seconds)],
          isGroup || isServer ? null : ['Timeout', seconds(monitor.timeout_seconds)],
          isGroup ? null : ['Down after', failuresOf(monitor)],
          isGroup ? null : ['Locations', <Words words={monitor.locations} />],
          isGroup || isServer ? null : ['IP address', last.data?.result?.address],
          ['Severity', severityLabels[monitor.severity]],
          ['Key', monitor.key && <Mono>{monitor.key}</Mono>],
          ['ID', <CopyableText text={monitor.id} />],
        ]}
      />
      {last.data?.result?.certificate && <Certificate certificate={last.data.result.certificate} />}
      {monitor.down_if.length + monitor.degraded_if.length > 0 && <Conditions monitor={monitor} />}
    </>
  )
}

const failuresOf = ({ confirm }: MonitorView): string => (confirm === 1 ? 'one failure' : `${confirm} failures in a row`)

/** Links a target that is a URL. */
const Target = ({ text }: { text: string }) =>
  /^https?:\/\//.test(text) ? (
    <a href={text} rel="noreferrer" target="_blank" className="text-accent hover:underline">
      {text}
    </a>
  ) : (
    <Mono>{text}</Mono>
  )

const Words = ({ words }: { words: readonly string[] }) => <Tags tags={words} />

type CertificateView = NonNullable<NonNullable<MonitorCheckView['result']>['certificate']>
const dayMs = 86_400_000
const soonDays = 14

function Certificate({ certificate }: { certificate: CertificateView }) {
  const now = useNow()
  const days = Math.floor((new Date(certificate.valid_until_at).getTime() - now) / dayMs)
  return (
    <Card
      title="Certificate"
      facts={[
        [
          'Expires',
          <span className={days < 0 ? 'text-bad' : days < soonDays ? 'text-warn' : ''}>
            {formatDate(certificate.valid_until_at)}, <RelativeTime at={certificate.valid_until_at} />
          </span>,
        ],
        ['Names', certificate.names.slice(0, 8).join(', ') + (certificate.names.length > 8 ? ', …' : '')],
        ['Subject', certificate.subject],
        ['Issuer', certificate.issuer],
        ['Valid from', <RelativeTime at={certificate.valid_from_at} />],
        ['Serial number', <Mono>{certificate.serial}</Mono>],
        ['SHA-256 fingerprint', <CopyableText text={certificate.sha256} />],
      ]}
    />
  )
}

const Conditions = ({ monitor }: { monitor: MonitorView }) => (
  <Card title="Conditions">
    <ul className="flex flex-col gap-1">
      {[...monitor.down_if.map(one => ['Down if', one]), ...monitor.degraded_if.map(one => ['Degraded if', one])].map(
        ([level, condition], at) => (
          <li key={at}>
            <span className="text-muted">{level}</span> <code className="font-mono text-[13px] wrap-anywhere">{condition}</code>
          </li>
        ),
      )}
    </ul>
  </Card>
)
