import { isDeepStrictEqual } from 'node:util'
import { eq } from 'drizzle-orm'
import type { RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { Next } from '../../actions/kind'
import { syncJobFor } from '../accounts/sync-jobs'
import { cloudAccounts } from '../accounts/tables'
import type { ServerVerb } from '../clouds/cloud'
import { followPower } from '../agents/agents'
import { removeMonitorsOf } from '../../monitors/of-servers'
import { followLabels } from '../firewalls/selectors'
import { proofsOf } from '../proofs'
import { quietMs, writeState } from '../state'
import { servers } from '../tables'
import { labelsOf, type ServerRow } from '../view'
import { verbRules } from './verbs'

/**
 * Ends an action on a server: writes its new state, and lets its account be read again.
 * @param takesDown whether the action interrupted the server
 */
export async function endOnServer<S extends Record<string, unknown>>(
  tx: Tx,
  hub: Hub,
  id: string,
  verb: ServerVerb,
  columns: Partial<ServerRow>,
  next: Next<S>,
  takesDown: boolean = verbRules[verb].takesDown,
): Promise<RecordResult<Next<S>>> {
  const [row] = await forUpdate(tx.select().from(servers).where(eq(servers.id, id)))
  if (!row) return { result: next }
  const [account] = row.accountId === null ? [] : await tx.select().from(cloudAccounts).where(eq(cloudAccounts.id, row.accountId))
  const now = hub.clock.now()
  const isWanted = 'done' in next && (verb === 'power_off' || verb === 'shutdown' || verb === 'power_on')
  const proofs = await proofsOf(tx, row, account ?? null)
  const { row: after, events } = await writeState(
    tx,
    hub,
    row,
    {
      ...columns,
      actionId: null,
      writtenAt: now,
      quietUntil: takesDown ? now + quietMs : row.quietUntil,
    },
    { ...proofs, isCloudFresh: columns.cloud !== undefined || (row.cloud === null && proofs.isCloudFresh) },
    { source: 'action', reason: reasonOf(verb, next), isWanted },
  )
  if (isWanted && after.power !== 'unknown') await followPower(tx, id, after.power, now)
  // It may exist only now, or have other labels. Otherwise, no firewall is locked.
  const isSame = row.cloud !== null && isDeepStrictEqual(selectedBy(row), selectedBy(after))
  const followed = isSame ? { jobs: [], audits: [] } : await followLabels(tx, after.workspaceId, [after])
  const removed = columns.deletedAt == null ? {} : await removeMonitorsOf(tx, hub, row.workspaceId, [row.id])
  return {
    ...removed,
    result: next,
    events: [...events, ...(removed.events ?? [])],
    audits: [...followed.audits, ...(removed.audits ?? [])],
    jobs: [...followed.jobs, ...(row.accountId === null ? [] : [syncJobFor(row.accountId, now)]), ...(removed.jobs ?? [])],
  }
}

/** What decides which label selectors select a server. */
const selectedBy = (row: ServerRow) => [row.accountId, row.providerRef, row.deletedAt, labelsOf(row)]

const reasonOf = (verb: ServerVerb, next: Next): string =>
  'failed' in next ? `The action ${verb} failed: ${next.failed.detail}` : `The action ${verb} has finished.`
