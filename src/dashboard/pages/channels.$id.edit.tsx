import { useParams } from '@tanstack/react-router'
import type { NotificationChannelKindView, NotificationChannelView } from '../../features/notifications/shapes'
import { SettingsFields, settingValues } from '../parts/adapter-settings'
import { EditPage } from '../parts/edit-page'
import { TextField } from '../parts/form'
import { Loaded } from '../parts/page'
import { useOne } from '../queries'
import { channelBody, channelValues } from './channels/channel-values'
import { AlertFields } from './channels/alert-fields'

/** Form to edit a channel. Sends only changed fields. */
export default function EditChannel() {
  const { id } = useParams({ strict: false })
  const found = useOne<NotificationChannelView>(`/notification-channels/${id}`)
  const kinds = useOne<{ data: NotificationChannelKindView[] }>('/notification-channels/kinds')
  const kind = kinds.data?.data.find(one => one.kind === found.data?.kind)
  const data = found.data && kind && { channel: found.data, kind }
  return (
    <Loaded query={{ ...found, data, error: found.error ?? kinds.error }} parent="/channels">
      {({ channel, kind }) => (
        <EditPage
          key={channel.id}
          resource={channel}
          to={`/channels/${id}`}
          path={`/notification-channels/${id}`}
          invalidates={['/notification-channels']}
          valuesOf={opened => ({ ...channelValues(opened), ...settingValues(kind, opened.settings) })}
          bodyOf={(values, before) => channelBody(kind, values, before)}
        >
          {opened => (
            <>
              <TextField name="name" label="Name" />
              <SettingsFields kind={kind} secretsSet={opened.secrets_set} />
              <AlertFields />
            </>
          )}
        </EditPage>
      )}
    </Loaded>
  )
}
