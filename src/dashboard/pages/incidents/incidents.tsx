import { Plus, Siren } from 'lucide-react'
import { useMemo, useState } from 'react'
import { systemClock } from '../../../core/clock'
import type { MemberView } from '../../../access/member-shapes'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { Page as Listing } from '../../client'
import { useAddress } from '../../parts/address'
import { Button } from '../../parts/button'
import { Dialog } from '../../parts/dialog'
import { Empty } from '../../parts/empty'
import { Choice, Filters, SearchField } from '../../parts/filters'
import { Page } from '../../parts/page'
import { severityChoices, severityMood } from '../../parts/severity'
import { Status, StatusIcon } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago, Since, span } from '../../parts/time'
import { useList, useOne, useSend } from '../../queries'
import { usePerson } from '../../session'
import { kindWords } from './incident-words'
import { NewIncident } from './new-incident'

const columns: readonly Column<IncidentView>[] = [
  {
    name: 'title',
    title: 'Incident',
    render: one => (
      <span className="flex items-center gap-2">
        <StatusIcon state={one.severity} mood={severityMood[one.severity]} className="size-4" />
        <span className="sr-only">{one.severity}</span>
        <span className="min-w-0">
          <span className="block truncate font-medium" title={one.title}>
            {one.title}
          </span>
          <span className="block text-[13px] text-muted sm:hidden">{one.status}</span>
        </span>
      </span>
    ),
  },
  { name: 'status', title: 'Status', width: '12rem', from: 'sm', render: one => <Status state={one.status} /> },
  { name: 'cause', title: 'Cause', from: 'lg', render: one => <span className="text-muted">{one.cause}</span> },
  { name: 'began', title: 'Began', width: '10rem', from: 'sm', sort: 'started_at', render: one => <Ago at={one.started_at} /> },
  {
    name: 'lasted',
    title: 'Lasted',
    width: '8rem',
    from: 'sm',
    right: true,
    render: one => (one.resolved_at ? span(one.duration_seconds * 1000) : <Since at={one.started_at} />),
  },
]

/** What went wrong, and what became of it. */
export default function Incidents() {
  const { mayWrite, seesAccount } = usePerson()
  const [{ status, severity, kind, assignee, days, q, tag, sort }, set] = useAddress({
    status: 'open,acknowledged',
    severity: '',
    kind: '',
    assignee: '',
    days: '',
    q: '',
    tag: '',
    sort: '-started_at',
  })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [isNew, setNew] = useState(false)
  const members = useOne<Listing<MemberView>>(seesAccount ? '/members' : null, { limit: 100 })
  // To the day: the list is not another one at each look.
  const from = useMemo(() => (days === '' ? null : daysAgo(Number(days))), [days])
  const list = useList<IncidentView>('/incidents', {
    status: status === 'all' ? null : status,
    severity,
    kind,
    assignee_id: assignee,
    from,
    q,
    tag,
    sort,
    include: 'total',
  })
  const bulk = useSend({
    done: 'Done',
    stale: ['/incidents', '/overview'],
    onDone: () => setChosen(new Set()),
  })
  const all = (op: string) => () =>
    bulk.mutate({
      method: 'POST',
      path: '/incidents/bulk',
      query: { mode: 'partial' },
      body: { operations: [...chosen].map(id => ({ op, id, body: {} })) },
    })
  const newButton = mayWrite && (
    <Button kind="main" data-new icon={<Plus className="size-4" aria-hidden />} onClick={() => setNew(true)}>
      New incident
    </Button>
  )
  return (
    <Page title="Incidents" lead="What went wrong, and what became of it." actions={newButton}>
      <Filters>
        <SearchField label="Search incidents" value={q} onChange={text => set({ q: text })} />
        <Choice
          label="Status"
          value={status}
          onChange={value => set({ status: value })}
          choices={[
            ['open,acknowledged', 'Unresolved'],
            ['open', 'Open'],
            ['acknowledged', 'Acknowledged'],
            ['resolved', 'Resolved'],
            ['all', 'All'],
          ]}
        />
        <Choice
          label="Severity"
          value={severity}
          onChange={value => set({ severity: value })}
          choices={[['', 'All severities'], ...severityChoices]}
        />
        <Choice
          label="Kind"
          value={kind}
          onChange={value => set({ kind: value })}
          choices={[['', 'All kinds'], ...Object.entries(kindWords)]}
        />
        {members.data && (
          <Choice
            label="Seen to by"
            value={assignee}
            onChange={value => set({ assignee: value })}
            choices={[['', 'Seen to by anybody'], ...members.data.data.map(one => [one.id, one.name] as const)]}
          />
        )}
        <Choice
          label="Time"
          value={days}
          onChange={value => set({ days: value })}
          choices={[
            ['', 'Any time'],
            ['1', 'Last day'],
            ['7', 'Last 7 days'],
            ['30', 'Last 30 days'],
          ]}
        />
        {tag && (
          <Button small onClick={() => set({ tag: '' })}>
            Tag {tag} ×
          </Button>
        )}
        {chosen.size > 0 && (
          <>
            <span className="text-muted">{chosen.size} chosen</span>
            <Button small disabled={bulk.isPending} onClick={all('acknowledge')}>
              Acknowledge
            </Button>
            <Button small disabled={bulk.isPending} onClick={all('resolve')}>
              Resolve
            </Button>
          </>
        )}
      </Filters>
      <Table
        label="Incidents"
        rowHeight={52}
        columns={columns}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/incidents/${one.id}`}
        sort={sort}
        onSort={value => set({ sort: value })}
        {...(mayWrite && { chosen, onChosen: setChosen })}
        empty={
          <Empty icon={Siren} title={status === 'all' ? 'No incidents' : 'Nothing is wrong'}>
            Monitors and heartbeats open an incident when they fail, and resolve it when they are well again.
          </Empty>
        }
      />
      <Dialog open={isNew} onClose={() => setNew(false)} title="New incident">
        <NewIncident onClose={() => setNew(false)} />
      </Dialog>
    </Page>
  )
}

const dayMs = 86_400_000
const daysAgo = (count: number): string => new Date(systemClock.now() - count * dayMs).toISOString()
