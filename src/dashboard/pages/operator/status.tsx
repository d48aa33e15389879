import { Link } from '@tanstack/react-router'
import { CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import type { InstallationProblemView, InstallationView } from '../../../features/installation/shapes'
import { formatBytes } from '../../parts/bytes'
import { Code, CopyableText, Mono } from '../../parts/code'
import { Card, Facts, Skeleton } from '../../parts/page'
import { pluralize } from '../../parts/plural'
import { Problem } from '../../parts/problem'
import { SeverityIcon } from '../../parts/severity'
import { capitalize, Status, Tag } from '../../parts/status'
import { staticList, Table, type Column } from '../../parts/table'
import { ElapsedTime, RelativeTime } from '../../parts/time'
import { withLocalTimes } from '../../parts/timezone'
import { useOne } from '../../queries'
import { usePerson } from '../../session'

const refetchMs = 15_000

/** The state of the installation: problems first, with what to do. */
export function InstallationStatus() {
  const { data, error, refetch } = useOne<InstallationView>('/installation', {}, { refetchMs })
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton />
  return (
    <div className="flex flex-col gap-4">
      <Problems problems={data.problems} />
      <Hubs hubs={data.hubs} />
      <div className="grid gap-4 md:grid-cols-2 lg:grid-cols-3">
        <Backups backup={data.backup} />
        <Keys keys={data.keys} />
        <Card
          title="Database"
          facts={[
            ['Engine', `${engines[data.database.engine]} ${data.database.version}`],
            ['Size', formatBytes(data.database.size_bytes)],
            ['Write-ahead log', data.database.log_bytes !== null && formatBytes(data.database.log_bytes)],
          ]}
        />
        <Disk disk={data.disk} />
        <Jobs jobs={data.jobs} />
        <Mail mail={data.mail} />
        <Card title="Version">
          <Facts
            rows={[
              ['Bailiwick', data.build.version],
              ['Runtime', data.build.runtime],
              ['Installed', <RelativeTime at={data.created_at} />],
            ]}
          />
          <Note>
            Bailiwick doesn’t check for updates. See the <Help to="/docs/changelog">changelog</Help>.
          </Note>
        </Card>
        <Endpoints hasToken={data.metrics_token_configured} />
      </div>
    </div>
  )
}

const engines = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

const subjects: Record<InstallationProblemView['subject'], string> = {
  health: 'Health check',
  disk: 'Disk',
  backup: 'Backups',
  jobs: 'Background jobs',
  mail: 'Email',
  keys: 'Master key',
  hubs: 'Hubs',
  certificate: 'Certificate',
}

function Problems({ problems }: { problems: readonly InstallationProblemView[] }) {
  const { canReadAccount } = usePerson()
  const notices = useOne<{ pagination: { total?: number } }>(canReadAccount ? '/notices' : null, {
    read: false,
    limit: 1,
    include: 'total',
  })
  const unread = notices.data?.pagination.total ?? 0
  return (
    <Card
      title="Problems"
      flush
      actions={
        unread > 0 && (
          <Link to="/notices" className="text-[13px] text-accent hover:underline">
            {pluralize(unread, 'unread notice', 'unread notices')}
          </Link>
        )
      }
    >
      {problems.length === 0 ? (
        <p className="flex items-center gap-2 p-4 text-muted">
          <CircleCheck className="size-4 text-ok" aria-hidden />
          No problems found.
        </p>
      ) : (
        <ul className="divide-y divide-line">
          {problems.map(({ subject, severity, text, help }) => (
            <li key={`${subject} ${text}`} className="flex items-start gap-3 px-4 py-2.5">
              <SeverityIcon severity={severity} className="mt-0.5" />
              <div className="min-w-0 grow">
                <p className="font-medium">{subjects[subject]}</p>
                <p className="wrap-anywhere text-muted">
                  {withLocalTimes(text)} <Help to={help}>Learn more</Help>
                </p>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

type HubRow = InstallationView['hubs'][number]

const hubColumns: readonly Column<HubRow>[] = [
  {
    title: 'Hub',
    render: one => (
      <>
        <span className="font-medium">{one.host}</span> {one.current && <Tag>this hub</Tag>}
      </>
    ),
  },
  {
    title: 'Status',
    width: '8rem',
    render: one => <Status status={one.running ? 'running' : 'stopped'} tone={one.running ? 'ok' : 'idle'} />,
  },
  { title: 'Version', width: '7rem', render: one => one.version },
  {
    title: 'Uptime',
    width: '8rem',
    render: one => (one.running ? <ElapsedTime at={one.started_at} /> : '–'),
  },
  { title: 'Last seen', width: '9rem', showFrom: 'md', render: one => <RelativeTime at={one.last_seen_at} /> },
  { title: 'ID', width: '15rem', showFrom: 'lg', render: one => <CopyableText text={one.id} label="ID" /> },
]

const Hubs = ({ hubs }: { hubs: readonly HubRow[] }) => (
  <section aria-label="Hubs">
    <Table label="Hubs" columns={hubColumns} list={staticList(hubs)} idOf={one => one.id} empty={null} />
  </section>
)

const Backups = ({ backup }: { backup: InstallationView['backup'] }) => (
  <Card title="Backups">
    <Facts
      rows={[
        ['Last backup', <RelativeTime at={backup.last_at} />],
        ['Type', backup.form && capitalize(backup.form)],
        ['Size', backup.size_bytes !== null && formatBytes(backup.size_bytes)],
        ['Check results', backup.last_at !== null && (backup.with_series ? 'Included' : 'Not included')],
      ]}
    />
    <Note>
      Created with <Mono>bailiwick backup</Mono>. <Help to="/docs/backups">Back up every night</Help>
    </Note>
  </Card>
)

const Keys = ({ keys }: { keys: InstallationView['keys'] }) => (
  <Card title="Master key">
    <Facts
      rows={[
        ['Fingerprint', <CopyableText text={keys.required_key_id} label="fingerprint" />],
        [
          'Key of this hub',
          keys.master_key_id !== keys.required_key_id && <CopyableText text={keys.master_key_id} label="fingerprint" />,
        ],
        ['Rotation', keys.rotating ? 'In progress' : 'Not in progress'],
      ]}
    />
    <Note>
      Backups don’t contain the key, and can’t be restored without it. Keep a copy of the key file in a safe place; Bailiwick
      can’t show whether you have one. <Help to="/docs/keys">Keys</Help>
    </Note>
  </Card>
)

function Disk({ disk: { folder, free_bytes: free, total_bytes: total } }: { disk: InstallationView['disk'] }) {
  const used = total === 0 ? 0 : Math.round((100 * (total - free)) / total)
  return (
    <Card title="Disk">
      <Facts
        rows={[
          ['Data folder', <Mono>{folder}</Mono>],
          ['Free', `${formatBytes(free)} of ${formatBytes(total)}`],
        ]}
      />
      <div
        role="meter"
        aria-label="Used disk space"
        aria-valuenow={used}
        aria-valuemin={0}
        aria-valuemax={100}
        className="mt-3 h-2 overflow-clip rounded-full bg-hover"
      >
        <div className={`h-full ${used < 90 ? 'bg-ok-mark' : 'bg-warn-mark'}`} style={{ width: `${used}%` }} />
      </div>
    </Card>
  )
}

const Jobs = ({ jobs }: { jobs: InstallationView['jobs'] }) => (
  <Card title="Background jobs">
    <Facts
      rows={[
        ['Due', jobs.due.toLocaleString()],
        ['Oldest due', jobs.oldest_due_at && <RelativeTime at={jobs.oldest_due_at} />],
        ['Running', jobs.running.toLocaleString()],
        ['Waiting', jobs.waiting.toLocaleString()],
        ['Failed', jobs.failed.reduce((sum, one) => sum + one.count, 0).toLocaleString()],
        ...jobs.failed.map(({ kind, count, last_error }) => [kind, `${count.toLocaleString()}: ${last_error}`] as const),
      ]}
    />
  </Card>
)

const Mail = ({ mail }: { mail: InstallationView['mail'] }) => (
  <Card title="Email">
    <Facts
      rows={[
        ['Status', mail.configured ? 'Configured' : 'Not configured'],
        ['Server', mail.server],
        ['Sender', mail.from],
        ['Last email', mail.configured && <RelativeTime at={mail.last_attempt_at} />],
        ['Result', mail.last_attempt_at !== null && (mail.last_error ?? 'Sent')],
      ]}
    />
    <Note>
      Used for invitations and password resets. <Help to="/docs/settings#bailiwick_smtp_url">Mail server settings</Help>
    </Note>
  </Card>
)

/** Links for health checks and metrics, and how to scrape the metrics. */
function Endpoints({ hasToken }: { hasToken: boolean }) {
  return (
    <Card title="Health checks and metrics" className="md:col-span-2">
      <div className="grid gap-4 xl:grid-cols-2">
        <div>
          <ul className="flex flex-col gap-1.5">
            <li>
              <Help to="/healthz">/healthz</Help> shows whether the process is running.
            </li>
            <li>
              <Help to="/readyz">/readyz</Help> shows whether the hub is ready to serve requests.
            </li>
            <li>
              <Help to="/metrics">/metrics</Help> returns metrics in Prometheus format.
            </li>
          </ul>
          <Note>
            {hasToken
              ? 'Metrics can be read from the same machine, and from elsewhere with the token in BAILIWICK_METRICS_TOKEN.'
              : 'Metrics can only be read from the same machine. To read them from elsewhere, set BAILIWICK_METRICS_TOKEN to a random value and restart the hub.'}{' '}
            <Help to="/docs/api#health-and-metrics">Health and metrics</Help>
          </Note>
          <Note>
            Handbook: <Help to="/docs/settings">settings</Help>, <Help to="/docs/commands">commands</Help>,{' '}
            <Help to="/docs/storage">storage</Help>, <Help to="/docs/performance">performance</Help>
          </Note>
        </div>
        <Code label="prometheus.yml" text={scrapeConfig()} />
      </div>
    </Card>
  )
}

const scrapeConfig = () => `scrape_configs:
  - job_name: bailiwick
    scheme: ${location.protocol.replace(':', '')}
    authorization:
      credentials: <value of BAILIWICK_METRICS_TOKEN>
    static_configs:
      - targets: ['${location.hostname}:${location.port || (location.protocol === 'https:' ? 443 : 80)}']`

const Note = ({ children }: { children: ReactNode }) => <p className="mt-3 text-[13px] text-muted">{children}</p>

/** A link to a page outside the dashboard. */
const Help = ({ to, children }: { to: string; children: ReactNode }) => (
  <a href={to} className="text-accent underline">
    {children}
  </a>
)
