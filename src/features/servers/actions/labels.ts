import type { ChangeResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import type { ActionView } from '../../actions/shapes'
import type { CloudAccountRow } from '../accounts/view'
import { cloudKindOf } from '../clouds'
import { isLabeled, type LabelChange } from '../clouds/label-change'
import { hasLostMark } from '../clouds/lost-mark'
import { labelChangeOf, type ServerRow } from '../view'
import { plainInput, started } from './start'
import { verbRules } from './verbs'

/** Whether the labels or the mark of a server that was created here differ from those at its cloud, and can be stored there now. */
export function needsLabels(row: ServerRow, { kind, lacks }: Pick<CloudAccountRow, 'kind' | 'lacks'>): boolean {
  return (
    row.origin === 'made' &&
    row.cloud !== null &&
    row.providerRef !== null &&
    row.actionId === null &&
    cloudKindOf(kind)?.capabilities.verbs.includes('set_labels') === true &&
    !lacks.includes('set_labels') &&
    verbRules.set_labels.possibleIn.includes(row.status) &&
    (!isLabeled(row.cloud.labels, labelChangeOf(row)) || hasLostMark(row.id, row.cloud, kind))
  )
}

/** Starts the action that stores the labels of a server at its cloud. @param row locked */
export async function startSetLabels(
  tx: Tx,
  by: Pick<Ctx, 'hub' | 'workspaceId' | 'actor'>,
  row: ServerRow,
  account: CloudAccountRow,
): Promise<ChangeResult<ActionView>> {
  const labels: LabelChange = labelChangeOf(row)
  const input = {
    ...plainInput,
    verb: 'set_labels' as const,
    command: { verb: 'set_labels' as const, labels, mark: row.id },
    statusBefore: row.status,
  }
  return await started(tx, by, row, account, { input, columns: {}, notices: [] })
}
