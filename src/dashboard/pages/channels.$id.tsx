import { CirclePause, CirclePlay, Pencil, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { NotificationView } from '../../features/notifications/log/shapes'
import type { NotificationChannelKindView, NotificationChannelView } from '../../features/notifications/shapes'
import { LinkButton } from '../parts/button'
import { Menu } from '../parts/menu'
import { confirmDelete } from '../parts/open-dialog'
import { Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { SendButton } from '../parts/send-button'
import { Tag } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useOne, useSend } from '../queries'
import { usePerson } from '../session'
import { ChannelDetails } from './channels/channel-details'
import { ChannelLog } from './channels/channel-log'
import { ChannelStatus } from './channels/channel-status'
import { MailServerWarning } from './channels/mail-server-warning'
import { TestResult } from './channels/test-result'

const invalidates = ['/notification-channels', '/notifications']

/** A channel with its settings, status and log. */
export default resourcePage({ path: '/notification-channels', parent: '/channels' }, ChannelPage)

function ChannelPage({ resource: channel }: { resource: NotificationChannelView }) {
  const { canWrite } = usePerson()
  const kinds = useOne<{ data: NotificationChannelKindView[] }>('/notification-channels/kinds')
  const [testResult, setTestResult] = useState<NotificationView | null>(null)
  const path = `/notification-channels/${channel.id}`
  const activeBody = (active: boolean) => ({ method: 'PATCH', path, body: { active } }) as const
  const toggle = useSend({
    toast: channel.active ? `${channel.name} deactivated. Pending notifications are canceled.` : `${channel.name} activated`,
    undo: () => activeBody(channel.active),
    invalidates,
  })
  const remove = () =>
    confirmDelete({
      noun: 'channel',
      name: channel.name,
      path,
      invalidates,
      next: '/channels',
      text: 'The channel and its secrets are deleted, and pending notifications are canceled. Resources that selected only this channel use the default channels. The log is kept. This can’t be undone.',
    })
  const actions = canWrite && (
    <>
      <SendButton<NotificationView>
        kind="primary"
        icon={Send}
        call={{ method: 'POST', path: `${path}/test` }}
        send={{ invalidates, onSuccess: setTestResult }}
        sendingLabel="Sending…"
      >
        Send test message
      </SendButton>
      {channel.status === 'disabled' && (
        <SendButton call={{ method: 'POST', path: `${path}/enable` }} send={{ toast: `${channel.name} enabled`, invalidates }}>
          Enable
        </SendButton>
      )}
      <LinkButton to="/channels/$id/edit" params={{ id: channel.id }} icon={Pencil}>
        Edit
      </LinkButton>
      <Menu
        label="More actions"
        items={[
          {
            label: channel.active ? 'Deactivate' : 'Activate',
            icon: channel.active ? CirclePause : CirclePlay,
            onSelect: () => toggle.mutate(activeBody(!channel.active)),
          },
          '-',
          { label: 'Delete', icon: Trash2, danger: true, onSelect: remove },
        ]}
      />
    </>
  )
  const title = kinds.data?.data.find(one => one.kind === channel.kind)?.title
  return (
    <Page
      title={channel.name}
      parent="/channels"
      aside={
        <>
          <ChannelStatus channel={channel} />
          {title && <Tag>{title}</Tag>}
        </>
      }
      actions={actions}
    >
      <div className="flex flex-col gap-4">
        <div role="status" className="empty:hidden">
          {testResult && (
            <TestResult
              isSent={testResult.status === 'sent'}
              response={testResult.response}
              error={testResult.last_error?.detail ?? null}
            />
          )}
        </div>
        {channel.status === 'disabled' && (
          <p className="rounded-lg border border-line bg-bad-soft p-4 text-bad">
            Disabled automatically, because the destination no longer accepts messages. Fix the cause, then enable the channel.
            Error: {channel.disabled_reason}
          </p>
        )}
        {channel.status === 'unverified' && !channel.failing && (
          <p className="rounded-lg border border-line bg-warn-soft p-4 text-warn">
            No message has been sent since these settings were saved. Send a test message to check that the channel works.
          </p>
        )}
        <MailServerWarning {...channel} />
        {channel.failing && channel.status !== 'disabled' && (
          <p className="rounded-lg border border-line bg-warn-soft p-4 text-warn">
            First failed <RelativeTime at={channel.failing_since_at} />. Failed notifications are retried. Last error:{' '}
            {channel.last_error?.detail}
          </p>
        )}
        <div className="grid gap-4 lg:grid-cols-[1fr_22rem] lg:items-start">
          <div className="min-w-0 lg:col-start-2 lg:row-start-1">
            <ChannelDetails channel={channel} />
          </div>
          {/* Last, because the list can get very long. */}
          <ChannelLog id={channel.id} />
        </div>
      </div>
    </Page>
  )
}
