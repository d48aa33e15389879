import { sql } from 'drizzle-orm'
import { accountColumns, checkColumns } from '../../adapters/accounts/columns'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import type { Money } from '../../core/money'
import type { RegistrarFailure } from './registrar'
import { registrarAccountMembers } from './shapes'

/** Accounts at registrars, and how to reach them. */
export const registrarAccounts = table(
  'registrar_accounts',
  {
    ...accountColumns(),
    ...checkColumns<RegistrarFailure>(),
    ...memberColumns(registrarAccountMembers),
    // From the last successful check.
    currency: text('currency'),
    balance: json<Money | null>('balance'),
    // Limits of what can be spent. Without a monthly limit, nothing can be bought.
    monthlyLimit: json<Money | null>('monthly_limit'),
    orderLimit: json<Money | null>('order_limit'),
    // When all domains were read last.
    lastSyncAt: time('last_sync_at'),
    // When they are read next; null while the account has not been checked, or its credentials are wrong.
    nextSyncAt: time('next_sync_at'),
    syncFailures: int('sync_failures').notNull(),
    syncError: json<{ code: RegistrarFailure; detail: string } | null>('sync_error'),
    // Domains in the last list that was believed.
    listedCount: int('listed_count').notNull(),
    // Since when lists have under half of that; null if they don’t.
    shrunkSince: time('shrunk_since'),
    // Domains in it that could not be added, because the plan doesn’t allow more.
    leftOutCount: int('left_out_count').notNull(),
    // Whether the credit does not suffice for the renewals of the next 30 days.
    isBalanceLow: flag('is_balance_low').notNull(),
  },
  t => [
    uniqueIndex('registrar_accounts_name').on(t.workspaceId, t.name),
    index('registrar_accounts_workspace').on(t.workspaceId, t.id),
    index('registrar_accounts_next_sync')
      .on(t.nextSyncAt)
      .where(sql`next_sync_at is not null`),
  ],
)

/** Names that were added to the workspace because an account has them, so that those removed here are not added again. */
export const registrarAccountNames = table(
  'registrar_account_names',
  {
    accountId: text('account_id')
      .notNull()
      .references(() => registrarAccounts.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
  },
  t => [primaryKey({ columns: [t.accountId, t.name] })],
)
