import { Router } from 'lucide-react'
import type { DynamicIpUpdateView } from '../../../features/dynamic-ips/shapes'
import { Code, Mono } from '../../parts/code'
import { List, type Column } from '../../parts/list'
import { Facts } from '../../parts/page'
import { Status } from '../../parts/status'
import { TextWithCode } from '../../parts/text-with-code'
import { formatDateTime, RelativeTime } from '../../parts/time'
import { ClientFacts } from './client-facts'
import { clientName, refetchMs } from './source-text'

const columns: readonly Column<DynamicIpUpdateView>[] = [
  { title: 'Time', width: '8rem', render: one => <RelativeTime at={one.at} /> },
  { title: 'Result', width: '8rem', onPhone: 'corner', render: one => <Result report={one} /> },
  {
    title: 'Explanation',
    onPhone: 'line',
    render: one => (
      <span className="line-clamp-3">
        <TextWithCode text={one.explanation} />
      </span>
    ),
  },
  { title: 'Addresses', width: '14rem', showFrom: '2xl', look: 'mono', onPhone: 'hidden', render: addresses },
  { title: 'Client', width: '10rem', showFrom: 'md', look: 'muted', render: clientName },
]

/** The reports of a source, newest first, with what happened and why. */
export const Reports = ({ id }: { id: string }) => (
  <List
    label="Reports"
    asSection
    path={`/dynamic-ips/${id}/updates`}
    columns={columns}
    details={one => ({ title: `Report from ${formatDateTime(one.at)}`, content: <ReportDetails report={one} /> })}
    refetchMs={refetchMs}
    filters={[
      {
        name: 'changed',
        label: 'Result',
        all: 'All results',
        choices: { true: 'Changed', false: 'Not changed' },
      },
    ]}
    empty={{ icon: Router, text: 'Reports appear here with the client that sent them, and what happened.' }}
  />
)

const Result = ({ report: { changed } }: { report: DynamicIpUpdateView }) => (
  <Status status={changed ? 'changed' : 'unchanged'} tone={changed ? 'ok' : 'idle'} />
)

function addresses({ ipv4, ipv6, prefix6 }: DynamicIpUpdateView) {
  const known = [ipv4, ipv6 ?? prefix6].filter(one => one !== null)
  return known.length === 0 ? '–' : known.map(one => <div key={one}>{one}</div>)
}

const ReportDetails = ({ report }: { report: DynamicIpUpdateView }) => (
  <div className="flex flex-col gap-4">
    <p>
      <TextWithCode text={report.explanation} />
    </p>
    <Facts
      rows={[
        ['Result', <Result report={report} />],
        ['IPv4 address', report.ipv4 && <Mono>{report.ipv4}</Mono>],
        ['IPv6 address', report.ipv6 && <Mono>{report.ipv6}</Mono>],
        ['IPv6 prefix', report.prefix6 && <Mono>{report.prefix6}</Mono>],
        ['Hosts', report.hosts.length > 0 ? report.hosts.join(', ') : 'All'],
      ]}
    />
    <ClientFacts client={report} />
    {Object.keys(report.parameters).length > 0 && (
      <Code
        label="Parameters"
        text={Object.entries(report.parameters)
          .map(pair => pair.join('='))
          .join('\n')}
        wrap
      />
    )}
    {report.response_lines.length > 0 && <Code label="Response" text={report.response_lines.join('\n')} wrap />}
  </div>
)
