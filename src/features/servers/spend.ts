import { and, eq, isNull, ne, sum } from 'drizzle-orm'
import { forUpdate } from '../../core/db/dialect'
import type { Reader, Tx } from '../../core/db/transaction'
import type { NoticeDraft } from '../../core/notices'
import { conflict, invalid, notFound, Problem, type FieldProblem } from '../../core/problem'
import { cloudAccounts } from './accounts/tables'
import type { CloudAccountRow } from './accounts/view'
import { cloudKindOf } from './clouds'
import type { Price } from './clouds/cloud'
import { amountOf, microsOf } from './money'
import type { AcceptedPrice } from './price-shapes'
import { snapshots } from './snapshots/tables'
import { servers } from './tables'
import { volumes } from './volumes/tables'

/** Locks an account until the transaction ends, so that purchases in it take turns. @throws Problem 404 if it was deleted */
export async function lockAccount(tx: Tx, id: string): Promise<CloudAccountRow> {
  const [row] = await forUpdate(tx.select().from(cloudAccounts).where(eq(cloudAccounts.id, id)))
  if (!row) throw notFound('cloud account')
  return row
}

/** The price per month of everything in an account, in millionths: also of volumes, snapshots, unclaimed servers, and purchases in progress. */
export async function committedMicros(
  read: Reader,
  account: Pick<CloudAccountRow, 'id' | 'unclaimedMicros'>,
  except: string | null = null,
): Promise<number> {
  const [row] = await read
    .select({ micros: sum(servers.priceMicros).mapWith(Number) })
    .from(servers)
    .where(
      and(eq(servers.accountId, account.id), isNull(servers.deletedAt), except === null ? undefined : ne(servers.id, except)),
    )
  return (row?.micros ?? 0) + account.unclaimedMicros + (await storedMicros(read, account.id, except))
}

/** The price per month of the volumes and snapshots in an account. */
async function storedMicros(read: Reader, accountId: string, except: string | null): Promise<number> {
  let micros = 0
  for (const table of [volumes, snapshots]) {
    const [row] = await read
      .select({ micros: sum(table.priceMicros).mapWith(Number) })
      .from(table)
      .where(and(eq(table.accountId, accountId), except === null ? undefined : ne(table.id, except)))
    micros += row?.micros ?? 0
  }
  return micros
}

/** What is wrong with what a request accepts to pay: a price without its currency. @param at JSON pointer of it */
export const acceptedProblems = ({ max_monthly_price: max, currency }: AcceptedPrice, at = '#'): FieldProblem[] =>
  max != null && currency == null
    ? [{ pointer: `${at}/currency`, code: 'required', detail: 'is required with `max_monthly_price`, such as EUR.' }]
    : []

/** @throws Problem 422 for a price without its currency */
export function requireCurrency(accepted: AcceptedPrice, at = '#'): void {
  const problems = acceptedProblems(accepted, at)
  if (problems.length > 0) throw invalid(problems)
}

/**
 * Refuses a purchase that is not covered by what the caller accepts and by the limits of the account.
 * @param account locked
 * @param price null if it is not known
 * @param replaces id of the server or volume whose current price it replaces; null for a new one. `at`: JSON pointer of what is accepted
 * @returns the notice that most of the cap is used, if the purchase reaches that
 * @throws Problem 403 `spend_cap_reached`; 409 `price_unknown`, `price_above_maximum`; 422
 */
export async function requireSpend(
  read: Reader,
  account: CloudAccountRow,
  price: Price | null,
  accepted: AcceptedPrice,
  { replaces = null, at = '#' }: { replaces?: string | null; at?: string } = {},
): Promise<NoticeDraft[]> {
  if (!cloudKindOf(account.kind)?.capabilities.hasPrices) return []
  if (price === null) {
    if (account.spend.monthly_cap !== null)
      throw new Problem('price_unknown', 'The price is not known, so it can’t be compared with the spending cap of the account.')
    if (accepted.accept_unknown_price) return []
    throw new Problem('price_unknown', 'The price is not known. To buy anyway, send `accept_unknown_price: true`.')
  }
  requireAccepted(account, price, accepted, at)
  const { monthly_cap: cap, currency } = account.spend
  if (cap === null) return []
  if (currency !== price.currency)
    throw conflict(`The spending cap is in ${currency}, but the price is in ${price.currency}. Change the currency of the cap.`)
  const committed = await committedMicros(read, account, replaces)
  const total = committed + price.monthlyMicros
  const max = microsOf(cap)
  if (total > max)
    throw new Problem(
      'spend_cap_reached',
      `The account may cost up to ${cap} ${currency} per month. It costs ${amountOf(committed)} ${currency}, and this would add ${amountOf(price.monthlyMicros)} ${currency}.`,
      { fields: { cap, committed: amountOf(committed), added: amountOf(price.monthlyMicros), currency } },
    )
  return committed * 100 < max * nearPercent && total * 100 >= max * nearPercent ? [nearNotice(account, total, cap)] : []
}

/**
 * Whether a price that rose while an action waited may be paid, within what was accepted. The caller stores it.
 * @param replaces id of what costs it
 * @returns notices, or why it may not be paid
 */
export async function allowRise(
  tx: Tx,
  accountId: string,
  price: Price,
  maxMicros: number,
  replaces: string,
): Promise<NoticeDraft[] | Problem> {
  const accepted = { max_monthly_price: amountOf(maxMicros), currency: price.currency }
  try {
    return await requireSpend(tx, await lockAccount(tx, accountId), price, accepted, { replaces })
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

const nearPercent = 80

const nearNotice = (account: CloudAccountRow, total: number, cap: string): NoticeDraft => ({
  workspaceId: account.workspaceId,
  kind: 'cloud_account.spend_near',
  resource: { type: 'cloud_account', id: account.id, name: account.name },
  text: `The cloud account ${account.name} costs ${amountOf(total)} ${account.spend.currency} per month. Its cap is ${cap} ${account.spend.currency}.`,
  details: { committed: amountOf(total), cap, currency: account.spend.currency },
  dedupKey: account.id,
})

/** @throws Problem 409 `price_above_maximum`, 422 */
function requireAccepted({ spend }: CloudAccountRow, price: Price, accepted: AcceptedPrice, at: string): void {
  const { max_monthly_price: maximum, currency } = accepted
  const shown = `${amountOf(price.monthlyMicros)} ${price.currency}`
  if (maximum === undefined) {
    if (price.monthlyMicros <= microsOf(spend.confirm_above)) return
    throw invalid([
      {
        pointer: `${at}/max_monthly_price`,
        code: 'required',
        detail: `is required, because the price of ${shown} per month is above ${spend.confirm_above}. Send the highest price that you accept.`,
      },
    ])
  }
  if (currency !== undefined && currency !== price.currency)
    throw invalid([
      { pointer: `${at}/currency`, code: 'currency', detail: `must be ${price.currency}, the currency of the price.` },
    ])
  if (price.monthlyMicros > microsOf(maximum))
    throw new Problem('price_above_maximum', `The price is ${shown} per month, above the maximum of ${maximum}.`, {
      fields: { price: amountOf(price.monthlyMicros), maximum, currency: price.currency },
    })
}
