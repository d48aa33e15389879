import type { TokenView } from '../../../features/tokens/shapes'
import { ListField, TextField, type Values } from '../../parts/form'
import { localInputToIso, toLocalInput } from '../../parts/timezone'

export const NameField = () => (
  <TextField name="name" label="Name" hint="What uses the token, and where. For example, backup script on db1." autoFocus />
)

export const ExpiryField = () => (
  <TextField
    name="expires_at"
    label="Expires"
    type="datetime-local"
    hint="In your time zone. Leave empty for a token that never expires."
  />
)

export const AddressesField = () => (
  <ListField
    name="allowed_cidrs"
    label="Allowed addresses"
    hint="Addresses or CIDR ranges, such as 192.0.2.0/24. Leave empty to allow any."
  />
)

/** The values of a token for these fields. */
export const valuesOf = ({ name, expires_at, allowed_cidrs }: TokenView): Values => ({
  name,
  expires_at: expires_at === null ? '' : toLocalInput(new Date(expires_at).getTime()),
  allowed_cidrs,
})

/** The request body for the values of these fields. */
export const bodyOf = ({ name, expires_at: expiresAt, allowed_cidrs: ranges }: Values) => ({
  name,
  expires_at: expiresAt === '' ? null : localInputToIso(expiresAt as string),
  allowed_cidrs: (ranges as string[]).length === 0 ? null : ranges,
})
