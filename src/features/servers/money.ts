import { Type } from '@sinclair/typebox'
import { instant } from '../../core/clock'
import { Nullable } from '../../core/shapes'
import type { Price } from './clouds/cloud'

// Amounts are integers of millionths, so that sums are exact.

const digits = 6
const pattern = `^(0|[1-9]\\d{0,8})(\\.\\d{1,${digits}})?$`

/** An amount of money in requests, such as `4.51`. */
export const Amount = (description: string) =>
  Type.String({ pattern, 'x-rule': 'must be an amount such as 4.51, with at most six decimal places.', description })

/** A currency in requests. */
export const Currency = (description: string) =>
  Type.String({ pattern: '^[A-Z]{3}$', 'x-rule': 'must be a three-letter currency code such as EUR.', description })

/** An amount in responses; null if it is not known or doesn’t apply. */
export const NullableAmount = (description: string) => Nullable(Type.String(), { description })

/** Parses an amount that {@link Amount} accepts. */
export function microsOf(amount: string): number {
  const [whole, fraction = ''] = amount.split('.')
  return Number(whole) * 10 ** digits + Number(fraction.padEnd(digits, '0'))
}

/** Formats an amount with at least two decimal places. */
export function amountOf(micros: number): string {
  const text = String(Math.round(micros)).padStart(digits + 1, '0')
  const fraction = text.slice(-digits).replace(/0+$/, '')
  return `${text.slice(0, -digits)}.${fraction.padEnd(2, '0')}`
}

/** Formats an amount; null stays null. */
export const nullableAmount = (micros: number | null): string | null => (micros === null ? null : amountOf(micros))

/** The columns of a price. @param at when it was read (ms UTC) */
export const priceColumns = (price: Price | null, at: number | null) => ({
  priceMicros: price?.monthlyMicros ?? null,
  priceCurrency: price?.currency ?? null,
  priceAt: price ? at : null,
})

/** The price of a row. */
export const priceOfRow = (row: { priceMicros: number | null; priceCurrency: string | null; priceAt: number | null }) => ({
  monthly: nullableAmount(row.priceMicros),
  currency: row.priceCurrency,
  gross: true,
  known: row.priceMicros !== null,
  as_of: instant(row.priceAt),
})
