import { accountView } from '../../adapters/accounts/accounts'
import { checkView } from '../../adapters/accounts/check'
import { instant } from '../../core/clock'
import { editableView, memberView } from '../../core/members'
import { moneyView } from '../../core/money'
import { registrarKindOf } from './kinds'
import { registrarAccountMembers, type RegistrarAccountView } from './shapes'
import type { registrarAccounts } from './tables'

export type RegistrarAccountRow = typeof registrarAccounts.$inferSelect

/** The currency of an account; null if it is not known yet. */
export const currencyOf = ({ kind, currency }: Pick<RegistrarAccountRow, 'kind' | 'currency'>): string | null =>
  registrarKindOf(kind)?.caps.currency ?? currency

/** Converts an account to its API form, with only the names of its secrets. */
export const registrarAccountView = (row: RegistrarAccountRow): RegistrarAccountView => ({
  ...accountView(row),
  ...checkView(row),
  ...memberView(registrarAccountMembers, row),
  capabilities: [...(registrarKindOf(row.kind)?.caps.capabilities ?? [])],
  currency: currencyOf(row),
  balance: moneyView(row.balance),
  purchases: { monthly_limit: moneyView(row.monthlyLimit), order_limit: moneyView(row.orderLimit) },
  domain_count: row.listedCount,
  last_sync_at: instant(row.lastSyncAt),
  next_sync_at: instant(row.nextSyncAt),
  sync_error: row.syncError,
  ...editableView(row),
})
