import type { MonitorCheckView, MonitorTypeView, MonitorView } from '../../../features/monitors/shapes'
import { Copied } from '../../parts/code'
import { Card, Facts } from '../../parts/page'
import { Tag } from '../../parts/status'
import { Ago, span, useNow } from '../../parts/time'
import { useOne } from '../../queries'

/** How a monitor is checked, and what the last check found beside its status. */
export function MonitorFacts({ monitor }: { monitor: MonitorView }) {
  const types = useOne<{ data: MonitorTypeView[] }>('/monitors/types')
  const last = useOne<MonitorCheckView>(monitor.type === 'group' ? null : `/monitors/${monitor.id}/last-check`)
  const type = types.data?.data.find(one => one.type === monitor.type)
  const isGroup = monitor.type === 'group'
  const seconds = (n: number) => span(n * 1000)
  return (
    <>
      <Card title="Monitor">
        <Facts
          rows={[
            ['Type', type?.title ?? monitor.type],
            isGroup ? null : ['Target', <Target text={monitor.target} />],
            isGroup ? null : ['Checked', <Ago at={monitor.last_check_at} />],
            monitor.next_check_at === null ? null : ['Next check', <Ago at={monitor.next_check_at} />],
            ['Interval', seconds(monitor.interval_seconds)],
            isGroup ? null : ['Timeout', seconds(monitor.timeout_seconds)],
            isGroup ? null : ['Down after', failuresOf(monitor)],
            isGroup ? null : ['From', <Words words={monitor.locations} />],
            isGroup ? null : ['Address', last.data?.result?.address],
            ['Severity', monitor.severity],
            ['Key', monitor.key && <code className="font-mono text-[13px]">{monitor.key}</code>],
            ['Id', <Copied text={monitor.id} />],
          ]}
        />
      </Card>
      {last.data?.result?.certificate && <Certificate certificate={last.data.result.certificate} />}
      {monitor.down_if.length + monitor.degraded_if.length > 0 && <Conditions monitor={monitor} />}
    </>
  )
}

const failuresOf = ({ confirm, retry_interval_seconds }: MonitorView): string =>
  confirm === 1 ? 'one failure' : `${confirm} failures, ${span(retry_interval_seconds * 1000)} apart`

/** A target that is a URL leads there. */
const Target = ({ text }: { text: string }) =>
  /^https?:\/\//.test(text) ? (
    <a href={text} rel="noreferrer" target="_blank" className="text-accent hover:underline">
      {text}
    </a>
  ) : (
    <code className="font-mono text-[13px]">{text}</code>
  )

const Words = ({ words }: { words: readonly string[] }) => (
  <span className="flex flex-wrap gap-1">
    {words.map(word => (
      <Tag key={word}>{word}</Tag>
    ))}
  </span>
)

type CertificateView = NonNullable<NonNullable<MonitorCheckView['result']>['certificate']>
const dayMs = 86_400_000
const soonDays = 14

function Certificate({ certificate }: { certificate: CertificateView }) {
  const now = useNow()
  const days = Math.floor((new Date(certificate.valid_until_at).getTime() - now) / dayMs)
  return (
    <Card title="Certificate">
      <Facts
        rows={[
          [
            'Ends',
            <span className={days < 0 ? 'text-bad' : days < soonDays ? 'text-warn' : ''}>
              {days < 0 ? 'it has ended' : `in ${days} days`}, <Ago at={certificate.valid_until_at} />
            </span>,
          ],
          ['For', certificate.names.slice(0, 8).join(', ') + (certificate.names.length > 8 ? ', …' : '')],
          ['Subject', certificate.subject],
          ['Issuer', certificate.issuer],
          ['Since', <Ago at={certificate.valid_from_at} />],
          ['Serial', <code className="font-mono text-[13px]">{certificate.serial}</code>],
          ['SHA-256', <Copied text={certificate.sha256} />],
        ]}
      />
    </Card>
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
