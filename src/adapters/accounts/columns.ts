import type { BuildColumns, ColumnBuilderBase, InferModelFromColumns } from 'drizzle-orm'
import { resourceColumns } from '../../access/tables'
import { int, json, text, time } from '../../core/db/columns'

/** The columns of every table of accounts. */
export const accountColumns = () => ({
  ...resourceColumns(),
  kind: text('kind').notNull(),
  name: text('name').notNull(),
  // Settings of its kind, without secrets.
  settings: json<Record<string, unknown>>('settings').notNull(),
  // Encrypted JSON object of all secrets by path; null if there are none.
  secretsSealed: text('secrets_sealed'),
  secretNames: json<string[]>('secret_names').notNull(),
})

export const accountStates = ['ok', 'failing', 'unknown'] as const

/** The columns of accounts that are checked. `F` are the codes of failures. */
export const checkColumns = <F extends string>() => ({
  state: text('state', { enum: [...accountStates] }).notNull(),
  // Result of the last successful check.
  detail: text('detail'),
  warnings: json<string[]>('warnings').notNull(),
  consecutiveFailures: int('consecutive_failures').notNull(),
  lastCheckedAt: time('last_checked_at'),
  lastOkAt: time('last_ok_at'),
  lastError: json<{ code: F; detail: string } | null>('last_error'),
})

type Row<C extends Record<string, ColumnBuilderBase>> = InferModelFromColumns<BuildColumns<'accounts', C, 'sqlite'>>
export type AccountRow = Row<ReturnType<typeof accountColumns>>
export type CheckedRow<F extends string> = AccountRow & Row<ReturnType<typeof checkColumns<F>>>
