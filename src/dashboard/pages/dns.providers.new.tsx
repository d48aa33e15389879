import type { DnsProviderKindView } from '../../features/dns/accounts/shapes'
import { TestSettings } from '../parts/account-check'
import { Advanced } from '../parts/advanced'
import { useUrlState } from '../parts/url-state'
import { SettingsFields, SettingsGroups, settingsBody, settingValues } from '../parts/adapter-settings'
import { CreatePage } from '../parts/edit-page'
import { FieldFrame, TextField } from '../parts/form'
import { Select } from '../parts/input'
import { Loaded } from '../parts/page'
import { useOne } from '../queries'
import { checkedProviders } from './dns/providers/checked-providers'

/** Adds a provider. Settings can be tested first. */
export default function NewProvider() {
  const kinds = useOne<{ data: DnsProviderKindView[] }>('/dns/provider-kinds')
  const [{ kind: name }, set] = useUrlState({ kind: '' })
  return (
    <Loaded query={kinds} parent="/dns/providers">
      {({ data }) => {
        const kind = data.find(one => one.kind === name) ?? data[0]!
        return (
          <CreatePage
            key={kind.kind}
            parent="/dns/providers"
            page="/dns/providers/$id"
            path="/dns/providers"
            invalidates={['/dns/providers']}
            description="A DNS server or account that hosts your zones, and the credentials Bailiwick uses to reach it."
            initial={{ name: kind.title, ...settingValues(kind) }}
            bodyOf={values => ({ kind: kind.kind, name: values.name, ...settingsBody(kind, values, null) })}
          >
            <FieldFrame name="kind" label="Type">
              {attributes => (
                <Select
                  {...attributes}
                  value={kind.kind}
                  onText={value => set({ kind: value })}
                  choices={data.map(one => [one.kind, one.title] as const)}
                />
              )}
            </FieldFrame>
            <TextField name="name" label="Name" hint="For example, the name of the server or account." />
            <SettingsFields kind={kind} />
            <Advanced>
              <SettingsGroups kind={kind} />
            </Advanced>
            <TestSettings kind={kind} of={checkedProviders} path="/dns/provider-checks" />
          </CreatePage>
        )
      }}
    </Loaded>
  )
}
