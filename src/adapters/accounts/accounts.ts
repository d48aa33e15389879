import { isDeepStrictEqual } from 'node:util'
import { eq } from 'drizzle-orm'
import { refuseOverLimit } from '../../access/plans'
import { target } from '../../core/audit'
import type { AuditAction } from '../../core/audit-actions'
import { change } from '../../core/change'
import type { Consequences } from '../../core/change-result'
import type { Ctx } from '../../core/ctx'
import { forUpdate } from '../../core/db/dialect'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import type { JobDraft } from '../../core/jobs/draft'
import { sealedIn } from '../../core/outgoing/signing-secrets'
import { conflict } from '../../core/problem'
import { changedRow, insertRow, lockRow, removeRow, saveRow, uniqueName } from '../../core/rows'
import {
  destinationChanged,
  openSettings,
  patchSettings,
  secretsOf,
  settingsColumns,
  validateSettings,
  type Settings,
} from '../../core/sealed-settings'
import type { rowsOf } from '../../registry'
import type { AdapterKind } from '../adapter'
import type { AccountRow } from './columns'

// `any` here and in check.ts: drizzle’s types of a table don’t survive being a type parameter. The exported functions are typed by row
// and view.

/** A resource whose rows connect a workspace to external systems, each with a kind, settings and secrets. */
export interface Accounts<R extends AccountRow = any, V extends object = any, K extends AdapterKind = any> {
  rows: ReturnType<typeof rowsOf<any>>
  actions: Record<'create' | 'update' | 'delete', AuditAction>
  /** Undefined for a kind that only another version of Bailiwick supports. */
  kindOf(kind: string): K | undefined
  /** Columns that are reset when the settings change, and their values in a new account. @param before null for a new account */
  reset(before: R | null): Partial<R>
  view(row: R): V
}

/** An update of an account. */
interface AccountUpdate<R extends AccountRow> {
  before: R
  settings: Settings
  settingsChanged: boolean
  /** Whether it changes where secrets are sent. */
  destinationChanged: boolean
}

/** The first fields of an account as the API returns it. Secrets are only listed by name. */
export const accountView = ({ id, kind, name, settings, secretNames }: AccountRow) => ({
  id,
  kind: kind as any,
  name,
  settings,
  secrets_set: secretNames,
})

/** The current row of an account of any workspace, locked until the transaction ends; undefined if it was deleted. */
export async function currentRow<R extends AccountRow>(
  tx: Tx,
  { rows: { table } }: Accounts<R>,
  id: string,
): Promise<R | undefined> {
  const [row] = await forUpdate(tx.select().from(table).where(eq(table.id, id)))
  return row as R | undefined
}

/** Decrypts the settings of an account. @throws DecryptionFailed */
export const openAccountSettings = (
  hub: Hub,
  { rows: { table } }: Pick<Accounts, 'rows'>,
  row: Pick<AccountRow, 'id' | 'workspaceId' | 'settings' | 'secretsSealed'>,
  read?: Reader,
): Promise<Settings> => openSettings(hub, sealedIn(table, row, 'secrets_sealed'), row, read)

/**
 * Creates an account, without contacting the external system.
 * @param columns of the table, in addition to those of every account
 * @param vet checks the settings beyond the rules of their kind
 * @throws Problem 422, 409 for a duplicate name or too many accounts
 */
