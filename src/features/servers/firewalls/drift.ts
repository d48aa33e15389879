import { isDeepStrictEqual } from 'node:util'
import { and, eq, inArray, isNotNull, or } from 'drizzle-orm'
import { AdapterError } from '../../../adapters/failure'
import { record } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import { openActionIds } from '../../actions/open-actions'
import { syncKind } from '../accounts/sync-jobs'
import type { CloudAccountRow } from '../accounts/view'
import type { Cloud, FirewallReading } from '../clouds/cloud'
import { countRestoration, driftAudit, driftNotice, markAudit } from './drift-effects'
import { desiredAt, enforceJobFor, hint, updateAttachment } from './enforce'
import { ruleChanges } from './rules'
import { retryRefused } from './selectors'
import { firewallAttachments, firewalls, type Drift } from './tables'
import type { AttachmentRow } from './view'

/** Compares the firewalls at an account with what they should be. If they can't be read, the reading of its servers is valid nevertheless. */
export async function checkFirewalls(hub: Hub, account: CloudAccountRow, cloud: Cloud, startedAt: number): Promise<void> {
  await retryRefused(hub, account)
  try {
    await readAndCompare(hub, account, cloud, startedAt)
  } catch (error) {
    if (!(error instanceof AdapterError)) throw error
    hub.log.warn(
      { account: account.id, failure: error.failure, detail: error.message },
      'the firewalls of an account were not read',
    )
  }
}

async function readAndCompare(hub: Hub, account: CloudAccountRow, cloud: Cloud, startedAt: number): Promise<void> {
  if (!cloud.readFirewalls) return
  const attached = await hub.read
    .selectDistinct({ id: firewallAttachments.firewallId })
    .from(firewallAttachments)
    .where(
      and(
        eq(firewallAttachments.accountId, account.id),
        or(
          inArray(firewallAttachments.state, ['applied', 'drifted', 'failed', 'detaching']),
          // Those of servers that were not reached.
          isNotNull(firewallAttachments.error),
        ),
      ),
    )
  if (attached.length === 0) return
  const desired = await Promise.all(attached.map(({ id }) => desiredAt(hub.read, id, account.id)))
  const known = desired.filter(one => one !== null)
  const readings = await cloud.readFirewalls(
    known.map(({ firewall, wanted }) => ({ id: firewall.id, refs: wanted.map(one => one.ref!) })),
  )
  for (const { firewall } of known) {
    const own = { firewalls: readings.firewalls.filter(one => one.id === firewall.id), unread: readings.unread }
    await record(hub, tx => compare(tx, hub, account, cloud, firewall.id, own, startedAt))
  }
}

async function compare(
  tx: Tx,
  hub: Hub,
  account: CloudAccountRow,
  cloud: Cloud,
  firewallId: string,
  { firewalls: readings, unread }: Awaited<ReturnType<NonNullable<Cloud['readFirewalls']>>>,
  startedAt: number,
): Promise<RecordResult<undefined>> {
  const [row] = await forUpdate(tx.select().from(firewalls).where(eq(firewalls.id, firewallId)))
  const desired = row && (await desiredAt(tx, firewallId, account.id))
  if (!desired || (row.actionId !== null && (await openActionIds(tx, [row.actionId])).size > 0)) return { result: undefined }
  // The reading is older than what was applied, or something is being applied.
  const isOlder = ({ state, error, appliedAt }: AttachmentRow) =>
    (state === 'applying' && error === null) || (appliedAt ?? 0) >= startedAt
  if (desired.wanted.some(one => isOlder(one.attachment))) return { result: undefined }
  const expected = cloud.firewallRules!(desired.rules)
  const detached = { refs: [], changes: ruleChanges(expected, []) }
  const compared: { refs: readonly string[]; reading: FirewallReading; changes: ReturnType<typeof ruleChanges> }[] = []
  for (const reading of readings) {
    compared.push({ refs: reading.refs, reading, changes: ruleChanges(expected, reading.rules) })
    if (isTurnOver()) await yieldToEventLoop()
  }
  const drifted: AttachmentRow[] = []
  let isNew = false
  // Servers that were deleted, or that it could not be applied to, or removed from, also because they were not reached.
  let hasFailed = desired.detaching.length > 0
  for (const { attachment, ref } of desired.wanted) {
    if (attachment.state === 'failed' || attachment.state === 'applying') {
      hasFailed = true
      continue
    }
    if (unread.includes(ref!)) continue
    const { reading, changes } = compared.find(one => one.refs.includes(ref!)) ?? { reading: undefined, ...detached }
    const drift = driftOf(attachment, reading, changes, hub.clock.now())
    if (drift) drifted.push(attachment)
    if (isDeepStrictEqual(drift, attachment.drift)) continue
    isNew ||= drift !== null
    await updateAttachment(tx, attachment, { drift, state: drift ? 'drifted' : 'applied' })
    hint(tx, row)
  }
  const retry = hasFailed ? [enforceJobFor(firewallId, account.id)] : []
  const place = { where: `at ${account.name}`, accountId: account.id }
  if (drifted.length === 0) {
    const isRemarked = readings.some(one => !one.isMarked) && (await countRestoration(tx, hub, row))
    return {
      result: undefined,
      jobs: isRemarked ? [enforceJobFor(firewallId, account.id)] : retry,
      audits: isRemarked ? [markAudit(row, place, syncKind)] : [],
    }
  }
  const enforced = row.driftPolicy === 'enforce' && (await countRestoration(tx, hub, row))
  return {
    result: undefined,
    // Another try for servers that failed would also restore the rules of the others.
    jobs: enforced ? [enforceJobFor(firewallId, account.id)] : [],
    audits: isNew || enforced ? [driftAudit(row, place, drifted.length, enforced, syncKind)] : [],
    notices: isNew
      ? [
          driftNotice(
            row,
            place,
            drifted.map(one => one.serverId),
            enforced,
          ),
        ]
      : [],
  }
}

function driftOf(
  { drift }: AttachmentRow,
  reading: FirewallReading | undefined,
  changes: Pick<Drift, 'added' | 'removed'>,
  now: number,
): Drift | null {
  const isAttached = reading !== undefined
  const changedDefaults = [...(reading?.changedDefaults ?? [])]
  if (isAttached && changes.added.length + changes.removed.length + changedDefaults.length === 0) return null
  const found = { isAttached, changedDefaults, ...changes, rules: [...(reading?.rules ?? [])] }
  const { detectedAt, ...before } = drift ?? { detectedAt: now }
  return { detectedAt: isDeepStrictEqual(before, found) ? detectedAt : now, ...found }
}
