import type { NotificationChannelKindView, NotificationChannelView } from '../../features/notifications/shapes'
import { settingValues } from '../parts/adapter-settings'
import { EditPage } from '../parts/edit-page'
import { TextField } from '../parts/form'
import { Loaded } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { useOne } from '../queries'
import { ChannelSettings } from './channels/channel-settings'
import { channelBody, channelValues } from './channels/channel-values'
import { AlertFields, useTopics } from './channels/alert-fields'

/** Form to edit a channel. Sends only changed fields. */
export default resourcePage({ path: '/notification-channels', parent: '/channels' }, EditChannel)

function EditChannel({ resource: channel }: { resource: NotificationChannelView }) {
  const kinds = useOne<{ data: NotificationChannelKindView[] }>('/notification-channels/kinds')
  const kind = kinds.data?.data.find(one => one.kind === channel.kind)
  // If they came later, they would move the fields below them.
  const topics = useTopics()
  return (
    <Loaded query={{ ...kinds, data: topics.isLoading ? undefined : kind }} parent="/channels">
      {kind => (
        <EditPage
          resource={channel}
          to={`/channels/${channel.id}`}
          path={`/notification-channels/${channel.id}`}
          invalidates={['/notification-channels']}
          defaults={channelValues(null)}
          valuesOf={opened => ({ ...channelValues(opened), ...settingValues(kind, opened.settings) })}
          bodyOf={(values, before) => channelBody(kind, values, before)}
        >
          {opened => (
            <>
              <TextField name="name" label="Name" />
              <ChannelSettings kind={kind} secretsSet={opened.secrets_set} />
              <AlertFields kind={kind} secretsSet={opened.secrets_set} />
            </>
          )}
        </EditPage>
      )}
    </Loaded>
  )
}
