import { FileUp, ShieldCheck } from 'lucide-react'
import type { TlsEndpointImport, TlsEndpointView } from '../../features/tls-endpoints/shapes'
import { BulkDelete, BulkTags } from '../parts/bulk'
import { Button } from '../parts/button'
import { TextareaField } from '../parts/form'
import { ListPage, type Column } from '../parts/list'
import { openForm } from '../parts/open-dialog'
import { pluralize } from '../parts/plural'
import { Status } from '../parts/status'
import { tagsColumn } from '../parts/table'
import { RelativeTime } from '../parts/time'
import { useUrlState } from '../parts/url-state'
import { usePerson } from '../session'
import { invalidates } from './tls-endpoints/endpoint-fields'
import { GradeBadge, gradeChoices } from './tls-endpoints/grade'

const refetchMs = 10_000
const selection = { path: '/tls-endpoints/bulk', nouns: ['endpoint', 'endpoints'], invalidates } as const
const origins = { manual: 'Created here', monitor: 'From monitors', coverage: 'From zones', agent: 'From agents' }

/** The list of TLS endpoints. */
export default function TlsEndpoints() {
  const { canWrite } = usePerson()
  const [, set] = useUrlState({ tag: '' })
  const columns: readonly Column<TlsEndpointView>[] = [
    { title: 'Host', sort: 'host', look: 'strong', width: 'clamp(12rem, 26cqw, 30rem)', render: one => locationText(one) },
    { title: 'Grade', sort: 'grade', width: '6rem', onPhone: 'corner', render: one => <GradeBadge grade={one.grade} /> },
    { title: 'Previous grade', width: '12rem', showFrom: 'lg', onPhone: 'line', render: one => <Change endpoint={one} /> },
    { title: 'Issues', showFrom: 'md', onPhone: 'line', render: one => <Problems endpoint={one} /> },
    { title: 'Scanned', width: '8rem', render: one => <RelativeTime at={one.last_scan_at} /> },
    tagsColumn(
      one => one.tags,
      tag => set({ tag }),
    ),
  ]
  return (
    <ListPage<TlsEndpointView>
      label="TLS endpoints"
      description="Servers whose TLS configuration is scanned and graded on a schedule: versions, ciphers, keys, and certificates."
      path="/tls-endpoints"
      page="/tls-endpoints/$id"
      create="/tls-endpoints/new"
      actions={
        canWrite && (
          <Button icon={FileUp} onClick={importList}>
            Import list
          </Button>
        )
      }
      columns={columns}
      sort="grade"
      search
      counted
      refetchMs={refetchMs}
      filters={[
        { name: 'grade', label: 'Grade', all: 'All grades', choices: gradeChoices },
        { name: 'origin', label: 'Origin', all: 'All origins', choices: origins },
        {
          name: 'active',
          label: 'Schedule',
          all: 'All schedules',
          choices: { true: 'Scanned on a schedule', false: 'Only scanned manually' },
        },
        { name: 'tag', label: 'Tag' },
      ]}
      bulk={
        canWrite
          ? (rows, onSuccess) => {
              const of = { ...selection, rows, onSuccess }
              return (
                <>
                  <BulkTags of={of} />
                  <BulkDelete of={of} text="This deletes their scans. This can’t be undone." />
                </>
              )
            }
          : undefined
      }
      empty={{
        icon: ShieldCheck,
        text: 'Enter a host to get its grade and recommendations. Then add it to scan it every day.',
      }}
    />
  )
}

const locationText = ({ host, port, protocol }: TlsEndpointView): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}${protocol === 'tls' ? '' : ` (${protocol})`}`

const Change = ({ endpoint: { previous_grade: previous, grade_changed_at: at } }: { endpoint: TlsEndpointView }) =>
  previous && (
    <span className="text-muted">
      {previous}, changed <RelativeTime at={at} />
    </span>
  )

function Problems({ endpoint: { reasons, last_error: error, grade } }: { endpoint: TlsEndpointView }) {
  if (error !== null) return <Status status="failed" label="Last scan failed" />
  if (grade === null) return <span className="text-muted">Not scanned yet</span>
  const [first, ...more] = reasons
  if (!first) return <span className="text-muted">Nothing</span>
  return (
    <>
      {first.title}
      {more.length > 0 && <span className="text-muted"> and {pluralize(more.length, 'other', 'others')}</span>}
    </>
  )
}

const importList = () =>
  openForm<TlsEndpointImport>({
    title: 'Import list',
    wide: true,
    initial: { lines: '' },
    call: values => ({ method: 'POST', path: '/tls-endpoints/import', body: String(values.lines), contentType: 'text/plain' }),
    send: {
      toast: ({ created, existing }) => `${created} created, ${existing} existed already`,
      invalidates,
    },
    fields: (
      <TextareaField
        name="lines"
        label="Endpoints"
        mono
        rows={12}
        placeholder={'shop.example.com:443\nmail.example.com:25/smtp'}
        hint="One per line, as host:port or host:port/protocol. At most 1,000."
      />
    ),
  })
