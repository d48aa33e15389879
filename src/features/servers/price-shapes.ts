import { Type } from '@sinclair/typebox'
import { Nullable, NullableInstant, Shape } from '../../core/shapes'
import { Amount, Currency, NullableAmount } from './money'

/** What a request accepts to pay. */
export const spendMembers = {
  max_monthly_price: Type.Optional(
    Amount('Highest price per month to accept. Required above the `confirm_above` of the cloud account.'),
  ),
  currency: Type.Optional(Currency('Currency of `max_monthly_price`. Required with it.')),
  accept_unknown_price: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether to buy even if the price is not known.' }),
  ),
}
export interface AcceptedPrice {
  max_monthly_price?: string
  currency?: string
  accept_unknown_price?: boolean
}

/** A price in responses. */
export const PriceView = Shape(
  {
    monthly: NullableAmount('Price per month; null if not known or free.'),
    currency: Nullable(Type.String(), { description: 'Currency; null if there is no price.' }),
    gross: Type.Boolean({ description: 'Whether taxes are included.' }),
    known: Type.Boolean({ description: 'Whether the price is known. Servers on your own hardware have no price.' }),
    as_of: NullableInstant({ description: 'When the price was read; null if there is none.' }),
  },
  { $id: 'ServerPrice', description: 'Price of a server, volume, or snapshot.' },
)
