import { useNavigate } from '@tanstack/react-router'
import { Activity, FileDown, FileUp } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { MonitorTypeView } from '../../features/monitors/definition/shapes'
import type { MonitorSummaryView, MonitorView } from '../../features/monitors/shapes'
import { useUrlState } from '../parts/url-state'
import { Checkbox } from '../parts/input'
import { ListPage } from '../parts/list'
import { Menu } from '../parts/menu'
import { Skeleton } from '../parts/page'
import { useList, useOne } from '../queries'
import { usePerson } from '../session'
import { BulkActions } from './monitors/bulk-actions'
import { monitorColumns } from './monitors/columns'
import { exportAll } from './monitors/export'
import { FirstMonitor } from './monitors/first-monitor'
import { Grouped } from './monitors/grouped'
import { useRecent } from './monitors/recent'
import { StatusCounts } from './monitors/status-counts'

/** The list of monitors. */
export default function Monitors() {
  const { canWrite } = usePerson()
  const navigate = useNavigate()
  const [{ status, tag, group, by }, set] = useUrlState({ status: '', tag: '', group: '', by: '' })
  const summary = useOne<MonitorSummaryView>('/monitors/summary')
  const types = useOne<{ data: MonitorTypeView[] }>('/monitors/types')
  const groups = useList<MonitorView>('/monitors', { type: 'group', sort: 'name', fields: 'id,name' })
  const [visible, setVisible] = useState<readonly string[]>([])
  const recent = useRecent(visible)
  const columns = useMemo(() => monitorColumns(recent), [recent])
  // The available filters depend on these.
  if (summary.isPending || groups.isLoading) return <Skeleton />
  const titleOf = (type: string) => types.data?.data.find(one => one.type === type)?.title ?? type
  const typeChoices = Object.keys(summary.data?.types ?? {}).map(type => [type, titleOf(type)] as const)
  const tagChoices = (summary.data?.tags ?? []).map(one => [one.tag, `${one.tag} (${one.monitors})`] as const)
  const groupChoices = [['none', 'No group'] as const, ...groups.rows.map(one => [one.id, one.name] as const)]
  return (
    <ListPage
      label="Monitors"
      path="/monitors"
      page="/monitors/$id"
      create="/monitors/new"
      actions={
        <Menu
          label="More actions"
          items={[
            canWrite
              ? { label: 'Import monitors', icon: FileUp, onSelect: () => void navigate({ to: '/monitors/import' }) }
              : null,
            { label: 'Export all as YAML', icon: FileDown, onSelect: () => void exportAll('yaml') },
            { label: 'Export all as JSON', icon: FileDown, onSelect: () => void exportAll('json') },
          ]}
        />
      }
      above={<StatusCounts summary={summary.data} value={status} onChange={value => set({ status: value })} />}
      columns={columns}
      onVisibleRows={setVisible}
      sort="status"
      search
      counted
      params={{ status: '', tag: '', group: '' }}
      filters={[
        { name: 'type', label: 'Type', all: 'All types', choices: typeChoices },
        (tag !== '' || tagChoices.length > 0) && { name: 'tag', label: 'Tag', all: 'All tags', choices: tagChoices },
        by === '' &&
          (group !== '' || groups.rows.length > 0) && { name: 'group', label: 'Group', all: 'All groups', choices: groupChoices },
      ]}
      controls={
        groups.rows.length > 0 && (
          <Checkbox className="h-9" checked={by === 'group'} onCheck={isOn => set({ by: isOn ? 'group' : '', group: '' })}>
            Tree view
          </Checkbox>
        )
      }
      instead={by === 'group' ? query => <Grouped query={query} /> : undefined}
      bulk={canWrite ? (rows, clear) => <BulkActions selected={rows} onSuccess={clear} /> : undefined}
      empty={{
        icon: Activity,
        action: canWrite && <FirstMonitor />,
        text: 'A monitor regularly checks a website, port, DNS name, or certificate, and alerts you when a check fails.',
      }}
    />
  )
}
