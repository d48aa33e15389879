import type { DnsProviderKindView } from '../../features/dns/accounts/shapes'
import { SettingsFields, SettingsGroups, settingsBody, settingValues } from '../parts/adapter-settings'
import { Advanced } from '../parts/advanced'
import { TextField } from '../parts/form'
import { NewAccountPage } from '../parts/account-pages'
import { useOne } from '../queries'
import { checkedProviders } from './dns/providers/checked-providers'

/** Adds a provider. */
export default function NewProvider() {
  return (
    <NewAccountPage
      kinds={useOne<{ data: DnsProviderKindView[] }>('/dns/provider-kinds')}
      kindLabel="Type"
      parent="/dns/providers"
      page="/dns/providers/$id"
      path="/dns/providers"
      invalidates={['/dns/providers']}
      description="A DNS server or account that hosts your zones, and the credentials Bailiwick uses to reach it."
      initial={kind => ({ name: kind.title, ...settingValues(kind) })}
      bodyOf={(kind, values) => ({ kind: kind.kind, name: values.name, ...settingsBody(kind, values, null) })}
      fields={kind => (
        <>
          <TextField name="name" label="Name" hint="For example, the name of the server or account." />
          <SettingsFields kind={kind} />
          <Advanced>
            <SettingsGroups kind={kind} />
          </Advanced>
        </>
      )}
      checked={checkedProviders}
      checkPath="/dns/provider-checks"
    />
  )
}
