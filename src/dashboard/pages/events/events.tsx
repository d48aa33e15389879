import { Radio } from 'lucide-react'
import { useState } from 'react'
import type { EventView } from '../../../features/events/shapes'
import type { Page as Listing } from '../../client'
import { useAddress } from '../../parts/address'
import { Dialog } from '../../parts/dialog'
import { Empty } from '../../parts/empty'
import { Choice, Filters, SearchField } from '../../parts/filters'
import { Json } from '../../parts/json'
import { Facts, Page } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { Table, type Column } from '../../parts/table'
import { Ago, wholeTime } from '../../parts/time'
import { useList, useOne } from '../../queries'

/** What happened in the workspace, as webhooks tell it. */
export default function Events() {
  const [{ kind, resource }, set] = useAddress({ kind: '', resource: '' })
  const [shown, setShown] = useState<EventView | null>(null)
  const kinds = useOne<Listing<{ kind: string }>>('/event-kinds')
  const list = useList<EventView>('/events', { kind, resource_id: resource })
  const columns: readonly Column<EventView>[] = [
    {
      name: 'kind',
      title: 'Kind',
      render: one => (
        <button type="button" className="font-medium text-accent hover:underline" onClick={() => setShown(one)}>
          {one.kind}
        </button>
      ),
    },
    { name: 'about', title: 'About', from: 'sm', render: one => <ResourceLink {...one.resource} /> },
    { name: 'sequence', title: 'Sequence', width: '7rem', from: 'md', right: true, render: one => one.sequence },
    { name: 'at', title: 'When', width: '9rem', render: one => <Ago at={one.occurred_at} /> },
  ]
  return (
    <Page title="Events" lead="What happened, newest first. Webhook endpoints are told of the kinds they chose.">
      <Filters>
        <SearchField label="Id of what it is about" value={resource} onChange={value => set({ resource: value.trim() })} />
        <Choice
          label="Kind"
          value={kind}
          onChange={value => set({ kind: value })}
          choices={[['', 'All kinds'], ...(kinds.data?.data ?? []).map(one => [one.kind, one.kind] as const)]}
        />
      </Filters>
      <Table
        label="Events"
        columns={columns}
        list={list}
        idOf={one => one.id}
        empty={
          <Empty icon={Radio} title="No events">
            Each change of a status, record, endpoint or token that concerns others is an event.
          </Empty>
        }
      />
      <Dialog open={shown !== null} onClose={() => setShown(null)} title={shown?.kind ?? ''} wide>
        {shown && (
          <div className="flex flex-col gap-4">
            <Facts
              rows={[
                ['When', wholeTime(shown.occurred_at)],
                ['About', <ResourceLink {...shown.resource} />],
                ['Event', <code className="font-mono text-[13px]">{shown.id}</code>],
                ['Message', <code className="font-mono text-[13px]">{shown.message_id}</code>],
              ]}
            />
            <Json label="data" value={shown.data} />
          </div>
        )}
      </Dialog>
    </Page>
  )
}
