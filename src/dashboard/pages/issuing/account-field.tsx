import type { AcmeAccountView } from '../../../features/acme/accounts/shapes'
import { SelectField } from '../../parts/form'

/** Chooses the ACME account to issue a certificate with. */
export const AccountField = ({ accounts }: { accounts: readonly AcmeAccountView[] }) => (
  <SelectField
    name="acme_account_id"
    label="ACME account"
    choices={[
      ['', 'Choose an account'] as const,
      ...accounts.filter(one => one.status === 'valid').map(one => [one.id, one.name] as const),
    ]}
  />
)
