import { isDeepStrictEqual } from 'node:util'
import { target } from '../../core/audit'
import { jobContext, systemActor } from '../../core/change'
import type { AuditDraft, RecordResult } from '../../core/change-result'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { mergePatch } from '../../core/merge-patch'
import { sealedIn } from '../../core/outgoing/signing-secrets'
import { saveRow } from '../../core/rows'
import { secretsOf, settingsColumns, type Settings } from '../../core/sealed-settings'
import { currentRow, openAccountSettings, type Accounts } from './accounts'
import type { AccountRow } from './columns'

/**
 * Stores the settings that the external system replaced during a call, such as a new chat id. Does nothing if the account was deleted or
 * one of these settings was edited since.
 * @param used the account as it was for the call
 * @param replaced null if nothing was replaced
 * @param actor the job
 * @returns the audit events
 */
export async function storeReplacedSettings<R extends AccountRow>(
  tx: Tx,
  hub: Hub,
  accounts: Accounts<R>,
  used: R,
  replaced: Settings | null,
  actor: string,
): Promise<AuditDraft[]> {
  if (replaced === null) return []
  const { rows, actions, view } = accounts
  const row = await currentRow(tx, accounts, used.id)
  if (!row || Object.keys(replaced).some(name => !isDeepStrictEqual(row.settings[name], used.settings[name]))) return []
  const changed: R = await saveRow(tx, { hub }, rows, row, { settings: { ...row.settings, ...replaced } })
  return [
    {
      workspaceId: row.workspaceId,
      action: actions.update,
      actor: systemActor(actor),
      context: jobContext,
      targets: [target(rows.type, row)],
      before: view(row),
      after: view(changed),
      reason: 'The destination reported new settings.',
    },
  ]
}

/**
 * Stores settings, including secrets, that an account exchanged with the external system.
 * @param used the account as it was for the exchange
 * @param replaced null removes a setting
 * @returns the new row; null if the account was updated or deleted meanwhile
 */
export async function storeExchangedSettings<R extends AccountRow & { version: number }>(
  tx: Tx,
  hub: Hub,
  accounts: Accounts<R> & { checkKind: string },
  used: R,
  replaced: Settings,
): Promise<RecordResult<R | null>> {
  const { rows, actions, view } = accounts
  const row = await currentRow(tx, accounts, used.id)
  const kind = accounts.kindOf(used.kind)
  if (!kind || row?.version !== used.version) return { result: null }
  const before = await openAccountSettings(hub, accounts, row, tx)
  const after = mergePatch(before, replaced) as Settings
  const changed: R = await saveRow(tx, { hub }, rows, row, {
    ...(await settingsColumns(tx, hub, sealedIn(rows.table, row, 'secrets_sealed'), kind, after)),
  })
  return {
    result: changed,
    audits: [
      {
        workspaceId: row.workspaceId,
        action: actions.update,
        actor: systemActor(accounts.checkKind),
        context: jobContext,
        targets: [target(rows.type, row)],
        before: { ...view(row), secret: secretsOf(kind, before) },
        after: { ...view(changed), secret: secretsOf(kind, after) },
        reason: 'The one-time credentials were exchanged.',
      },
    ],
  }
}
