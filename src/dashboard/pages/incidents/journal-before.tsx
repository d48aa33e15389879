import type { IncidentView } from '../../../features/incidents/shapes'
import type { MonitorView } from '../../../features/monitors/shapes'
import type { JournalEntryView } from '../../../features/servers/journal/shapes'
import { useList, useOne } from '../../queries'
import { DayCard } from '../cloud/day-card'
import { JournalEntry } from '../cloud/server-journal'

const beforeMs = 1_800_000

/** What the agents of the affected servers noticed in the half hour before an incident. */
export const JournalsBefore = ({ incident: { monitors, started_at } }: { incident: IncidentView }) =>
  monitors.map(one => <JournalBefore key={one.id} monitor={one.id} startedAt={started_at} />)

function JournalBefore({ monitor, startedAt }: { monitor: string; startedAt: string }) {
  const found = useOne<MonitorView>(`/monitors/${monitor}`)
  const server = found.data?.type === 'server' ? found.data.target : null
  const from = new Date(Date.parse(startedAt) - beforeMs).toISOString()
  const entries = useList<JournalEntryView>(server && `/servers/${server}/journal`, { 'at[gte]': from, 'at[lte]': startedAt })
  return (
    <DayCard title={`Journal of ${found.data?.name ?? 'a server'}`} rows={entries} empty={null}>
      {one => <JournalEntry entry={one} />}
    </DayCard>
  )
}
