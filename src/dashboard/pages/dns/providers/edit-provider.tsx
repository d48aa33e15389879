import type { DnsProviderKindView, DnsProviderView } from '../../../../features/dns/accounts/shapes'
import { Advanced } from '../../../parts/advanced'
import { SettingsFields, SettingsGroups, settingsBody, settingValues } from '../../../parts/adapter-settings'
import { Form, TextField } from '../../../parts/form'

interface EditProviderProps {
  provider: DnsProviderView
  kind: DnsProviderKindView
  onEnd(): void
}

/** Form for provider settings. A new value replaces a stored secret. */
export function EditProvider({ provider, kind, onEnd }: EditProviderProps) {
  const initial = { name: provider.name, ...settingValues(kind, provider.settings) }
  return (
    <Form<DnsProviderView>
      initial={initial}
      call={values => ({
        method: 'PATCH',
        path: `/dns/providers/${provider.id}`,
        ifMatch: provider.version,
        body: { name: values.name, ...settingsBody(kind, values, initial) },
      })}
      send={{ toast: 'Provider saved', invalidates: ['/dns/providers'], onSuccess: onEnd }}
      onCancel={onEnd}
      submitLabel="Save changes"
    >
      <TextField name="name" label="Name" />
      <SettingsFields kind={kind} secretsSet={provider.secrets_set} />
      <Advanced>
        <SettingsGroups kind={kind} secretsSet={provider.secrets_set} />
      </Advanced>
    </Form>
  )
}
