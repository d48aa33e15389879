import { Megaphone, Plus } from 'lucide-react'
import { useMemo } from 'react'
import type { NotificationChannelKindView, NotificationChannelView } from '../../../features/notifications/shapes'
import { useAddress } from '../../parts/address'
import { LinkButton } from '../../parts/button'
import { Empty } from '../../parts/empty'
import { Choice, Filters, SearchField } from '../../parts/filters'
import { Page } from '../../parts/page'
import { Table, type Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { useList, useOne } from '../../queries'
import { usePerson } from '../../session'
import { ChannelState } from './channel-state'

const newChannel = (
  <LinkButton to="/channels/new" kind="main" data-new icon={<Plus className="size-4" aria-hidden />}>
    New channel
  </LinkButton>
)

/** The ways by which people are told. */
export default function Channels() {
  const { mayWrite } = usePerson()
  const [{ kind, q, sort }, set] = useAddress({ kind: '', q: '', sort: 'name' })
  const kinds = useOne<{ data: NotificationChannelKindView[] }>('/notification-channels/kinds')
  const titles = useMemo(() => new Map(kinds.data?.data.map(one => [one.kind as string, one.title])), [kinds.data])
  const list = useList<NotificationChannelView>('/notification-channels', { kind, q, sort, include: 'total' })
  const columns: readonly Column<NotificationChannelView>[] = [
    { name: 'name', title: 'Name', sort: 'name', render: one => <span className="font-medium">{one.name}</span> },
    { name: 'kind', title: 'Kind', width: '7rem', from: 'sm', render: one => titles.get(one.kind) ?? one.kind },
    { name: 'state', title: 'State', width: '10.5rem', render: one => <ChannelState channel={one} /> },
    {
      name: 'takes',
      title: 'Takes',
      from: 'md',
      render: one => <span className="text-muted">{takes(one)}</span>,
    },
    { name: 'last', title: 'Last message', width: '9rem', from: 'sm', render: one => <Ago at={one.last_sent_at} /> },
    {
      name: 'error',
      title: 'Last failure',
      from: 'lg',
      render: one => <span className="text-muted">{one.disabled_reason ?? one.last_error?.detail ?? ''}</span>,
    },
  ]
  return (
    <Page
      title="Channels"
      lead="How people are told: mail, chats, phones. Programs are better served by webhooks."
      actions={mayWrite && newChannel}
    >
      <Filters>
        <SearchField label="Search channels" value={q} onChange={text => set({ q: text })} />
        <Choice
          label="Kind"
          value={kind}
          onChange={value => set({ kind: value })}
          choices={[['', 'All kinds'], ...[...titles].map(([value, title]) => [value, title] as const)]}
        />
      </Filters>
      <Table
        label="Channels"
        columns={columns}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/channels/${one.id}`}
        sort={sort}
        onSort={value => set({ sort: value })}
        empty={
          q !== '' || kind !== '' ? (
            <Empty icon={Megaphone} title="None of these" />
          ) : (
            <Empty
              icon={Megaphone}
              title="Nobody is told yet"
              action={mayWrite && <div className="flex justify-center">{newChannel}</div>}
            >
              With a channel, somebody hears of it when something fails, and when it is well again.
            </Empty>
          )
        }
      />
    </Page>
  )
}

/** What a channel takes, in a few words. */
function takes({ for_everything: everything, topics, tags, min_severity: least }: NotificationChannelView): string {
  if (!everything) return 'what names it'
  const about = topics.length === 0 ? 'nothing by itself' : topics.length > 2 ? `${topics.length} topics` : topics.join(', ')
  const grave = least === 'info' ? '' : `, ${least}${least === 'warning' ? ' and worse' : ''}`
  return `${about}${grave}${tags.length > 0 ? `, tagged ${tags.join(' or ')}` : ''}`
}