export async function createAccount<R extends AccountRow, V extends object>(
  ctx: Ctx,
  accounts: Accounts<R, V>,
  input: { kind: string; name: string; settings: Settings },
  columns: Partial<R>,
  { vet, jobs }: { vet?(settings: Settings): Promise<void>; jobs?(row: R): JobDraft[] } = {},
): Promise<V> {
  const { rows, view } = accounts
  const kind = accounts.kindOf(input.kind)!
  const settings = validateSettings(kind, input.settings)
  await vet?.(settings)
  return await uniqueName(rows, input.name, () =>
    change(ctx, accounts.actions.create, async tx => {
      await refuseOverLimit(tx, ctx, rows.type)
      const own = { id: newId(rows.prefix), workspaceId: ctx.workspaceId }
      const row: R = await insertRow(tx, ctx, rows, {
        ...own,
        ...accounts.reset(null),
        ...columns,
        kind: kind.kind,
        name: input.name,
        ...(await settingsColumns(tx, ctx.hub, sealedIn(rows.table, own, 'secrets_sealed'), kind, settings)),
      })
      return {
        ...(await changedRow(rows, null, row, view)),
        after: { ...view(row), secret: secretsOf(kind, settings) },
        jobs: jobs?.(row) ?? [],
      }
    }),
  )
}

/**
 * Updates an account. Secrets that the patch omits are kept, but not sent to another destination.
 * @param columnsOf returns the columns to change in addition to name and settings
 * @param vet checks the update before it is written; `done` returns the jobs that follow from it
 * @throws Problem 404, 409 for a duplicate name, 412, 422
 */
export async function updateAccount<R extends AccountRow, V extends object>(
  ctx: Ctx,
  accounts: Accounts<R, V>,
  id: string,
  patch: { name?: string; settings?: Settings },
  columnsOf: () => Partial<R>,
  hooks: {
    vet?(tx: Tx, update: AccountUpdate<R>): Promise<void>
    done(tx: Tx, update: AccountUpdate<R>, after: R): Promise<JobDraft[]>
  },
): Promise<V> {
  const { rows, view } = accounts
  return await uniqueName(rows, patch.name ?? '', () =>
    change(ctx, accounts.actions.update, async tx => {
      const before: R = await lockRow(tx, ctx, rows, id)
      const kind = accounts.kindOf(before.kind)
      if (!kind) throw conflict(unsupportedKind(accounts, before.kind))
      const columns = columnsOf()
      const current = await openAccountSettings(ctx.hub, accounts, before, tx)
      const settings = patch.settings ? patchSettings(kind, current, patch.settings) : current
      const settingsChanged = !isDeepStrictEqual(settings, current)
      const moved = destinationChanged(kind, current, settings)
      const update = { before, settings, settingsChanged, destinationChanged: moved }
      await hooks.vet?.(tx, update)
      const after: R = await saveRow(tx, ctx, rows, before, {
        name: patch.name,
        ...columns,
        ...(settingsChanged && {
          ...(await settingsColumns(tx, ctx.hub, sealedIn(rows.table, before, 'secrets_sealed'), kind, settings)),
          ...accounts.reset(before),
        }),
      })
      const changed = await changedRow(rows, before, after, view)
      if (after === before) return changed
      return {
        ...changed,
        target: target(rows.type, before),
        before: { ...view(before), secret: secretsOf(kind, current) },
        after: { ...view(after), secret: secretsOf(kind, settings) },
        jobs: await hooks.done(tx, update, after),
      }
    }),
  )
}

/**
 * Deletes an account and its secrets. Changes nothing at the external system.
 * @param prepare deletes what belongs to the account, and returns the consequences
 * @throws Problem 404, 412
 */
export async function deleteAccount<R extends AccountRow>(
  ctx: Ctx,
  accounts: Accounts<R>,
  id: string,
  prepare: (tx: Tx) => Promise<Consequences | void>,
): Promise<void> {
  const { rows, view } = accounts
  await change(ctx, accounts.actions.delete, async tx => {
    const row: R = await lockRow(tx, ctx, rows, id)
    const consequences = await prepare(tx)
    await removeRow(tx, rows, row)
    return { result: undefined, target: target(rows.type, row), before: view(row), ...consequences }
  })
}

export const unsupportedKind = ({ rows }: Pick<Accounts, 'rows'>, kind: string): string =>
  `This version of Bailiwick doesn’t support ${rows.plural} of kind ${kind}.`
