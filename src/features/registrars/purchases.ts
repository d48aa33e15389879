import { moneyProblem, parseMoney, type Money } from '../../core/money'
import type { Ctx } from '../../core/ctx'
import { invalid, permissionMissing, type FieldProblem } from '../../core/problem'
import type { PurchasesInput } from './shapes'

/** A token that can only buy must not be able to raise its own limit. @throws Problem 403 */
export function requirePurchasesAccess(ctx: Ctx): void {
  if (!ctx.permissions.has('account.write')) throw permissionMissing('account.write')
}

/** The columns of an account that limits in a request set. @throws Problem 422 */
export function limitColumns({ monthly_limit, order_limit }: PurchasesInput): {
  monthlyLimit?: Money | null
  orderLimit?: Money | null
} {
  const problems: FieldProblem[] = []
  const moneyAt = (name: string, input: { amount: string; currency: string } | null | undefined) => {
    const problem = input ? moneyProblem(input) : null
    if (problem !== null) problems.push({ pointer: `#/purchases/${name}`, code: 'format', detail: problem })
    return input && parseMoney(input.amount, input.currency)
  }
  const monthlyLimit = moneyAt('monthly_limit', monthly_limit)
  const orderLimit = moneyAt('order_limit', order_limit)
  if (problems.length > 0) throw invalid(problems)
  return { ...(monthlyLimit !== undefined && { monthlyLimit }), ...(orderLimit !== undefined && { orderLimit }) }
}

/** Refuses limits in another currency than the account has, or than each other. @throws Problem 422 */
export function requireCurrency(
  limits: { monthlyLimit?: Money | null; orderLimit?: Money | null },
  currency: string | null,
): void {
  const wanted = currency ?? limits.monthlyLimit?.currency
  const problems = (['monthlyLimit', 'orderLimit'] as const).flatMap((property): FieldProblem[] => {
    const limit = limits[property]
    if (!limit || wanted === undefined || limit.currency === wanted) return []
    const name = property === 'monthlyLimit' ? 'monthly_limit' : 'order_limit'
    return [
      { pointer: `#/purchases/${name}/currency`, code: 'currency', detail: `must be ${wanted}, the currency of the account.` },
    ]
  })
  if (problems.length > 0) throw invalid(problems)
}
