import { accountView } from '../../../adapters/accounts/accounts'
import { checkView } from '../../../adapters/accounts/check'
import { instant } from '../../../core/clock'
import { editableView, memberView } from '../../../core/members'
import { cloudKindOf } from '../clouds'
import { nullableAmount } from '../money'
import { cloudAccountMembers, type CloudAccountView } from './shapes'
import type { cloudAccounts } from './tables'

export type CloudAccountRow = typeof cloudAccounts.$inferSelect

/** An account, as far as the views of its servers depend on it. */
export type AccountState = Pick<CloudAccountRow, 'id' | 'kind' | 'syncedAt' | 'syncFailures' | 'lacks'>

/** What the servers of an account add up to. */
export interface AccountTotals {
  servers: number
  unpriced: number
  micros: number
  currency: string | null
}

export const emptyTotals: AccountTotals = { servers: 0, unpriced: 0, micros: 0, currency: null }

/** Converts an account to its API form, with only the names of its secrets. */
export function cloudAccountView(row: CloudAccountRow, totals: AccountTotals): CloudAccountView {
  const hasPrices = cloudKindOf(row.kind)?.capabilities.hasPrices ?? false
  return {
    ...accountView(row),
    ...checkView(row),
    ...memberView(cloudAccountMembers, row),
    sync: {
      finished_at: instant(row.syncedAt),
      next_at: instant(row.nextSyncAt),
      failures_in_a_row: row.syncFailures,
      last_error: row.syncError,
    },
    rate: row.rate && { limit: row.rate.limit, remaining: row.rate.remaining, resets_at: instant(row.rate.resetsAt) },
    counts: { servers: totals.servers, unclaimed: row.unclaimed },
    committed: {
      monthly: hasPrices ? nullableAmount(totals.micros + row.unclaimedMicros) : null,
      currency: hasPrices ? (totals.currency ?? row.spend.currency) : null,
      unpriced: hasPrices ? totals.unpriced : 0,
    },
    ...editableView(row),
  }
}
