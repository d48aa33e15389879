import { FilterChip } from '../../parts/filters'
import { CircleCheck } from 'lucide-react'
import type { ResultView } from '../../../features/monitors/series/shapes'
import { useUrlState } from '../../parts/url-state'
import { List, type Column } from '../../parts/list'
import { Facts } from '../../parts/page'
import { Status, capitalize } from '../../parts/status'
import { RelativeTime, formatLatency, formatDateTime } from '../../parts/time'
import { Waterfall } from './waterfall'

const iso = (at = '') => (at === '' ? '' : new Date(Number(at)).toISOString())

const columns: readonly Column<ResultView>[] = [
  { title: 'Time', width: '9rem', render: one => <RelativeTime at={one.at} /> },
  { title: 'Status', width: '8rem', render: one => <Status status={one.status} /> },
  { title: 'Latency', width: '6rem', alignRight: true, render: one => formatLatency(one.latency_ms) },
  { title: 'Code', width: '5rem', alignRight: true, render: one => one.code ?? '' },
  { title: 'Error', look: 'muted', onPhone: 'line', render: one => capitalize(one.error?.message ?? '') },
  { title: 'Location', width: '6rem', showFrom: 'lg', render: one => one.location },
]

const statuses = { down: 'Down', degraded: 'Degraded', 'down,degraded': 'Down or degraded' }
const range = { after: '', before: '' }

/** The results of single checks, newest first. */
export function CheckResults({ id }: { id: string }) {
  const [{ after }, set] = useUrlState(range)
  return (
    <List
      label="Checks"
      asSection
      path={`/monitors/${id}/results`}
      columns={columns}
      idOf={one => `${one.at}${one.location}`}
      details={one => ({ title: `Check at ${formatDateTime(one.at)}`, content: <ResultDetails result={one} /> })}
      params={range}
      query={({ runs, after, before }) => ({ status: runs, from: iso(after), to: iso(before), limit: 50 })}
      filters={[{ name: 'runs', label: 'Status', all: 'All statuses', choices: statuses }]}
      controls={after !== '' && <FilterChip label="Time" value={formatDateTime(Number(after))} onClear={() => set(range)} />}
      empty={{ icon: CircleCheck, text: 'Checks appear here as soon as they finish.' }}
    />
  )
}

const ResultDetails = ({ result }: { result: ResultView }) => (
  <div className="flex flex-col gap-4">
    <Facts
      rows={[
        ['Status', <Status status={result.status} />],
        ['Location', result.location],
        ['Code', result.code],
        ['Error', result.error && capitalize(result.error.message)],
      ]}
    />
    <Waterfall phases={result.phases} latencyMs={result.latency_ms} />
  </div>
)
