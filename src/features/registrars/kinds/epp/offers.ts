import { childOf, childrenOf, childText, type XmlElement } from '../../../../adapters/xml'
import { isCurrency, parseMoney, type Money } from '../../../../core/money'
import type { Offer } from '../../registrar'
import { sentenceOf } from '../responses'
import { ns } from './commands'
import { invalidResponse, type EppResponse } from './responses'

/**
 * Which names can be registered, with the prices of the fee extension (RFC 8748), if the response has them.
 * @param names that were asked for
 * @throws RegistrarError `invalid_response`
 */
export function offersOf({ data, extension }: EppResponse, names: readonly string[]): Offer[] {
  const checked = childrenOf(childOf(data, 'chkData', ns.domain), 'cd')
  const available = new Map(checked.map(one => [nameOf(childOf(one, 'name')), one]))
  const fees = childOf(extension, 'chkData', ns.fee)
  const priced = new Map(childrenOf(fees, 'cd').map(one => [nameOf(childOf(one, 'objID')), one]))
  const currency = childText(fees, 'currency') ?? ''
  return names.map(name => {
    const found = available.get(name)
    if (!found) throw invalidResponse(`lacks ${name}`)
    const isAvailable = booleanOf(childOf(found, 'name')?.attributes.get('avail'))
    if (isAvailable === null) throw invalidResponse(`does not report whether ${name} is available`)
    const reason = childText(found, 'reason')
    return {
      name,
      available: isAvailable,
      reason: isAvailable || reason === null ? null : sentenceOf(reason),
      ...pricesOf(priced.get(name), isCurrency(currency) ? currency : null),
    }
  })
}

type Prices = Omit<Offer, 'name' | 'available' | 'reason'>

function pricesOf(element: XmlElement | undefined, currency: string | null): Prices {
  const commands = new Map(childrenOf(element, 'command').map(one => [one.attributes.get('name'), one]))
  const priceOf = (command: string) => (currency === null ? null : totalOf(commands.get(command), currency))
  const create = commands.get('create')
  const years = childOf(create, 'period')
  const isInYears = years?.attributes.get('unit') === 'y' && /^([1-9]|10)$/.test(years.text)
  return {
    price: priceOf('create'),
    renewalPrice: priceOf('renew'),
    restorePrice: priceOf('restore'),
    transferPrice: priceOf('transfer'),
    premium: /premium/i.test(childText(element, 'class') ?? '') || booleanOf(create?.attributes.get('standard')) === false,
    minYears: isInYears ? Number(years.text) : 1,
  }
}

/** Fees of a command less its credits, which are negative. Null if there are none, or if one can’t be read. */
function totalOf(command: XmlElement | undefined, currency: string): Money | null {
  const fees = childrenOf(command, 'fee').map(one => parseMoney(one.text, currency))
  const credits = childrenOf(command, 'credit').map(one => parseMoney(one.text.replace(/^-/, ''), currency))
  if (fees.length === 0) return null
  let minor = 0
  for (const [sign, amounts] of [[1, fees] as const, [-1, credits] as const])
    for (const amount of amounts) {
      if (amount === null) return null
      minor += sign * amount.minor
    }
  return minor < 0 || !Number.isSafeInteger(minor) ? null : { minor, currency }
}

const nameOf = (element: XmlElement | null): string => (element?.text ?? '').toLowerCase()

/** A boolean of XML Schema. */
function booleanOf(text: string | undefined): boolean | null {
  if (text === '1' || text === 'true') return true
  return text === '0' || text === 'false' ? false : null
}
