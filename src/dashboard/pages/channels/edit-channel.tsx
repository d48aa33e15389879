import { useParams } from '@tanstack/react-router'
import type { NotificationChannelKindView, NotificationChannelView } from '../../../features/notifications/shapes'
import { EditPage } from '../../parts/edit-page'
import { TextField } from '../../parts/form'
import { OptionFields, schemasOf } from '../../parts/option-fields'
import { Loaded } from '../../parts/page'
import { useOne } from '../../queries'
import { channelBody, channelValues, settingValues } from './channel-values'
import { TakesFields } from './takes-fields'

/** Edits a channel; what is sent is what differs. */
export default function EditChannel() {
  const { id } = useParams({ strict: false })
  const found = useOne<NotificationChannelView>(`/notification-channels/${id}`)
  const kinds = useOne<{ data: NotificationChannelKindView[] }>('/notification-channels/kinds')
  const kind = kinds.data?.data.find(one => one.kind === found.data?.kind)
  const data = found.data && kind && { channel: found.data, kind }
  return (
    <Loaded found={{ ...found, data, error: found.error ?? kinds.error }} up={{ to: '/channels', label: 'Channels' }}>
      {({ channel, kind }) => (
        <EditPage
          key={channel.id}
          thing={channel}
          to={`/channels/${id}`}
          path={`/notification-channels/${id}`}
          stale={['/notification-channels']}
          valuesOf={opened => ({ ...channelValues(opened), ...settingValues(kind, opened.settings) })}
          bodyOf={(values, before) => channelBody(kind, values, before)}
        >
          {opened => (
            <>
              <TextField name="name" label="Name" />
              <OptionFields
                at="settings"
                schemas={schemasOf(kind.settings)}
                secrets={kind.secrets}
                secretsSet={opened.secrets_set}
              />
              <TakesFields />
            </>
          )}
        </EditPage>
      )}
    </Loaded>
  )
}
