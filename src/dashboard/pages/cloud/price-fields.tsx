import { CheckboxField, Columns, TextField, type Values } from '../../parts/form'

/** What to accept as the price. @param prefix of the names of the fields */
export const PriceFields = ({ prefix = '' }: { prefix?: string }) => (
  <>
    <Columns>
      <TextField
        name={`${prefix}max_monthly_price`}
        label="Maximum price per month"
        placeholder="e.g. 1.00"
        hint="Nothing is bought if it costs more. Not needed on your own hardware."
      />
      <TextField name={`${prefix}currency`} label="Currency" placeholder="e.g. EUR" />
    </Columns>
    <CheckboxField name={`${prefix}accept_unknown_price`} label="Buy it even if the price is not known" />
  </>
)

/** Initial values of these fields. */
export const noPrice = (prefix = '') => ({
  [`${prefix}max_monthly_price`]: '',
  [`${prefix}currency`]: '',
  [`${prefix}accept_unknown_price`]: false,
})

/** What the values of these fields accept. */
export const acceptedIn = ({ max_monthly_price: max, currency, accept_unknown_price: unknown }: Values): Values => ({
  ...(max ? { max_monthly_price: max, ...(currency ? { currency } : {}) } : {}),
  ...(unknown === true && { accept_unknown_price: true }),
})
