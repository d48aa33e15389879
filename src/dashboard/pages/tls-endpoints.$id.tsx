import { RefreshCw } from 'lucide-react'
import type { TlsScanSummaryView, TlsScanView } from '../../features/tls-endpoints/scans/shapes'
import type { TlsEndpointView } from '../../features/tls-endpoints/shapes'
import { Button } from '../parts/button'
import { CopyableText } from '../parts/code'
import { ListCard } from '../parts/list-card'
import { confirmDelete } from '../parts/open-dialog'
import { Card, Page, Skeleton } from '../parts/page'
import { Problem } from '../parts/problem'
import { resourcePage } from '../parts/resource-page'
import { SendButton } from '../parts/send-button'
import { capitalize, humanize, Tags } from '../parts/status'
import { formatDuration, RelativeTime } from '../parts/time'
import { useUrlState } from '../parts/url-state'
import { useList, useOne } from '../queries'
import { usePerson } from '../session'
import { editEndpoint, invalidates } from './tls-endpoints/endpoint-fields'
import { GradeBadge, protocolTitles } from './tls-endpoints/grade'
import { TlsReport } from './tls-endpoints/report'

const originTexts: Record<TlsEndpointView['origin'], string> = {
  manual: 'Created here',
  monitor: 'A monitor checks it',
  coverage: 'A name in a zone',
  agent: 'An agent reports it',
}

/** A TLS endpoint: a report of the last scan, or of an earlier one. */
export default resourcePage<TlsEndpointView>(
  { path: '/tls-endpoints', parent: '/tls-endpoints', refetchMs: one => one.last_scan_id === null && 1500 },
  EndpointPage,
)

function EndpointPage({ resource: endpoint }: { resource: TlsEndpointView }) {
  const { canWrite } = usePerson()
  const [{ scan: chosen }, set] = useUrlState({ scan: '' })
  const path = `/tls-endpoints/${endpoint.id}`
  const shown = chosen || endpoint.last_scan_id
  const scan = useOne<TlsScanView>(shown ? `/tls-endpoints/${endpoint.id}/scans/${shown}` : null)
  // On a phone, the cards below would move.
  if (scan.isLoading) return <Skeleton />
  return (
    <Page
      title={`${endpoint.host}:${endpoint.port}`}
      parent="/tls-endpoints"
      aside={<GradeBadge grade={endpoint.grade} />}
      actions={
        canWrite && (
          <>
            {endpoint.deletes_at === null && (
              <SendButton
                icon={RefreshCw}
                call={{ method: 'POST', path: `${path}/scan` }}
                send={{ toast: 'Scan started', invalidates }}
              >
                Scan now
              </SendButton>
            )}
            <Button onClick={() => editEndpoint(endpoint)}>Edit</Button>
            <Button
              kind="danger"
              onClick={() =>
                confirmDelete({
                  noun: 'endpoint',
                  name: endpoint.host,
                  path,
                  invalidates,
                  next: '/tls-endpoints',
                  text: 'Its scans are deleted. This can’t be undone.',
                })
              }
            >
              Delete
            </Button>
          </>
        )
      }
    >
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-4">
          {endpoint.last_error !== null && <Card title="Last scan failed">{endpoint.last_error}</Card>}
          {scan.error && <Problem error={scan.error} onRetry={() => void scan.refetch()} />}
          {scan.data && <Scan scan={scan.data} protocol={endpoint.protocol} />}
          {shown === null && <Card>The first scan is running.</Card>}
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Card
            title="Details"
            facts={[
              ['Protocol', protocolTitles[endpoint.protocol]],
              ['Server name', endpoint.servername],
              [
                'HTTP',
                scan.data?.plain_http && `Port 80 of ${scan.data.plain_http.address} answers (${scan.data.plain_http.status})`,
              ],
              ['Scanned', <RelativeTime at={endpoint.last_scan_at} />],
              ['Deleted', endpoint.deletes_at && <RelativeTime at={endpoint.deletes_at} />],
              ['Next scan', endpoint.next_scan_at ? <RelativeTime at={endpoint.next_scan_at} /> : 'Not active'],
              ['Interval', formatDuration(endpoint.interval_seconds * 1000)],
              ['Previous grade', endpoint.previous_grade],
              ['Grade changed', endpoint.grade_changed_at && <RelativeTime at={endpoint.grade_changed_at} />],
              ['Origin', originTexts[endpoint.origin]],
              ['Tags', endpoint.tags.length > 0 && <Tags tags={endpoint.tags} />],
              ['Created', <RelativeTime at={endpoint.created_at} />],
              ['ID', <CopyableText text={endpoint.id} />],
            ]}
          />
          <Scans id={endpoint.id} shown={shown} onChoose={scan => set({ scan: scan === endpoint.last_scan_id ? '' : scan })} />
        </div>
      </div>
    </Page>
  )
}

function Scan({ scan, protocol }: { scan: TlsScanView; protocol: string }) {
  return (
    <>
      <TlsReport key={scan.id} report={scan} protocol={protocol} />
      {scan.compared_to !== null && (
        <ListCard
          title="Changes since the previous scan"
          rows={scan.changes}
          keyOf={one => `${one.field} ${one.from} ${one.to}`}
          empty="Nothing changed."
        >
          {one => (
            <span className="wrap-anywhere">
              <span className="text-muted">{capitalize(humanize(one.field))}: </span>
              {changeText(one)}
            </span>
          )}
        </ListCard>
      )}
    </>
  )
}

/** Rules have names such as `no_hsts`. */
function changeText({ field, from, to }: TlsScanView['changes'][number]): string {
  const text = (value: string) => (field === 'rules' ? humanize(value) : value)
  if (from === null) return `added ${text(to!)}`
  return to === null ? `removed ${text(from)}` : `${text(from)} became ${text(to)}`
}

interface ScansProps {
  id: string
  shown: string | null
  onChoose(scan: string): void
}

/** The scans over time. */
function Scans({ id, shown, onChoose }: ScansProps) {
  const scans = useList<TlsScanSummaryView>(`/tls-endpoints/${id}/scans`, { limit: 20 }, { refetchMs: 10_000 })
  return (
    <ListCard title="Scans" rows={scans} empty="No scans yet.">
      {one => (
        <button
          type="button"
          aria-pressed={one.id === shown}
          onClick={() => onChoose(one.id)}
          className="flex w-full items-center gap-3 rounded-md text-left hover:bg-hover aria-pressed:font-medium"
        >
          <GradeBadge grade={one.grade} />
          <span className="grow">{one.error === null ? `${one.score} of 100` : 'Failed'}</span>
          <RelativeTime at={one.started_at} />
        </button>
      )}
    </ListCard>
  )
}
