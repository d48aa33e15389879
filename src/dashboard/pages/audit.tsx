import { FileClock } from 'lucide-react'
import { useState } from 'react'
import type { AuditEventView } from '../../features/audit/shapes'
import { resourceEntries } from '../../registry'
import { download } from '../client'
import { channelLabels } from '../parts/actor'
import { AuditSentence, mainTarget, useAuditCatalog } from '../parts/audit-sentence'
import { Button } from '../parts/button'
import { FilterPicker, type FilterPickerProps } from '../parts/filter-picker'
import { useUrlState } from '../parts/url-state'
import { Input } from '../parts/input'
import { ListPage, type Column } from '../parts/list'
import { Menu } from '../parts/menu'
import { ResourceLink } from '../parts/resource'
import { resourcePicker } from '../parts/resource-search'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { localInputToIso } from '../parts/timezone'

const columns: readonly Column<AuditEventView>[] = [
  {
    title: 'Event',
    render: one => (
      <span title={one.action}>
        <AuditSentence event={one} />
      </span>
    ),
  },
  {
    title: 'Resource',
    width: 'clamp(13rem, 22cqw, 36rem)',
    showFrom: 'lg',
    onPhone: 'hidden',
    render: one => {
      const target = mainTarget(one)
      return target && <ResourceLink {...target} />
    },
  },
  {
    title: 'Source',
    width: '10rem',
    showFrom: '2xl',
    onPhone: 'plain',
    render: one => one.context.ip ?? channelLabels[one.context.channel],
  },
  { title: 'Outcome', width: '8rem', onPhone: 'plain', render: one => <Status status={one.outcome} /> },
  { title: 'Time', width: '8.5rem', onPhone: 'plain', render: one => <RelativeTime at={one.occurred_at} /> },
]

const ResourcePicker = resourcePicker(() => true)

// What Bailiwick does itself would drown out the actions of people.
const people = 'user,token,operator,anonymous'
const actors = {
  [people]: 'People and tokens',
  all: 'All actors',
  user: 'Users',
  token: 'Tokens',
  operator: 'Operators',
  system: 'Bailiwick',
  ingest: 'Ping and acknowledge URLs',
  anonymous: 'Unauthenticated',
}
const outcomes = { success: 'Success', failure: 'Failure', denied: 'Denied' }
const range = { from: '', to: '' }

/** Lists the audit log. */
export default function Audit() {
  const [{ from, to }, set] = useUrlState(range)
  const [{ actor }, setActor] = useUrlState({ actor: people })
  const exportAs = (format: string) => ({
    label: `Export entire log as ${format.toUpperCase()}`,
    onSelect: () => download('/audit-events/export', { format }),
  })
  return (
    <ListPage
      label="Audit log"
      description="Every action in this workspace, including denied ones. “bailiwick audit verify” detects changed or removed entries."
      actions={<Menu label="Export" items={[exportAs('ndjson'), exportAs('csv')]} />}
      path="/audit-events"
      page="/audit/$id"
      columns={columns}
      counted
      params={range}
      query={({ action, outcome, actor, from = '', to = '', target }) => ({
        action,
        outcome,
        actor_type: actor === 'all' ? undefined : actor,
        target_id: target,
        'occurred_at[gte]': localInputToIso(from),
        'occurred_at[lt]': localInputToIso(to),
      })}
      filters={[
        { name: 'target', label: 'Resource', all: 'All resources', Picker: ResourcePicker },
        { name: 'action', label: 'Action', all: 'All actions', Picker: ActionPicker },
        { name: 'actor', label: 'Actor', initial: people, choices: actors },
        { name: 'outcome', label: 'Outcome', all: 'All outcomes', choices: outcomes },
      ]}
      controls={
        <>
          <Button onClick={() => setActor({ actor: actor === people ? 'all' : people })}>
            {actor === people ? 'Show actions by Bailiwick' : 'Hide actions by Bailiwick'}
          </Button>
          <Moment label="From" value={from} onChange={value => set({ from: value })} />
          <Moment label="To" value={to} onChange={value => set({ to: value })} />
        </>
      }
      empty={{ icon: FileClock, title: 'No matches' }}
    />
  )
}

/** Searches the actions by what they mean. All actions on a type of resource come first. */
function ActionPicker(props: FilterPickerProps) {
  const [text, setText] = useState('')
  const catalog = useAuditCatalog()
  const options = [
    ...resourceEntries.flatMap(({ audit, plural }) =>
      audit ? [{ key: `${audit.prefix}.*`, label: `All actions on ${plural}`, code: `${audit.prefix}.*` }] : [],
    ),
    ...[...(catalog?.values() ?? [])].map(one => ({
      key: one.action,
      // The first sentence is enough here; the rest is details.
      label: one.description.replace(/\. .*$/s, '.').replaceAll('`', ''),
      code: one.action,
    })),
  ]
  const words = text.toLowerCase().split(/\s+/)
  return (
    <FilterPicker
      {...props}
      shown={options.find(one => one.key === props.value)?.label ?? props.value}
      placeholder="Search by what happened, or by code"
      text={text}
      onText={setText}
      options={options.filter(one => words.every(word => `${one.label} ${one.code}`.toLowerCase().includes(word)))}
    />
  )
}

const Moment = ({ label, value, onChange }: { label: string; value: string; onChange(value: string): void }) => (
  <label className="flex items-center gap-1.5 text-muted">
    {label}
    <Input type="datetime-local" value={value} onText={onChange} className="h-9 text-ink" />
  </label>
)
