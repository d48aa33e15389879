import { useNavigate } from '@tanstack/react-router'
import type { DnsProviderCheckResult, DnsProviderKindView, DnsProviderView } from '../../features/dns/accounts/shapes'
import { useUrlState } from '../parts/url-state'
import { SettingsFields, settingsBody, settingsOf, settingValues } from '../parts/adapter-settings'
import { Button } from '../parts/button'
import { FieldFrame, Form, TextField, useForm } from '../parts/form'
import { Select } from '../parts/input'
import { Card, Loaded, Page } from '../parts/page'
import { Problem } from '../parts/problem'
import { useOne, useSend } from '../queries'
import { CheckOutcome } from './dns/providers/check-outcome'

/** Adds a provider. Settings can be tested first. */
export default function NewProvider() {
  const kinds = useOne<{ data: DnsProviderKindView[] }>('/dns/provider-kinds')
  const [{ kind }, set] = useUrlState({ kind: '' })
  return (
    <Loaded query={kinds} parent="/dns/providers">
      {({ data }) => {
        const selected = data.find(one => one.kind === kind) ?? data[0]!
        return (
          <Page
            description="A DNS server or account that hosts your zones, and the credentials Bailiwick uses to reach it."
            parent="/dns/providers"
          >
            <Card className="max-w-2xl">
              <Fields key={selected.kind} kind={selected} kinds={data} onKind={value => set({ kind: value })} />
            </Card>
          </Page>
        )
      }}
    </Loaded>
  )
}

interface FieldsProps {
  kind: DnsProviderKindView
  kinds: readonly DnsProviderKindView[]
  onKind(kind: string): void
}

function Fields({ kind, kinds, onKind }: FieldsProps) {
  const navigate = useNavigate()
  return (
    <Form<DnsProviderView>
      initial={{ name: kind.title, ...settingValues(kind) }}
      call={values => ({
        method: 'POST',
        path: '/dns/providers',
        body: { kind: kind.kind, name: values.name, ...settingsBody(kind, values, null) },
      })}
      send={{
        toast: 'Provider added',
        invalidates: ['/dns/providers'],
        onSuccess: made => void navigate({ to: '/dns/providers/$id', params: { id: made.id } }),
      }}
      onCancel={() => void navigate({ to: '/dns/providers' })}
      submitLabel="Add provider"
    >
      <Kind kind={kind} kinds={kinds} onKind={onKind} />
      <TextField name="name" label="Name" hint="Shown in lists, to tell providers apart." />
      <SettingsFields kind={kind} />
      <TestSettings kind={kind} />
    </Form>
  )
}

const Kind = ({ kind, kinds, onKind }: FieldsProps) => (
  <FieldFrame name="kind" label="Kind">
    {attributes => (
      <Select {...attributes} value={kind.kind} onText={onKind} choices={kinds.map(one => [one.kind, one.title] as const)} />
    )}
  </FieldFrame>
)

/** Tests the settings as entered. */
function TestSettings({ kind }: { kind: DnsProviderKindView }) {
  const { values } = useForm()
  const send = useSend<DnsProviderCheckResult>({ quiet: true })
  const body = { kind: kind.kind, settings: settingsOf(kind, values) }
  return (
    <div className="flex flex-col gap-3 rounded-md border border-line p-3">
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-40 grow text-muted">Test the settings before you save them.</p>
        <Button disabled={send.isPending} onClick={() => send.mutate({ method: 'POST', path: '/dns/provider-checks', body })}>
          {send.isPending ? 'Testing…' : 'Test provider settings'}
        </Button>
      </div>
      <div aria-live="polite">{send.error ? <Problem error={send.error} /> : send.data && <CheckOutcome {...send.data} />}</div>
    </div>
  )
}
