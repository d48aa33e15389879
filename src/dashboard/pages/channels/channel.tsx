import { useNavigate, useParams } from '@tanstack/react-router'
import { CirclePause, CirclePlay, Pencil, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { NotificationView } from '../../../features/notifications/notification-shapes'
import type { NotificationChannelKindView, NotificationChannelView } from '../../../features/notifications/shapes'
import { Button, LinkButton } from '../../parts/button'
import { Confirm } from '../../parts/dialog'
import { Menu } from '../../parts/menu'
import { Loaded, Page } from '../../parts/page'
import { Tag } from '../../parts/status'
import { Ago } from '../../parts/time'
import { useOne, useSend } from '../../queries'
import { usePerson } from '../../session'
import { ChannelFacts } from './channel-facts'
import { ChannelLog } from './channel-log'
import { ChannelState } from './channel-state'
import { Told } from './told'

const up = { to: '/channels', label: 'Channels' }
const icon = 'size-4'
const stale = ['/notification-channels', '/notifications']

/** One channel: how it does, what it was told, and a test. */
export default function Channel() {
  const { id } = useParams({ strict: false })
  const found = useOne<NotificationChannelView>(`/notification-channels/${id}`)
  return (
    <Loaded found={found} up={up}>
      {channel => <Shown channel={channel} />}
    </Loaded>
  )
}

function Shown({ channel }: { channel: NotificationChannelView }) {
  const { mayWrite } = usePerson()
  const navigate = useNavigate()
  const kinds = useOne<{ data: NotificationChannelKindView[] }>('/notification-channels/kinds')
  const [asking, setAsking] = useState(false)
  const [told, setTold] = useState<NotificationView | null>(null)
  const path = `/notification-channels/${channel.id}`
  const test = useSend<NotificationView>({ stale, onDone: setTold })
  const enable = useSend({ done: `${channel.name} is in service again`, stale })
  const turn = (active: boolean) => ({ method: 'PATCH', path, body: { active } }) as const
  const turned = useSend({
    done: channel.active ? `Switched ${channel.name} off` : `Switched ${channel.name} on`,
    undo: () => turn(channel.active),
    stale,
  })
  const remove = useSend({ done: `Deleted ${channel.name}`, stale, onDone: () => void navigate({ to: '/channels' }) })
  const actions = mayWrite && (
    <>
      <Button
        kind="main"
        icon={<Send className={icon} aria-hidden />}
        disabled={test.isPending}
        onClick={() => test.mutate({ method: 'POST', path: `${path}/test` })}
      >
        {test.isPending ? 'Sending…' : 'Send a test'}
      </Button>
      {channel.status === 'disabled' && (
        <Button disabled={enable.isPending} onClick={() => enable.mutate({ method: 'POST', path: `${path}/enable` })}>
          Enable again
        </Button>
      )}
      <LinkButton to="/channels/$id/edit" params={{ id: channel.id }} icon={<Pencil className={icon} aria-hidden />}>
        Edit
      </LinkButton>
      <Menu
        label="More to do"
        items={[
          {
            label: channel.active ? 'Switch off' : 'Switch on',
            icon: channel.active ? <CirclePause className={icon} aria-hidden /> : <CirclePlay className={icon} aria-hidden />,
            onSelect: () => turned.mutate(turn(!channel.active)),
          },
          '-',
          { label: 'Delete', icon: <Trash2 className={icon} aria-hidden />, bad: true, onSelect: () => setAsking(true) },
        ]}
      />
    </>
  )
  const title = kinds.data?.data.find(one => one.kind === channel.kind)?.title ?? channel.kind
  return (
    <Page
      title={channel.name}
      up={up}
      aside={
        <>
          <ChannelState channel={channel} />
          <Tag>{title}</Tag>
        </>
      }
      actions={actions}
    >
      <div className="flex flex-col gap-4">
        <div role="status" className="empty:hidden">
          {told && <Told isSent={told.status === 'sent'} said={told.said} trouble={told.last_error?.detail ?? null} />}
        </div>
        {channel.status === 'disabled' && (
          <p className="rounded-lg border border-line bg-bad-soft p-4 text-bad">
            It was disabled, since the other side said that it is gone: {channel.disabled_reason}
          </p>
        )}
        {channel.failing && channel.status !== 'disabled' && (
          <p className="rounded-lg border border-line bg-warn-soft p-4 text-warn">
            Nothing has come through since <Ago at={channel.failing_since_at} />: {channel.last_error?.detail}
          </p>
        )}
        <div className="grid gap-4 lg:grid-cols-[1fr_22rem] lg:items-start">
          <div className="min-w-0 lg:col-start-2 lg:row-start-1">
            <ChannelFacts channel={channel} />
          </div>
          {/* Last, since it goes on for as long as one reads. */}
          <ChannelLog id={channel.id} />
        </div>
      </div>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete ${channel.name}?`}
        action="Delete channel"
        pending={remove.isPending}
        onConfirm={() => remove.mutate({ method: 'DELETE', path })}
      >
        Its secrets are deleted, and what waits on it is cancelled. Its log stays. This cannot be undone.
      </Confirm>
    </Page>
  )
}
