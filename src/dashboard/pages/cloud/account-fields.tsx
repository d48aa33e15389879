import type { CloudAccountView, CloudKindView } from '../../../features/servers/accounts/shapes'
import { SettingsFields, SettingsGroups, settingsBody, settingValues } from '../../parts/adapter-settings'
import { Advanced, Group } from '../../parts/advanced'
import { Columns, SelectField, TextField, useForm, type Values } from '../../parts/form'
import { flattened, isSame, nested } from '../../parts/values'
import { usePerson } from '../../session'

const importDefaults = { mode: 'all', label_selector: null }
const spendDefaults = { monthly_cap: null, confirm_above: '0', currency: null }

/** Form values of an account, or of a new one. */
export const accountValues = (kind: CloudKindView, account: CloudAccountView | null): Values => ({
  name: account?.name ?? kind.title,
  ...settingValues(kind, account?.settings),
  ...flattened('import', account?.import ?? importDefaults),
  ...flattened('spend', account?.spend ?? spendDefaults),
})

/** Empty amounts and texts are not set. */
const part = (prefix: string, values: Values): Values =>
  Object.fromEntries(Object.entries(nested(prefix, values)).map(([name, value]) => [name, value === '' ? null : value]))

/** `spend` in requests. */
export const spendOf = (values: Values): Values => {
  const spend = part('spend', values)
  return { ...spend, confirm_above: spend.confirm_above ?? '0' }
}

/** The request body: what differs from the values before, or from the defaults of a new account. */
export function accountBody(kind: CloudKindView, values: Values, before: Values | null): Values {
  const { mode, ...selector } = part('import', values)
  const wanted = { mode, label_selector: mode === 'selector' ? selector.label_selector : null }
  const imported = before ? part('import', before) : importDefaults
  const spend = before ? spendOf(before) : spendDefaults
  return {
    ...(before === null && { kind: kind.kind }),
    ...(before?.name !== values.name && { name: values.name }),
    ...settingsBody(kind, values, before),
    ...(!isSame(wanted, imported) && { import: wanted }),
    ...(!isSame(spendOf(values), spend) && { spend: spendOf(values) }),
  }
}

interface AccountFieldsProps {
  kind: CloudKindView
  secretsSet?: readonly string[]
  /** Whether the limits for spending are fields, too. */
  withSpend?: boolean
}

/** The fields of an account: its settings, and which servers are added. */
export function AccountFields({ kind, secretsSet, withSpend }: AccountFieldsProps) {
  const { values } = useForm()
  const { canAdminister } = usePerson()
  return (
    <>
      <TextField name="name" label="Name" hint="For example, the name of the project or cluster." />
      <SettingsFields kind={kind} secretsSet={secretsSet} />
      <SelectField
        name="import.mode"
        label="Existing servers"
        hint="Which servers of the account are added to the workspace. Nothing changes at the cloud."
        choices={{ all: 'Add all', selector: 'Add those with matching labels', none: 'Add none' }}
      />
      {values['import.mode'] === 'selector' && (
        <TextField
          name="import.label_selector"
          label="Label selector"
          mono
          placeholder="e.g. env=production,!temporary"
          hint="Comma-separated terms that the labels have to match: key=value, key!=value, key, or !key."
        />
      )}
      <Advanced>
        <SettingsGroups kind={kind} secretsSet={secretsSet} />
        {withSpend && canAdminister && kind.capabilities.has_prices && (
          <Group label="Spending limits">
            <SpendFields />
          </Group>
        )}
      </Advanced>
    </>
  )
}

/** The limits on what can be bought in an account. */
export const SpendFields = () => (
  <>
    <Columns>
      <TextField
        name="spend.monthly_cap"
        label="Monthly cap"
        placeholder="e.g. 50"
        hint="Maximum total price per month of everything in the account. Leave empty for no limit."
      />
      <TextField name="spend.currency" label="Currency" placeholder="e.g. EUR" hint="Required with a cap." />
    </Columns>
    <TextField
      name="spend.confirm_above"
      label="Confirm prices above"
      hint="Requests with a higher price per month have to name the highest price they accept. 0: always."
    />
  </>
)
