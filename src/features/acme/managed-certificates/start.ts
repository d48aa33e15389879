import type { ChangeResult, RecordResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { saveRow } from '../../../core/rows'
import type { ActionKind } from '../../actions/kind'
import type { ActionView } from '../../actions/shapes'
import { startAction } from '../../actions/start'
import { managedRows } from './rows'
import type { ManagedCertificateRow } from './tables'

type Declaration = Pick<ActionKind, 'type' | 'area' | 'audit' | 'cancelable' | 'resumable' | 'concurrency' | 'leaseMs' | 'steps'>

/** The action that issues or renews a certificate; `issue.ts` runs it. */
export const issuing = {
  type: 'certificate.issue',
  area: 'certificates',
  audit: 'certificates.managed_certificate.issue',
  cancelable: false,
  resumable: true,
  concurrency: 8,
  leaseMs: 10 * 60_000,
  steps: ['check', 'order', 'publish', 'wait', 'validate', 'finalize', 'store', 'deliver'],
} as const satisfies Declaration

/** The last step, also alone. */
export const delivering = { steps: ['deliver'], audit: 'certificates.managed_certificate.deliver' } as const

/** The steps of an action for a managed certificate. */
function stepsFor({ keyMode }: ManagedCertificateRow, isDelivery: boolean): readonly string[] {
  if (isDelivery) return delivering.steps
  return keyMode === 'agent' ? issuing.steps : issuing.steps.filter(step => step !== 'deliver')
}

/** The action that revokes a certificate; `revoke.ts` runs it. */
export const revoking = {
  type: 'certificate.revoke',
  area: 'certificates',
  audit: 'certificates.managed_certificate.revoke',
  cancelable: false,
  resumable: true,
  concurrency: 4,
  leaseMs: 10 * 60_000,
} as const satisfies Declaration

type Started = { row: ManagedCertificateRow; action: ActionView } & Pick<RecordResult<unknown>, 'jobs'> &
  Pick<ChangeResult<unknown>, 'jobs'>

/**
 * Starts to issue a certificate, in the caller's transaction.
 * @param isDelivery whether the current certificate is only delivered
 * @param also other resources that the action works on
 * @throws Problem 409 `resource_locked`
 */
export async function startIssuing(
  tx: Tx,
  by: Pick<Ctx, 'hub' | 'workspaceId' | 'actor'>,
  row: ManagedCertificateRow,
  { isDelivery = false, also = [] }: { isDelivery?: boolean; also?: readonly { type: string; id: string }[] } = {},
): Promise<Started> {
  const kind = { ...issuing, steps: stepsFor(row, isDelivery) }
  const { action, job } = await startAction(tx, by, kind, {
    resources: [{ type: managedRows.type, id: row.id }, ...also],
    input: { is_renewal: row.issuedAt !== null, is_delivery: isDelivery },
  })
  const columns = {
    status: isDelivery ? ('delivering' as const) : ('issuing' as const),
    actionId: action.id,
    nextRenewalAt: null,
  }
  return { row: await saveRow(tx, by, managedRows, row, columns), action, jobs: [job] }
}

/** Starts to revoke the current certificate, in the caller's transaction. @throws Problem 409 `resource_locked` */
export async function startRevoking(
  tx: Tx,
  by: Pick<Ctx, 'hub' | 'workspaceId' | 'actor'>,
  row: ManagedCertificateRow,
  reason: number,
): Promise<Started> {
  const { action, job } = await startAction(tx, by, revoking, {
    resources: [{ type: managedRows.type, id: row.id }],
    input: { reason },
  })
  return { row: await saveRow(tx, by, managedRows, row, { actionId: action.id }), action, jobs: [job] }
}
