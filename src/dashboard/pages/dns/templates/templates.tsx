import { LayoutTemplate, Plus } from 'lucide-react'
import type { TemplateView } from '../../../../features/dns/templates/shapes'
import { useAddress } from '../../../parts/address'
import { LinkButton } from '../../../parts/button'
import { Empty } from '../../../parts/empty'
import { Choice, Filters, SearchField } from '../../../parts/filters'
import { Tag } from '../../../parts/status'
import { Table, type Column } from '../../../parts/table'
import { Ago } from '../../../parts/time'
import { useList } from '../../../queries'
import { usePerson } from '../../../session'
import { DnsFrame } from '../dns-frame'

const newTemplate = (
  <LinkButton to="/dns/templates/new" kind="main" data-new icon={<Plus className="size-4" aria-hidden />}>
    New template
  </LinkButton>
)

const columns: readonly Column<TemplateView>[] = [
  { name: 'name', title: 'Template', sort: 'name', render: one => <span className="font-medium">{one.name}</span> },
  { name: 'origin', title: 'From', width: '8rem', render: one => <Tag>{one.builtin ? 'program' : 'workspace'}</Tag> },
  { name: 'for', title: 'What for', from: 'md', render: one => <span title={one.description}>{one.description}</span> },
  { name: 'records', title: 'Records', width: '6rem', right: true, from: 'sm', render: one => one.records.length },
  { name: 'variables', title: 'Variables', width: '7rem', right: true, from: 'lg', render: one => one.variables.length },
  {
    name: 'updated',
    title: 'Edited',
    width: '9rem',
    sort: 'updated_at',
    from: 'lg',
    render: one => (one.builtin ? <span className="text-muted">–</span> : <Ago at={one.updated_at} />),
  },
]

/** Sets of records with variables, which are put into many zones. */
export default function Templates() {
  const { mayWrite } = usePerson()
  const [{ sort, q, origin }, set] = useAddress({ sort: 'name', q: '', origin: '' })
  const list = useList<TemplateView>('/dns/templates', { sort, q, origin })
  return (
    <DnsFrame lead="Sets of records with variables, put into many zones and kept alike." actions={mayWrite && newTemplate}>
      <Filters>
        <SearchField label="Search templates" value={q} onChange={text => set({ q: text })} />
        <Choice
          label="From"
          value={origin}
          onChange={value => set({ origin: value })}
          choices={[
            ['', 'All'],
            ['own', 'Of the workspace'],
            ['builtin', 'Of the program'],
          ]}
        />
      </Filters>
      <Table
        label="Templates"
        columns={columns}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/dns/templates/${one.id}`}
        sort={sort}
        onSort={value => set({ sort: value })}
        empty={
          <Empty icon={LayoutTemplate} title="No templates" action={mayWrite && newTemplate}>
            Write records once, with variables for what differs, and put them into as many zones as you like.
          </Empty>
        }
      />
    </DnsFrame>
  )
}
