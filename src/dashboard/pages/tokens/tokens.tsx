import { KeyRound, Plus } from 'lucide-react'
import type { TokenView } from '../../../access/shapes'
import { useAddress } from '../../parts/address'
import { LinkButton } from '../../parts/button'
import { Empty } from '../../parts/empty'
import { Choice, Filters, SearchField } from '../../parts/filters'
import { Page } from '../../parts/page'
import { Status, Tag } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { useList } from '../../queries'
import { usePerson } from '../../session'
import { stateOf, whatItMay } from './token-words'

const columns: readonly Column<TokenView>[] = [
  { name: 'name', title: 'Name', sort: 'name', render: one => <span className="font-medium">{one.name}</span> },
  { name: 'state', title: 'State', width: '9rem', render: one => <Status {...stateOf(one)} /> },
  { name: 'may', title: 'May', from: 'md', render: one => <Tag>{whatItMay(one)}</Tag> },
  {
    name: 'hint',
    title: 'Token',
    width: '11rem',
    from: 'lg',
    render: one => <code className="font-mono text-[13px]">{one.hint}</code>,
  },
  { name: 'used', title: 'Last used', width: '9rem', from: 'sm', render: one => <Ago at={one.last_used_at} /> },
  { name: 'ends', title: 'Ends', width: '9rem', from: 'sm', render: one => <Ago at={one.expires_at} /> },
]

const newToken = (
  <LinkButton to="/tokens/new" kind="main" data-new icon={<Plus className="size-4" aria-hidden />}>
    New token
  </LinkButton>
)

/** The keys by which scripts and programs call the API. */
export default function Tokens() {
  const { mayAdminister } = usePerson()
  const [{ sort, mode, q }, set] = useAddress({ sort: '-id', mode: '', q: '' })
  const list = useList<TokenView>('/tokens', { sort, mode, q, include: 'total' })
  return (
    <Page
      title="Tokens"
      lead="With a token, scripts and programs call the API in this workspace’s name."
      actions={mayAdminister && newToken}
    >
      <Filters>
        <SearchField label="Search tokens" value={q} onChange={text => set({ q: text })} />
        <Choice
          label="Mode"
          value={mode}
          onChange={value => set({ mode: value })}
          choices={[
            ['', 'All modes'],
            ['full', 'Full'],
            ['read_only', 'Read only'],
            ['scoped', 'Scoped'],
          ]}
        />
      </Filters>
      <Table
        label="Tokens"
        columns={columns}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/tokens/${one.id}`}
        sort={sort}
        onSort={value => set({ sort: value })}
        empty={
          <Empty icon={KeyRound} title="No tokens" action={mayAdminister && newToken}>
            A token lets a script do what you allow it, until you revoke it.
          </Empty>
        }
      />
    </Page>
  )
}
