import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { NotificationChannelKindView, NotificationChannelView } from '../../../features/notifications/shapes'
import { Form, TextField } from '../../parts/form'
import { Card, Loaded, Page } from '../../parts/page'
import { OptionFields, schemasOf } from '../../parts/option-fields'
import { useOne, useSend } from '../../queries'
import { channelBody, channelValues, settingValues } from './channel-values'
import { TakesFields } from './takes-fields'

/** Edits a channel; what is sent is what differs. */
export default function EditChannel() {
  const { id } = useParams({ strict: false })
  const found = useOne<NotificationChannelView>(`/notification-channels/${id}`)
  const kinds = useOne<{ data: NotificationChannelKindView[] }>('/notification-channels/kinds')
  const kind = kinds.data?.data.find(one => one.kind === found.data?.kind)
  return (
    <Loaded
      found={{ ...found, data: kind && found.data, error: found.error ?? kinds.error }}
      up={{ to: '/channels', label: 'Channels' }}
    >
      {channel => <Edited key={channel.id} channel={channel} kind={kind!} />}
    </Loaded>
  )
}

function Edited({ channel, kind }: { channel: NotificationChannelView; kind: NotificationChannelKindView }) {
  const navigate = useNavigate()
  // As it was when the page was opened: what another person changes meanwhile is theirs, and the version tells.
  const [opened] = useState(channel)
  const [before] = useState(() => ({ ...channelValues(opened), ...settingValues(kind, opened.settings) }))
  const to = `/channels/${opened.id}`
  const send = useSend({
    quiet: true,
    done: 'Saved',
    stale: ['/notification-channels'],
    onDone: () => void navigate({ to }),
  })
  return (
    <Page title={`Edit ${opened.name}`} up={{ to, label: opened.name }}>
      <Card className="max-w-3xl">
        <Form
          initial={before}
          call={values => ({
            method: 'PATCH',
            path: `/notification-channels/${opened.id}`,
            body: channelBody(kind, values, before),
            ifMatch: opened.version,
          })}
          send={send.mutateAsync}
          pending={send.isPending}
          onCancel={() => void navigate({ to })}
          action="Save"
        >
          <TextField name="name" label="Name" />
          <OptionFields at="settings" schemas={schemasOf(kind.settings)} secrets={kind.secrets} secretsSet={opened.secrets_set} />
          <TakesFields />
        </Form>
      </Card>
    </Page>
  )
}
