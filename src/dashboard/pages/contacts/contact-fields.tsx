import type { ContactOptionsView, ContactView } from '../../../features/contacts/shapes'
import { Advanced } from '../../parts/advanced'
import { Columns, ListField, SelectField, TextareaField, TextField, useForm, type Values } from '../../parts/form'
import { OptionGroups, schemasOf } from '../../parts/option-fields'
import { fieldsOf, optionsFrom } from '../../parts/option-values'
import { useOne } from '../../queries'
import { contactTypes, countryName } from './contact-text'

export const useContactOptions = () => useOne<ContactOptionsView>('/contacts/options')

const plainFields = [
  'label',
  'type',
  'first_name',
  'last_name',
  'organization',
  'email',
  'phone',
  'city',
  'state',
  'postal_code',
  'country',
  'tags',
] as const

/** Form values of a new or an existing contact. */
export function contactValues({ fields }: ContactOptionsView, contact: ContactView | null): Values {
  const plain = plainFields.map(name => [name, contact?.[name] ?? (name === 'type' ? 'individual' : name === 'tags' ? [] : '')])
  return {
    ...Object.fromEntries(plain),
    address: contact?.address.join('\n') ?? '',
    ...Object.assign(
      {},
      ...Object.entries(schemasOf(fields)).map(([name, schema]) =>
        fieldsOf(`fields.${name}`, schema, contact?.fields[name as keyof ContactView['fields']]),
      ),
    ),
  }
}

/** The request body for a contact. */
export const contactBody = ({ fields }: ContactOptionsView, values: Values): Values => ({
  ...Object.fromEntries(plainFields.map(name => [name, values[name]])),
  address: String(values.address)
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== ''),
  fields: optionsFrom(schemasOf(fields), values, 'fields'),
})

/** The fields of the form of a contact. */
export function ContactFields({ options }: { options: ContactOptionsView }) {
  const { values } = useForm()
  const country = options.countries.find(one => one.code === values.country)
  const countries = options.countries
    .map(one => [one.code, countryName(one.code)] as const)
    .sort(([, one], [, other]) => one.localeCompare(other, 'en'))
  return (
    <>
      <Columns>
        <TextField name="label" label="Label" hint="Your name for the contact. Not sent to registrars." autoFocus />
        <SelectField name="type" label="Type" choices={contactTypes} />
      </Columns>
      <Columns>
        <TextField name="first_name" label="First name" autoComplete="off" />
        <TextField name="last_name" label="Last name" autoComplete="off" />
      </Columns>
      {(values.type !== 'individual' || values.organization !== '') && (
        <TextField name="organization" label="Organization" hint="The legal name." autoComplete="off" />
      )}
      <Columns>
        <TextField name="email" label="Email" type="email" hint="Registries send confirmations to it." autoComplete="off" />
        <TextField name="phone" label="Phone" placeholder="+33 1 23 45 67 89" hint="With the country code." autoComplete="off" />
      </Columns>
      <TextareaField name="address" label="Address" rows={3} hint="Street and number, up to three lines." />
      <Columns>
        <TextField
          name="postal_code"
          label={country?.needs_postal_code === false ? 'Postal code (optional)' : 'Postal code'}
          autoComplete="off"
        />
        <TextField name="city" label="City" autoComplete="off" />
      </Columns>
      <Columns>
        <TextField
          name="state"
          label={country?.needs_state ? 'State or province' : 'State or province (optional)'}
          autoComplete="off"
        />
        <SelectField name="country" label="Country" choices={[['', 'Select…'], ...countries]} />
      </Columns>
      <ListField name="tags" label="Tags" hint="Separated by commas or spaces." />
      <Advanced>
        <OptionGroups prefix="fields" schemas={schemasOf(options.fields)} secrets={[]} />
      </Advanced>
    </>
  )
}
