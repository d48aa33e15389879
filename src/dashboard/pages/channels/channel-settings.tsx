import type { NotificationChannelKindView } from '../../../features/notifications/shapes'
import { SettingsFields, settingsOf } from '../../parts/adapter-settings'
import { useForm } from '../../parts/form'
import { MailServerWarning } from './mail-server-warning'

/** Form fields for the settings of a channel. @param secretsSet paths of the secrets that are set */
export function ChannelSettings({ kind, secretsSet }: { kind: NotificationChannelKindView; secretsSet?: readonly string[] }) {
  const { values } = useForm()
  return (
    <>
      <SettingsFields kind={kind} secretsSet={secretsSet} />
      <MailServerWarning kind={kind.kind} settings={settingsOf(kind, values)} />
    </>
  )
}
