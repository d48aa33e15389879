import { Radio } from 'lucide-react'
import type { PingView, PingWithBodyView } from '../../../features/heartbeats/shapes'
import { Code } from '../../parts/code'
import { List, type Column } from '../../parts/list'
import { Facts } from '../../parts/page'
import { Problem } from '../../parts/problem'
import { Status, capitalize } from '../../parts/status'
import { RelativeTime, formatDuration, formatDateTime } from '../../parts/time'
import { useOne } from '../../queries'
import { pingTone, pingLabels } from './ping-bars'

const columns: readonly Column<PingView>[] = [
  { title: 'Time', width: '8rem', render: one => <RelativeTime at={one.at} /> },
  {
    title: 'Result',
    width: '9rem',
    onPhone: 'corner',
    render: one => <Status status={one.kind} tone={pingTone(one.kind)} label={pingLabels[one.kind]} />,
  },
  {
    title: 'Duration',
    width: '7.5rem',
    alignRight: true,
    render: one => (one.duration_ms === null ? '–' : formatDuration(one.duration_ms)),
  },
  { title: 'Exit status', width: '7rem', alignRight: true, showFrom: 'md', render: one => one.exit_status ?? '–' },
  { title: 'Source', width: '10rem', look: 'mono', render: one => one.source },
  { title: 'Client', showFrom: 'lg', look: 'muted', render: one => one.user_agent || '–' },
  {
    title: 'Output',
    width: '6rem',
    alignRight: true,
    render: one => (one.body_bytes > 0 ? `${one.body_bytes.toLocaleString()} B` : ''),
  },
]

const kinds = Object.entries(pingLabels).map(([value, label]) => [value, capitalize(label)] as const)

/** The pings of a heartbeat, newest first, with their logs. */
export const Pings = ({ id, refetchMs }: { id: string; refetchMs: number }) => (
  <List
    label="Pings"
    asSection
    path={`/heartbeats/${id}/pings`}
    columns={columns}
    idOf={one => String(one.n)}
    details={one => ({ title: `Ping ${one.n}, ${formatDateTime(one.at)}`, content: <PingDetails id={id} ping={one} /> })}
    query={({ pings }) => ({ kind: pings })}
    refetchMs={refetchMs}
    filters={[{ name: 'pings', label: 'Result', all: 'All results', choices: kinds }]}
    empty={{ icon: Radio, text: 'Pings appear here with the output of the job.' }}
  />
)

function PingDetails({ id, ping }: { id: string; ping: PingView }) {
  const found = useOne<PingWithBodyView>(ping.body_bytes > 0 ? `/heartbeats/${id}/pings/${ping.n}` : null)
  return (
    <div className="flex flex-col gap-4">
      <Facts
        rows={[
          ['Result', <Status status={ping.kind} tone={pingTone(ping.kind)} label={pingLabels[ping.kind]} />],
          ['Duration', ping.duration_ms === null ? null : formatDuration(ping.duration_ms)],
          ['Exit status', ping.exit_status],
          ['Source', ping.source],
          ['Method', ping.method],
          ['User agent', ping.user_agent || null],
          ['Run ID', ping.rid],
        ]}
      />
      {found.error && <Problem error={found.error} onRetry={() => void found.refetch()} />}
      {ping.body_bytes > 0 && !found.error && <Code text={found.data?.body ?? 'Loading…'} label="log" wrap />}
    </div>
  )
}
