import { Mail } from 'lucide-react'
import { useState } from 'react'
import type { NotificationView } from '../../../features/notifications/notification-shapes'
import { useAddress } from '../../parts/address'
import { Dialog } from '../../parts/dialog'
import { Empty } from '../../parts/empty'
import { Choice } from '../../parts/filters'
import { Facts } from '../../parts/page'
import { addressOfResource, ResourceLink } from '../../parts/resource'
import { Status, wordsOf } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { useList } from '../../queries'

// Deliveries are told by no stream.
const lookEveryMs = 10_000

/** What was told on a channel, newest first, and what became of it. */
export function ChannelLog({ id }: { id: string }) {
  const [{ log }, set] = useAddress({ log: '' })
  const list = useList<NotificationView>(`/notification-channels/${id}/notifications`, { status: log }, { everyMs: lookEveryMs })
  const [shown, setShown] = useState<NotificationView | null>(null)
  const columns: readonly Column<NotificationView>[] = [
    {
      name: 'title',
      title: 'Message',
      render: one => (
        <button type="button" className="max-w-full truncate text-left text-accent hover:underline" onClick={() => setShown(one)}>
          {one.title}
        </button>
      ),
    },
    { name: 'status', title: 'Became', width: '8rem', render: one => <Status state={one.status} /> },
    { name: 'tries', title: 'Tries', width: '4rem', right: true, from: 'sm', render: one => one.attempt_count },
    {
      name: 'why',
      title: 'Why',
      from: 'md',
      render: one => <span className="text-muted">{one.last_error?.detail ?? wordsOf(one.reason ?? '')}</span>,
    },
    { name: 'at', title: 'When', width: '9rem', from: 'sm', render: one => <Ago at={one.sent_at ?? one.created_at} /> },
  ]
  return (
    <section aria-label="Messages">
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <h2 className="grow font-semibold">Messages</h2>
        <Choice
          label="What became of them"
          value={log}
          onChange={value => set({ log: value })}
          choices={[
            ['', 'All messages'],
            ['failed', 'Failed'],
            ['waiting,held', 'Waiting or held'],
            ['sent', 'Sent'],
          ]}
        />
      </div>
      <Table
        label="Messages"
        columns={columns}
        list={list}
        idOf={one => one.id}
        rowHeight={40}
        empty={
          <Empty icon={Mail} title={log === '' ? 'No message yet' : 'None of these'}>
            {log === '' && 'Send a test to see whether it comes through.'}
          </Empty>
        }
      />
      <Dialog open={shown !== null} onClose={() => setShown(null)} title={shown?.title ?? ''} wide>
        {shown && <Message message={shown} />}
      </Dialog>
    </section>
  )
}

const Message = ({ message }: { message: NotificationView }) => (
  <div className="flex flex-col gap-4">
    {message.text !== '' && <p className="whitespace-pre-wrap">{message.text}</p>}
    <Facts rows={message.facts.map(one => [one.name, one.value] as const)} />
    <Facts
      rows={[
        ['Became', <Status state={message.status} />],
        ['Why', message.reason === null ? null : wordsOf(message.reason)],
        ['Tries', message.attempt_count],
        ['Failure', message.last_error?.detail],
        ['Said', message.said],
        ['About', message.resource && <ResourceLink {...message.resource} />],
        [
          'Matter',
          addressOfResource(message.thread) === null || message.thread === message.resource?.id ? null : (
            <ResourceLink id={message.thread} type="incident" />
          ),
        ],
        ['Told', <Ago at={message.created_at} />],
        ['Sent', message.sent_at === null ? null : <Ago at={message.sent_at} />],
        ['Due', message.due_at === null ? null : <Ago at={message.due_at} />],
      ]}
    />
  </div>
)
