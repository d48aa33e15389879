import type { DomainView } from '../../../features/domains/shapes'
import { ListField, SelectField, TextareaField, TextField, type Values } from '../../parts/form'
import { openForm } from '../../parts/open-dialog'
import { ChooseField } from '../../parts/pick-field'
import { changedFields } from '../../parts/values'
import { useRegistrarAccounts } from '../registrars/accounts'

export const invalidates = ['/domains']

const endField = (
  <TextField
    name="expires_at"
    label="Expiration date"
    type="date"
    hint="Only for registries that don’t publish it. The date of a registrar or registry takes precedence."
  />
)

const zoneField = (
  <ChooseField
    name="zone_id"
    label="DNS zone"
    list="/dns/zones"
    none="The zone with the same name"
    hint="The zone that the domain should be delegated to."
  />
)

function AccountField() {
  const { data } = useRegistrarAccounts()
  const accounts = data?.data ?? []
  return (
    <SelectField
      name="registrar_account_id"
      label="Registrar account"
      hint="Required for accounts with EPP, which can’t list their domains. Others find it by themselves."
      choices={[['', 'None'] as const, ...accounts.map(one => [one.id, one.name] as const)]}
    />
  )
}

/** Opens the form that adds a domain. */
export const addDomain = (onCreated: (id: string) => void): void =>
  openForm<DomainView>({
    title: 'Add domain',
    description: 'Tracks a domain that is already registered. Nothing is bought.',
    initial: { name: '', expires_at: '', registrar_account_id: '', zone_id: '', tags: [], notes: '' },
    call: ({ expires_at: end, zone_id: zone, registrar_account_id: account, ...values }) => ({
      method: 'POST',
      path: '/domains',
      body: {
        ...values,
        ...(end !== '' && { expires_at: end }),
        ...(account !== '' && { registrar_account_id: account }),
        ...(zone !== '' && { zone_id: zone }),
      },
    }),
    send: { toast: 'Domain added', invalidates, onSuccess: ({ id }) => onCreated(id) },
    fields: (
      <>
        <TextField name="name" label="Name" mono autoFocus placeholder="example.com" />
        {endField}
        <AccountField />
        {zoneField}
        <ListField name="tags" label="Tags" />
        <TextareaField name="notes" label="Notes" />
      </>
    ),
  })

const editedValues = (domain: DomainView): Values => ({
  expires_at: domain.expiry.given_expires_at ?? '',
  notify_days: (domain.notify_days ?? []).map(String),
  registrar_account_id: domain.registrar_account_id ?? '',
  zone_id: domain.zone_id ?? '',
  expected_nameservers: domain.expected_nameservers ?? [],
  tags: domain.tags,
  notes: domain.notes,
})

/** Empty fields restore the default. */
function bodyOf(values: Values): object {
  const { expires_at: end, notify_days: days, expected_nameservers: servers, ...rest } = values
  const { zone_id: zone, registrar_account_id: account, ...others } = rest
  const list = (values: unknown) => ((values as string[]).length === 0 ? null : values)
  return {
    ...others,
    ...(account !== undefined && { registrar_account_id: account === '' ? null : account }),
    ...(end !== undefined && { expires_at: end === '' ? null : end }),
    ...(zone !== undefined && { zone_id: zone === '' ? null : zone }),
    ...(days !== undefined && { notify_days: list((days as string[]).map(Number)) }),
    ...(servers !== undefined && { expected_nameservers: list(servers) }),
  }
}

/** Opens the form that edits a domain. */
export function editDomain(domain: DomainView): void {
  const before = editedValues(domain)
  openForm<DomainView>({
    title: 'Edit domain',
    submitLabel: 'Save changes',
    initial: before,
    call: values => ({
      method: 'PATCH',
      path: `/domains/${domain.id}`,
      ifMatch: domain.version,
      body: bodyOf(changedFields(before, values)),
    }),
    send: { toast: 'Domain saved', invalidates },
    fields: (
      <>
        {endField}
        <ListField
          name="notify_days"
          label="Notify days before the end"
          placeholder="60, 30, 14, 7, 3, 1, 0"
          hint="Days on which an event is sent. Empty for the default."
        />
        <AccountField />
        {zoneField}
        <ListField
          name="expected_nameservers"
          label="Expected name servers"
          hint="Empty to compare the domain with its DNS zone."
        />
        <ListField name="tags" label="Tags" />
        <TextareaField name="notes" label="Notes" />
      </>
    ),
  })
}
