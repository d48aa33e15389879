import type { RegistrarAccountView } from '../../../features/registrars/shapes'
import { Button } from '../../parts/button'
import { TextField, type Values } from '../../parts/form'
import { openForm } from '../../parts/open-dialog'
import { Card, Facts } from '../../parts/page'
import { usePerson } from '../../session'
import { invalidates, moneyText } from './accounts'

/** What can be bought in an account. */
export function PurchaseLimits({ account }: { account: RegistrarAccountView }) {
  const { canAdminister } = usePerson()
  const { monthly_limit: monthly, order_limit: order } = account.purchases
  const currency = account.currency ?? monthly?.currency ?? order?.currency ?? null
  const edit = () =>
    openForm<RegistrarAccountView>({
      title: 'Edit purchase limits',
      submitLabel: 'Save changes',
      initial: { monthly_limit: monthly?.amount ?? '', order_limit: order?.amount ?? '', currency: currency ?? '' },
      call: values => ({
        method: 'PATCH',
        path: `/registrar-accounts/${account.id}`,
        ifMatch: account.version,
        body: { purchases: { monthly_limit: limitOf(values, 'monthly_limit'), order_limit: limitOf(values, 'order_limit') } },
      }),
      send: { toast: 'Purchase limits saved', invalidates },
      fields: <LimitFields currency={account.currency} />,
    })
  return (
    <Card
      title="Purchases"
      actions={
        canAdminister && (
          <Button small onClick={edit}>
            Edit limits
          </Button>
        )
      }
    >
      <Facts
        rows={[
          ['Credit', account.balance && moneyText(account.balance)],
          ['Monthly limit', monthly ? moneyText(monthly) : 'Nothing can be bought'],
          ['Limit per order', order ? moneyText(order) : 'None'],
        ]}
      />
      <p className="mt-3 text-muted">This version can’t buy anything yet. The limits will apply to all orders.</p>
    </Card>
  )
}

/** An empty amount is no limit. */
const limitOf = (values: Values, name: string) =>
  values[name] === '' ? null : { amount: values[name], currency: values.currency }

const LimitFields = ({ currency }: { currency: string | null }) => (
  <>
    <TextField
      name="monthly_limit"
      label={currency === null ? 'Monthly limit' : `Monthly limit in ${currency}`}
      placeholder="e.g. 100"
      hint="Most that orders can cost in a calendar month (UTC). Leave empty to turn purchases off."
    />
    <TextField
      name="order_limit"
      label={currency === null ? 'Limit per order' : `Limit per order in ${currency}`}
      placeholder="e.g. 25"
      hint="Most that a single order can cost. Leave empty if only the monthly limit applies."
    />
    {currency === null && <TextField name="currency" label="Currency" placeholder="e.g. EUR" hint="Currency of the account." />}
  </>
)
