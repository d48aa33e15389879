import { isDeepStrictEqual } from 'node:util'
import { target } from '../../core/audit'
import { jobContext, systemActor } from '../../core/change'
import type { AuditDraft } from '../../core/change-result'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { saveRow } from '../../core/rows'
import type { Settings } from '../../core/sealed-settings'
import { currentRow, type Accounts } from './accounts'
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
