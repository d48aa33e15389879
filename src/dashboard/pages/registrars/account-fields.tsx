import type { RegistrarKindView } from '../../../features/registrars/shapes'
import { SettingsFields, SettingsGroups } from '../../parts/adapter-settings'
import { Advanced } from '../../parts/advanced'
import { SelectField, TextField } from '../../parts/form'

interface AccountFieldsProps {
  kind: RegistrarKindView
  secretsSet?: readonly string[]
}

/** The fields of an account: its settings, and which domains are added. */
export const AccountFields = ({ kind, secretsSet }: AccountFieldsProps) => (
  <>
    <TextField name="name" label="Name" hint="For example, the name of the registrar or account." />
    <SettingsFields kind={kind} secretsSet={secretsSet} />
    <SelectField
      name="manage_new"
      label="Domains in the account"
      hint="Which domains of the account are added to the workspace. Nothing changes at the registrar."
      choices={{ track: 'Add all', ignore: 'Add none' }}
    />
    <Advanced>
      <SettingsGroups kind={kind} secretsSet={secretsSet} />
    </Advanced>
  </>
)
