import { Siren } from 'lucide-react'
import type { IncidentView } from '../../../features/incidents/shapes'
import { Empty } from '../../parts/empty'
import { Card, Page } from '../../parts/page'
import { Status } from '../../parts/status'
import { Ago } from '../../parts/time'
import { useList } from '../../queries'

/** What is wrong now. */
export default function Overview() {
  const open = useList<IncidentView>('/incidents', { status: 'open,acknowledged', limit: 20 })
  return (
    <Page title="Overview">
      <Card title="Open incidents" flush>
        {open.rows.length === 0 && !open.isLoading && (
          <Empty icon={Siren} title="Nothing is wrong">
            Incidents of monitors and heartbeats show here while they last.
          </Empty>
        )}
        <ul className="divide-y divide-line">
          {open.rows.map(one => (
            <li key={one.id} className="flex items-center gap-3 px-4 py-2">
              <Status state={one.status} />
              <a className="min-w-0 grow truncate hover:underline" href={`/incidents/${one.id}`}>
                {one.title}
              </a>
              <Ago at={one.started_at} />
            </li>
          ))}
        </ul>
      </Card>
    </Page>
  )
}
