import { FileClock } from 'lucide-react'
import type { AuditActionView, AuditEventView } from '../../../features/audit/shapes'
import { addressOf, type Page as Listing } from '../../client'
import { useAddress } from '../../parts/address'
import { Empty } from '../../parts/empty'
import { Choice, Filters, SearchField } from '../../parts/filters'
import { Menu } from '../../parts/menu'
import { Page } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { Status } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { useList, useOne } from '../../queries'
import { isoOf } from '../../parts/timezone'

const columns: readonly Column<AuditEventView>[] = [
  { name: 'action', title: 'What', render: one => <code className="font-mono text-[13px]">{one.action}</code> },
  { name: 'actor', title: 'Who', width: '11rem', from: 'sm', render: one => one.actor.name ?? one.actor.type },
  {
    name: 'target',
    title: 'To what',
    from: 'md',
    render: one => one.targets[0] && <ResourceLink {...one.targets[0]} />,
  },
  { name: 'from', title: 'From', width: '10rem', from: 'lg', render: one => one.context.ip ?? one.context.channel },
  { name: 'outcome', title: 'Outcome', width: '8rem', from: 'sm', render: one => <Status state={one.outcome} /> },
  { name: 'at', title: 'When', width: '8.5rem', render: one => <Ago at={one.occurred_at} /> },
]

/** Who did what, when and from where: every change, and every one that was refused. */
export default function Audit() {
  const [{ action, outcome, actor, from, to, target }, set] = useAddress({
    action: '',
    outcome: '',
    actor: '',
    from: '',
    to: '',
    target: '',
  })
  const catalog = useOne<Listing<AuditActionView>>('/audit-events/catalog', { fields: 'action' })
  const list = useList<AuditEventView>('/audit-events', {
    action,
    outcome,
    actor_type: actor,
    target_id: target,
    'occurred_at[gte]': isoOf(from),
    'occurred_at[lt]': isoOf(to),
    include: 'total',
  })
  // Whole areas first, then each action.
  const actions = (catalog.data?.data ?? []).map(one => one.action)
  const areas = [...new Set(actions.map(one => `${one.slice(0, one.lastIndexOf('.'))}.*`))].sort()
  const download = (format: string) => ({
    label: `All of it as ${format.toUpperCase()}`,
    onSelect: () => location.assign(addressOf({ path: '/audit-events/export', query: { format } })),
  })
  return (
    <Page
      title="Audit log"
      lead="Each entry is chained to the one before it: bailiwick audit verify proves that none was changed or left out."
      actions={<Menu label="Export the log" items={[download('ndjson'), download('csv')]} />}
    >
      <Filters>
        <Choice
          label="Action"
          value={action}
          onChange={value => set({ action: value })}
          choices={[['', 'All actions'], ...[...areas, ...actions].map(one => [one, one] as const)]}
        />
        <Choice
          label="Who"
          value={actor}
          onChange={value => set({ actor: value })}
          choices={[
            ['', 'Everybody'],
            ['user', 'People'],
            ['token', 'Tokens'],
            ['operator', 'Operators'],
            ['system', 'The hub itself'],
            ['ingest', 'Ingest'],
            ['anonymous', 'Strangers'],
          ]}
        />
        <Choice
          label="Outcome"
          value={outcome}
          onChange={value => set({ outcome: value })}
          choices={[
            ['', 'All outcomes'],
            ['success', 'Done'],
            ['failure', 'Failed'],
            ['denied', 'Refused'],
          ]}
        />
        <Moment label="From" value={from} onChange={value => set({ from: value })} />
        <Moment label="Until" value={to} onChange={value => set({ to: value })} />
        <SearchField label="Id of what it was done to" value={target} onChange={value => set({ target: value.trim() })} />
      </Filters>
      <Table
        label="Audit log"
        columns={columns}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/audit/${one.id}`}
        empty={<Empty icon={FileClock} title="No entries like that" />}
      />
    </Page>
  )
}

function Moment({ label, value, onChange }: { label: string; value: string; onChange(value: string): void }) {
  return (
    <label className="flex items-center gap-1.5 text-muted">
      {label}
      <input
        type="datetime-local"
        value={value}
        onChange={event => onChange(event.target.value)}
        className="h-9 rounded-md border border-strong-line bg-surface px-2 text-ink"
      />
    </label>
  )
}
