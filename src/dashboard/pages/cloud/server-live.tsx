import { useCallback, useMemo, useState } from 'react'
import type { ServerLiveView } from '../../../features/servers/live/shapes'
import { Problem } from '../../parts/problem'
import { Status } from '../../parts/status'
import { useOne } from '../../queries'
import { liveState, useWatched, type LiveRow } from '../../shell/live'
import { MetricCharts, type Metric } from './metric-charts'
import { ProcessList } from './process-list'

/** Length of the charts. */
export const liveMs = 120_000
const maxRows = 60
/** How often the state is read, and rows are without a stream. */
const refetchMs = { streamed: 10_000, polled: 2000 }

type Row = Pick<LiveRow, 'at' | 'metrics'>

/** Charts of what a server does now, for as long as they are visible. */
export function LiveMetrics({ id, name }: { id: string; name: string }) {
  const [streamed, setStreamed] = useState<readonly Row[]>([])
  const [last, setLast] = useState<LiveRow | null>(null)
  const onRows = useCallback((rows: readonly LiveRow[]) => {
    setStreamed(before => merged(before, rows))
    setLast(before => rows.at(-1) ?? before)
  }, [])
  useWatched('servers', [id], onRows)
  const isStreamed = liveState.use() === 'live'
  const found = useOne<ServerLiveView>(
    `/servers/${id}/live`,
    {},
    { refetchMs: ({ state }) => (isStreamed && state !== 'starting' ? refetchMs.streamed : refetchMs.polled) },
  )
  const { data } = found
  const rows = useMemo(() => merged(data?.rows ?? [], streamed), [data, streamed])
  const { times, metrics } = useMemo(() => seriesOf(rows, data?.units ?? {}), [rows, data])
  const end = times.at(-1) ?? 0
  const processes = (isStreamed ? last?.processes : null) ?? data?.processes ?? []
  if (found.error && !data) return <Problem error={found.error} onRetry={() => void found.refetch()} />
  return (
    <>
      <div role="status" className="mb-3 text-[13px] text-muted">
        {data?.state === 'unavailable' ? (
          <Status status="warning" label={data.reason ?? ''} />
        ) : times.length === 0 ? (
          'Waiting for the agent…'
        ) : (
          <Status status="up" label="Every 2 seconds, while you look at this page. These values are not stored." />
        )}
      </div>
      <MetricCharts of={name} metrics={metrics} times={times} span={[end - liveMs, end]} />
      {processes.length > 0 && (
        <section className="mt-5">
          <h3 className="text-[13px] font-medium">Busiest processes</h3>
          <ProcessList processes={processes} />
        </section>
      )}
    </>
  )
}

/** The last rows of two lists, each once, oldest first. */
function merged(a: readonly Row[], b: readonly Row[]): Row[] {
  const rows = new Map([...a, ...b].map(row => [row.at, row]))
  return [...rows.values()].sort((one, other) => (one.at < other.at ? -1 : 1)).slice(-maxRows)
}

/** A longer pause between two rows is a gap. */
const gapMs = 7000

/** The rows as series. Metrics that are not measured each time, such as the number of processes, are left out. */
function seriesOf(rows: readonly Row[], units: ServerLiveView['units']): { times: number[]; metrics: Metric[] } {
  const times: number[] = []
  const places: number[] = []
  for (const { at } of rows) {
    const time = Date.parse(at)
    if (times.length > 0 && time - times.at(-1)! > gapMs) times.push(times.at(-1)! + 1)
    places.push(times.push(time) - 1)
  }
  const found = new Map<string, (number | null)[]>()
  for (const [row, { metrics }] of rows.entries())
    for (const [column, value] of Object.entries(metrics)) {
      const values = found.get(column) ?? Array<number | null>(times.length).fill(null)
      values[places[row]!] = value
      found.set(column, values)
    }
  const isRegular = (values: readonly (number | null)[]) => values.filter(one => one !== null).length > (rows.length - 1) / 2
  const metrics = [...found]
    .filter(([, values]) => isRegular(values))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([column, avg]): Metric => {
      const [name = '', ...device] = column.split(':')
      return {
        name,
        device: device.length > 0 ? device.join(':') : null,
        unit: units[name] ?? 'other',
        source: 'agent',
        avg,
        max: [],
      }
    })
  return { times, metrics }
}
