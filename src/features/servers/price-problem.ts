import { Problem } from '../../core/problem'
import type { Price } from './clouds/cloud'
import { amountOf } from './money'

/** Why something may not be bought at its current price; null if it may. */
export function priceProblem(price: Price | null, maxMicros: number, currency: string | null): Problem | null {
  if (price === null) return new Problem('price_unknown', 'The price is not known anymore. Nothing was bought.')
  if (price.currency !== currency)
    return new Problem('price_unknown', `The price is now in ${price.currency}, not in ${currency}. Nothing was bought.`)
  if (price.monthlyMicros <= maxMicros) return null
  return new Problem(
    'price_above_maximum',
    `The price rose to ${amountOf(price.monthlyMicros)} ${price.currency} per month, above the maximum of ${amountOf(maxMicros)}. Nothing was bought.`,
    { fields: { price: amountOf(price.monthlyMicros), maximum: amountOf(maxMicros), currency: price.currency } },
  )
}
