import { Type, type Static } from '@sinclair/typebox'
import { Shape } from './shapes'

/** An amount of money, exact: a whole number of minor units such as cents, so that sums are never rounded. */
export interface Money {
  /** Minor units of the currency; at most {@link maxDigits} digits. */
  minor: number
  /** ISO 4217. */
  currency: string
}

const maxDigits = 12

/** Currencies whose minor unit is not a hundredth (ISO 4217, list one): how many decimal places they have. */
const otherDecimals: Readonly<Record<string, number>> = {
  ...Object.fromEntries('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ').map(code => [code, 0])),
  ...Object.fromEntries('BHD IQD JOD KWD LYD OMR TND'.split(' ').map(code => [code, 3])),
  CLF: 4,
  UYW: 4,
}

const currencies = new Set([...Intl.supportedValuesOf('currency'), ...Object.keys(otherDecimals)])

/** Whether a code is a currency of ISO 4217, current or withdrawn. */
export const isCurrency = (code: string): boolean => currencies.has(code)

/** The number of decimal places of amounts in a currency. */
const decimalsOf = (currency: string): number => otherDecimals[currency] ?? 2

/**
 * Parses a decimal number such as `10.37`, without exponents or signs. Zeros after the last decimal place of the currency are ignored.
 * @returns null if it is none, has more decimal places than the currency, or has over 12 digits
 */
export function parseMoney(amount: string, currency: string): Money | null {
  const match = /^(0|[1-9]\d{0,11})(?:\.(\d{1,12}))?$/.exec(amount)
  if (!match || !isCurrency(currency)) return null
  const decimals = decimalsOf(currency)
  const fraction = (match[2] ?? '').replace(/0+$/, '')
  if (fraction.length > decimals) return null
  const digits = match[1]! + fraction.padEnd(decimals, '0')
  return digits.replace(/^0+/, '').length > maxDigits ? null : { minor: Number(digits), currency }
}

/** Formats an amount as a decimal number with all decimal places of its currency. */
export function amountOf({ minor, currency }: Money): string {
  const decimals = decimalsOf(currency)
  if (decimals === 0) return String(minor)
  const digits = String(minor).padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

/** An amount of money in requests and responses. What the pattern can’t express is checked by {@link parseMoney}. */
export const MoneyShape = Shape(
  {
    amount: Type.String({
      pattern: '^(0|[1-9]\\d{0,11})(\\.\\d{1,4})?$',
      'x-rule': 'must be an amount such as 10.37.',
      description: 'Decimal number, with as many decimal places as the currency has.',
    }),
    currency: Type.String({
      pattern: '^[A-Z]{3}$',
      'x-rule': 'must be a three-letter currency code such as EUR.',
      description: 'Currency as an ISO 4217 code.',
    }),
  },
  { $id: 'Money', description: 'An amount of money.', examples: [{ amount: '10.37', currency: 'USD' }] },
)
type MoneyView = Static<typeof MoneyShape>

/** An amount as the API returns it; null stays null. */
export const moneyView = (money: Money | null): MoneyView | null => money && { amount: amountOf(money), currency: money.currency }

/** What is wrong with an amount in a request, as a rule; null if it is valid. */
export function moneyProblem({ amount, currency }: MoneyView): string | null {
  if (!isCurrency(currency)) return `must be in a currency of ISO 4217, not ${currency}.`
  if (parseMoney(amount, currency)) return null
  const decimals = decimalsOf(currency)
  return (amount.split('.')[1] ?? '').replace(/0+$/, '').length > decimals
    ? `must have at most ${decimals} decimal places in ${currency}.`
    : `must have at most ${maxDigits} digits.`
}
