import { Activity, FileDown, FileUp, Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { MonitorSummaryView, MonitorTypeView, MonitorView } from '../../../features/monitors/shapes'
import { useAddress } from '../../parts/address'
import { LinkButton } from '../../parts/button'
import { Empty } from '../../parts/empty'
import { Choice, Filters, SearchField } from '../../parts/filters'
import { Menu } from '../../parts/menu'
import { Page, Skeleton } from '../../parts/page'
import { Table } from '../../parts/table'
import { useList, useOne } from '../../queries'
import { usePerson } from '../../session'
import { useNavigate } from '@tanstack/react-router'
import { BulkBar } from './bulk-bar'
import { monitorColumns } from './columns'
import { exportAll } from './export'
import { FirstMonitor } from './first-monitor'
import { Grouped } from './grouped'
import { useRecent } from './recent'
import { StateCounts } from './state-counts'

const nothing = { q: '', status: '', type: '', tag: '', group: '', sort: 'name', by: '' }

const newMonitor = (
  <LinkButton to="/monitors/new" kind="main" data-new icon={<Plus className="size-4" aria-hidden />}>
    New monitor
  </LinkButton>
)

/** What is checked, and how it stands. */
export default function Monitors() {
  const { mayWrite } = usePerson()
  const navigate = useNavigate()
  const [{ q, status, type, tag, group, sort, by }, set] = useAddress(nothing)
  const summary = useOne<MonitorSummaryView>('/monitors/summary')
  const types = useOne<{ data: MonitorTypeView[] }>('/monitors/types')
  const groups = useList<MonitorView>('/monitors', { type: 'group', sort: 'name', fields: 'id,name' })
  const query = { q, status, type, tag, sort: sort.replace(/^(-?)status$/, '$1status,name') }
  const isFiltered = q + status + type + tag + group !== ''
  const typeWords = new Map(types.data?.data.map(one => [one.type as string, one.title]))
  // Which filters there are hangs on them.
  if (summary.isPending || groups.isLoading) return <Skeleton />
  return (
    <Page
      title="Monitors"
      actions={
        <>
          {mayWrite && newMonitor}
          <Menu
            label="More about monitors"
            items={[
              mayWrite
                ? {
                    label: 'Import',
                    icon: <FileUp className="size-4" aria-hidden />,
                    onSelect: () => void navigate({ to: '/monitors/import' }),
                  }
                : null,
              {
                label: 'Export as YAML',
                icon: <FileDown className="size-4" aria-hidden />,
                onSelect: () => void exportAll('yaml'),
              },
              {
                label: 'Export as JSON',
                icon: <FileDown className="size-4" aria-hidden />,
                onSelect: () => void exportAll('json'),
              },
            ]}
          />
        </>
      }
    >
      <StateCounts summary={summary.data} value={status} onChange={value => set({ status: value })} />
      <Filters>
        <SearchField label="Search monitors" value={q} onChange={text => set({ q: text })} />
        <Choice
          label="Type"
          value={type}
          onChange={value => set({ type: value })}
          choices={[
            ['', 'All types'],
            ...Object.keys(summary.data?.types ?? {}).map(word => [word, typeWords.get(word) ?? word] as const),
          ]}
        />
        {(tag !== '' || (summary.data?.tags.length ?? 0) > 0) && (
          <Choice
            label="Tag"
            value={tag}
            onChange={value => set({ tag: value })}
            choices={[
              ['', 'All tags'],
              ...(summary.data?.tags ?? []).map(one => [one.tag, `${one.tag} (${one.monitors})`] as const),
            ]}
          />
        )}
        {by === '' && (group !== '' || groups.rows.length > 0) && (
          <Choice
            label="Group"
            value={group}
            onChange={value => set({ group: value })}
            choices={[['', 'All groups'], ['none', 'In no group'], ...groups.rows.map(one => [one.id, one.name] as const)]}
          />
        )}
        {groups.rows.length > 0 && (
          <label className="inline-flex h-9 items-center gap-2">
            <input
              type="checkbox"
              checked={by === 'group'}
              onChange={event => set({ by: event.target.checked ? 'group' : '', group: '' })}
            />
            Grouped
          </label>
        )}
      </Filters>
      {by === 'group' ? (
        <Grouped query={query} />
      ) : (
        <Rows
          query={{ ...query, group }}
          sort={sort}
          onSort={value => set({ sort: value })}
          mayWrite={mayWrite}
          empty={
            isFiltered ? (
              <Empty icon={Activity} title="No monitor fits">
                Nothing has all that the filters ask for.
              </Empty>
            ) : (
              <Empty icon={Activity} title="Nothing is watched yet" action={mayWrite && <FirstMonitor />}>
                A monitor looks at a site, a port, a name or a certificate again and again, and tells when it fails.
              </Empty>
            )
          }
        />
      )}
    </Page>
  )
}

interface RowsProps {
  query: Record<string, string>
  sort: string
  onSort(sort: string): void
  mayWrite: boolean
  empty: React.ReactNode
}

function Rows({ query, sort, onSort, mayWrite, empty }: RowsProps) {
  const list = useList<MonitorView>('/monitors', { ...query, include: 'total' })
  const [ids, setIds] = useState<readonly string[]>([])
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const recent = useRecent(ids)
  const columns = useMemo(() => monitorColumns(recent), [recent])
  const rows = list.rows.filter(one => chosen.has(one.id))
  return (
    <>
      <Table
        label="Monitors"
        columns={columns}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/monitors/${one.id}`}
        sort={sort}
        onSort={onSort}
        onShown={setIds}
        {...(mayWrite && { chosen, onChosen: setChosen })}
        empty={empty}
        rowHeight={52}
      />
      {rows.length > 0 && <BulkBar chosen={rows} onDone={() => setChosen(new Set())} />}
    </>
  )
}
