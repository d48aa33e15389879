import { useNavigate } from '@tanstack/react-router'
import type { DnsProviderChecked, DnsProviderKindView, DnsProviderView } from '../../../../features/dns/accounts/shapes'
import { useAddress } from '../../../parts/address'
import { Button } from '../../../parts/button'
import { FieldFrame, Form, inputLook, TextField, useForm, type Values } from '../../../parts/form'
import { OptionFields, schemasOf } from '../../../parts/option-fields'
import { fieldsOf, optionsFrom } from '../../../parts/option-values'
import { Card, Loaded, Page } from '../../../parts/page'
import { Problem } from '../../../parts/problem'
import { useOne, useSend } from '../../../queries'
import { CheckOutcome } from './check-outcome'

const up = { to: '/dns/providers', label: 'Providers' }

/** Makes a provider, whose settings are tried out before. */
export default function NewProvider() {
  const kinds = useOne<{ data: DnsProviderKindView[] }>('/dns/provider-kinds')
  const [{ kind }, set] = useAddress({ kind: '' })
  return (
    <Loaded found={kinds} up={up}>
      {({ data }) => {
        const chosen = data.find(one => one.kind === kind) ?? data[0]!
        return (
          <Page title="New provider" lead="A server or an account that keeps zones, and how the hub is let in." up={up}>
            <Card className="max-w-2xl">
              <Fields key={chosen.kind} kind={chosen} kinds={data} onKind={value => set({ kind: value })} />
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
  const send = useSend<DnsProviderView>({
    quiet: true,
    done: 'Provider made',
    stale: ['/dns/providers'],
    onDone: made => void navigate({ to: '/dns/providers/$id', params: { id: made.id } }),
  })
  const schemas = schemasOf(kind.settings)
  const settings = Object.entries(schemas).map(([name, schema]) => fieldsOf(`settings.${name}`, schema, undefined))
  return (
    <Form
      initial={Object.assign({ name: kind.title }, ...settings) as Values}
      call={values => ({
        method: 'POST',
        path: '/dns/providers',
        body: { kind: kind.kind, name: values.name, settings: optionsFrom(schemas, values, 'settings') },
      })}
      send={send.mutateAsync}
      pending={send.isPending}
      onCancel={() => void navigate({ to: '/dns/providers' })}
      action="Make the provider"
    >
      <Kind kind={kind} kinds={kinds} onKind={onKind} />
      <TextField name="name" label="Name" hint="To tell it from others of its kind." />
      <OptionFields schemas={schemas} secrets={kind.secrets} at="settings" />
      <Try kind={kind} />
    </Form>
  )
}

const Kind = ({ kind, kinds, onKind }: FieldsProps) => (
  <FieldFrame name="kind" label="Kind">
    {attributes => (
      <select {...attributes} value={kind.kind} onChange={event => onKind(event.target.value)} className={`h-9 ${inputLook}`}>
        {kinds.map(one => (
          <option key={one.kind} value={one.kind}>
            {one.title}
          </option>
        ))}
      </select>
    )}
  </FieldFrame>
)

/** Tries the settings as they are typed. */
function Try({ kind }: { kind: DnsProviderKindView }) {
  const { values } = useForm()
  const send = useSend<DnsProviderChecked>({ quiet: true })
  const body = { kind: kind.kind, settings: optionsFrom(schemasOf(kind.settings), values, 'settings') }
  return (
    <div className="flex flex-col gap-3 rounded-md border border-line p-3">
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-40 grow text-muted">Try the settings out before anything is kept.</p>
        <Button disabled={send.isPending} onClick={() => send.mutate({ method: 'POST', path: '/dns/provider-checks', body })}>
          {send.isPending ? 'Asking…' : 'Check the connection'}
        </Button>
      </div>
      <div aria-live="polite">{send.error ? <Problem error={send.error} /> : send.data && <CheckOutcome {...send.data} />}</div>
    </div>
  )
}
