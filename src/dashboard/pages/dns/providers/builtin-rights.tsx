import type { BuiltinProviderView, TsigKeyView } from '../../../../features/dns/transfers/shapes'
import { CheckField, FieldFrame, Form, SelectField, TextField, useForm } from '../../../parts/form'
import { Card, Facts } from '../../../parts/page'
import { useSend } from '../../../queries'
import { usePerson } from '../../../session'

interface BuiltinRightsProps {
  server: BuiltinProviderView
  keys: readonly TsigKeyView[]
}

/** The catalog zone, and which keys may transfer every zone. */
export function BuiltinRights({ server: { catalog, transfer_key_ids: ids, version }, keys }: BuiltinRightsProps) {
  const { mayWrite } = usePerson()
  const send = useSend<BuiltinProviderView>({ quiet: true, done: 'Saved', stale: ['/dns/providers'] })
  const nameOf = (id: string | null) => keys.find(one => one.id === id)?.name ?? id
  if (!mayWrite)
    return (
      <Card title="Catalog and transfers">
        <Facts
          rows={[
            ['Catalog zone', catalog.enabled ? catalog.name : 'off'],
            ['Its key', catalog.enabled ? nameOf(catalog.tsig_key_id) : null],
            ['May transfer', ids === null ? 'all keys' : ids.map(nameOf).join(', ') || 'none'],
          ]}
        />
      </Card>
    )
  return (
    <Card title="Catalog and transfers">
      <Form
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
        send={send.mutateAsync}
        pending={send.isPending}
        action="Save"
      >
        <CheckField
          name="catalog.enabled"
          label="Serve a catalog zone"
          hint="From it secondaries learn which zones there are (RFC 9432)."
        />
        <Catalog keys={keys} />
        <SelectField
          name="transfers"
          label="Who may transfer every zone"
          choices={[
            ['all', 'All keys of the workspace'],
            ['some', 'Some of them'],
          ]}
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
      <TextField name="catalog.name" label="Name of the catalog zone" mono hint="Empty is the usual one." />
      <SelectField
        name="catalog.tsig_key_id"
        label="Key that transfers it"
        choices={[['', 'Choose a key'], ...keys.map(one => [one.id, one.name] as const)]}
      />
    </>
  )
}

function Chosen({ keys }: { keys: readonly TsigKeyView[] }) {
  const { values, set } = useForm()
  const chosen = values.transfer_key_ids as string[]
  if (values.transfers !== 'some') return null
  return (
    <FieldFrame name="transfer_key_ids" label="Keys" hint="None of them: nobody.">
      {attributes => (
        <div {...attributes} role="group" className="flex flex-col gap-1">
          {keys.map(one => (
            <label key={one.id} className="flex items-center gap-2">
              <input
                type="checkbox"
                checked={chosen.includes(one.id)}
                onChange={event =>
                  set({
                    transfer_key_ids: event.target.checked ? [...chosen, one.id] : chosen.filter(other => other !== one.id),
                  })
                }
              />
              <code className="font-mono text-[13px]">{one.name}</code>
            </label>
          ))}
        </div>
      )}
    </FieldFrame>
  )
}
