import type { DnsProviderKindView, DnsProviderView } from '../../../../features/dns/accounts/shapes'
import { Form, TextField, type Values } from '../../../parts/form'
import { OptionFields, schemasOf } from '../../../parts/option-fields'
import { fieldsOf, mergePatch, optionsFrom } from '../../../parts/option-values'
import { useSend } from '../../../queries'

interface EditProviderProps {
  provider: DnsProviderView
  kind: DnsProviderKindView
  onEnd(): void
}

/** Settings of a provider to edit; a secret that is typed takes the place of the one that is kept. */
export function EditProvider({ provider, kind, onEnd }: EditProviderProps) {
  const send = useSend<DnsProviderView>({ quiet: true, done: 'Provider saved', stale: ['/dns/providers'], onDone: onEnd })
  const schemas = schemasOf(kind.settings)
  const settings = Object.entries(schemas).map(([name, schema]) => fieldsOf(`settings.${name}`, schema, provider.settings[name]))
  const initial = Object.assign({ name: provider.name }, ...settings) as Values
  const before = optionsFrom(schemas, initial, 'settings')
  return (
    <Form
      initial={initial}
      call={values => {
        const patch = mergePatch(before, optionsFrom(schemas, values, 'settings'))
        return {
          method: 'PATCH',
          path: `/dns/providers/${provider.id}`,
          ifMatch: provider.version,
          body: { name: values.name, ...(patch && { settings: patch }) },
        }
      }}
      send={send.mutateAsync}
      pending={send.isPending}
      onCancel={onEnd}
      action="Save"
    >
      <TextField name="name" label="Name" />
      <OptionFields schemas={schemas} secrets={kind.secrets} secretsSet={provider.secrets_set} at="settings" />
    </Form>
  )
}
