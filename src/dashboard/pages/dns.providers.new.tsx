import type { DnsProviderCheckResult, DnsProviderKindView } from '../../features/dns/accounts/shapes'
import { Advanced } from '../parts/advanced'
import { useUrlState } from '../parts/url-state'
import { SettingsFields, SettingsGroups, settingsBody, settingsOf, settingValues } from '../parts/adapter-settings'
import { Button } from '../parts/button'
import { CreatePage } from '../parts/edit-page'
import { FieldFrame, TextField, useForm } from '../parts/form'
import { Select } from '../parts/input'
import { Loaded } from '../parts/page'
import { useOne, useSend } from '../queries'
import { CheckOutcome } from './dns/providers/check-outcome'

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
            <TestSettings kind={kind} />
          </CreatePage>
        )
      }}
    </Loaded>
  )
}

/** Tests the settings as entered. */
function TestSettings({ kind }: { kind: DnsProviderKindView }) {
  const { values, showError } = useForm()
  const send = useSend<DnsProviderCheckResult>({ quiet: true })
  const body = { kind: kind.kind, settings: settingsOf(kind, values) }
  return (
    <div className="rounded-md border border-line p-3">
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-40 grow text-muted">Checks that Bailiwick can reach the provider, without saving anything.</p>
        <Button
          disabled={send.isPending}
          onClick={() => send.mutate({ method: 'POST', path: '/dns/provider-checks', body }, { onError: showError })}
        >
          {send.isPending ? 'Testing…' : 'Test settings'}
        </Button>
      </div>
      <div aria-live="polite" className="mt-3 empty:hidden">
        {send.data && <CheckOutcome {...send.data} />}
      </div>
    </div>
  )
}
