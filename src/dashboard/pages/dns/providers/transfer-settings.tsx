import type { BuiltinProviderView, TsigKeyView } from '../../../../features/dns/transfers/shapes'
import { CheckboxField, Form, SelectField, TextField, useForm, CheckboxesField } from '../../../parts/form'
import { Card } from '../../../parts/page'
import { usePerson } from '../../../session'
import type { BuiltinProps } from '../transfer-columns'

/** The catalog zone, and which keys can transfer all zones. */
export function TransferSettings({ server, keys }: BuiltinProps) {
  const { catalog, transfer_key_ids: ids, version } = server
  const { canWrite } = usePerson()
  const nameOf = (id: string | null) => keys.find(one => one.id === id)?.name ?? id
  if (!canWrite)
    return (
      <Card
        title="Catalog and transfers"
        facts={[
          ['Catalog zone', catalog.enabled ? catalog.name : 'Disabled'],
          ['Catalog key', catalog.enabled ? nameOf(catalog.tsig_key_id) : null],
          ['Zone transfers', ids === null ? 'All keys' : ids.map(nameOf).join(', ') || 'None'],
        ]}
      />
    )
  return (
    <Card title="Catalog and transfers">
      <Form<BuiltinProviderView>
        initial={{
          'catalog.enabled': catalog.enabled,
          'catalog.name': catalog.name,
          'catalog.tsig_key_id': catalog.tsig_key_id ?? '',
          transfers: ids === null ? 'all' : 'some',
          transfer_key_ids: ids ?? [],
        }}
        call={values => ({
          method: 'PATCH',
          path: '/dns/providers/builtin',
          ifMatch: version,
          body: {
            catalog: {
              enabled: values['catalog.enabled'],
              name: values['catalog.name'] === '' ? null : values['catalog.name'],
              tsig_key_id: values['catalog.tsig_key_id'] === '' ? null : values['catalog.tsig_key_id'],
            },
            transfer_key_ids: values.transfers === 'all' ? null : values.transfer_key_ids,
          },
        })}
        send={{ toast: 'Changes saved', invalidates: ['/dns/providers'] }}
        submitLabel="Save changes"
      >
        <CheckboxField
          name="catalog.enabled"
          label="Serve a catalog zone"
          hint="Lists your zones, so that secondaries add and remove them automatically (RFC 9432)."
        />
        <Catalog keys={keys} />
        <SelectField
          name="transfers"
          label="Keys allowed to transfer zones"
          choices={{ all: 'All keys of the workspace', some: 'Selected keys' }}
        />
        <Chosen keys={keys} />
      </Form>
    </Card>
  )
}

function Catalog({ keys }: { keys: readonly TsigKeyView[] }) {
  const { values } = useForm()
  if (values['catalog.enabled'] !== true) return null
  return (
    <>
      <TextField name="catalog.name" label="Catalog zone name" mono hint="Leave empty for the default." />
      <SelectField
        name="catalog.tsig_key_id"
        label="Catalog key"
        hint="The only key that can transfer the catalog zone."
        choices={[['', 'Choose a key'], ...keys.map(one => [one.id, one.name] as const)]}
      />
    </>
  )
}

function Chosen({ keys }: { keys: readonly TsigKeyView[] }) {
  const { values } = useForm()
  if (values.transfers !== 'some') return null
  return (
    <CheckboxesField
      name="transfer_key_ids"
      label="Keys"
      hint="If no key is selected, zones can’t be transferred."
      choices={keys.map(one => [one.id, one.name] as const)}
      className="flex flex-col gap-1"
      mono
    />
  )
}
