import { and, asc, eq, inArray, isNotNull, isNull, lte } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { AdapterError } from '../../../adapters/failure'
import { record, systemActor } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/draft'
import type { JobKind } from '../../../core/jobs/job'
import { Problem } from '../../../core/problem'
import { DecryptionFailed } from '../../../core/secrets'
import type { Tx } from '../../../core/db/transaction'
import { openActionIds } from '../../actions/open-actions'
import { updateIssued } from '../../certificates/issued'
import { withAccount } from '../accounts/accounts'
import { acmeAccounts } from '../accounts/tables'
import { readDirectory, readRenewalWindow } from '../client/session'
import { isUndelivered } from './delivery'
import { changerOf, lockManaged, random, storeFailure, withdraw } from './finish'
import { renewalAt } from './schedule'
import { isRunning, runningStatuses } from './shapes'
import { startIssuing } from './start'
import { acmeChallenges, managedCertificates, type ManagedCertificateRow } from './tables'

const task = 'certificates.renew'
const infoKind = 'certificates.read-renewal-info'
const rowsPerRun = 100
const minuteMs = 60_000
const dayMs = 86_400_000
/** How often renewal information is read if the authority doesn’t say (RFC 9773 section 4.3.2). */
const defaultInfoMs = 6 * 3_600_000

/** Starts renewals and retries that are due, and finishes what actions left behind. Safe to run on several hubs at the same time. */
export async function renewDue(hub: Hub): Promise<void> {
  await removeExpired(hub)
  await recoverInterrupted(hub)
  await startDue(hub)
  await readDueInfo(hub)
}

/** Makes a change for a managed certificate. A failure must not delay others. */
async function attempt(hub: Hub, id: string, step: (tx: Tx) => Promise<RecordResult<undefined>>): Promise<void> {
  try {
    await record(hub, step)
  } catch (error) {
    // While it is being revoked.
    if (error instanceof Problem && error.code === 'resource_locked') return
    hub.log.error({ err: error, managed_certificate: id }, 'could not process a managed certificate')
  }
}

async function startDue(hub: Hub): Promise<void> {
  const due = await hub.read
    .select({ id: managedCertificates.id })
    .from(managedCertificates)
    .innerJoin(workspaces, eq(workspaces.id, managedCertificates.workspaceId))
    .where(
      and(
        lte(managedCertificates.nextRenewalAt, hub.clock.now()),
        eq(managedCertificates.paused, false),
        eq(managedCertificates.renew, 'auto'),
        isNull(workspaces.suspendedAt),
      ),
    )
    .orderBy(asc(managedCertificates.nextRenewalAt))
    .limit(rowsPerRun)
  for (const { id } of due) await attempt(hub, id, tx => startOne(tx, hub, id))
}

async function startOne(tx: Tx, hub: Hub, id: string): Promise<RecordResult<undefined>> {
  const row = await lockManaged(tx, id)
  const isDue = row && row.nextRenewalAt !== null && row.nextRenewalAt <= hub.clock.now() && !row.paused && row.renew === 'auto'
  if (!isDue) return { result: undefined }
  const by = { hub, workspaceId: row.workspaceId, actor: systemActor(task) }
  const { jobs } = await startIssuing(tx, by, row, { isDelivery: isUndelivered(row, hub.clock.now()) })
  return { result: undefined, jobs: jobs ?? [] }
}

/** Ends attempts whose action ended without a result, because its job failed permanently. */
async function recoverInterrupted(hub: Hub): Promise<void> {
  const rows = await hub.read
    .select({ id: managedCertificates.id, actionId: managedCertificates.actionId })
    .from(managedCertificates)
    .where(inArray(managedCertificates.status, [...runningStatuses]))
    .limit(rowsPerRun)
  const open = await openActionIds(
    hub.read,
    rows.flatMap(row => row.actionId ?? []),
  )
  for (const { id, actionId } of rows)
    if (actionId === null || !open.has(actionId))
      await attempt(hub, id, async tx => {
        const row = await lockManaged(tx, id)
        if (row && isRunning(row.status) && row.actionId === actionId)
          await storeFailure(tx, hub, row, new Problem('interrupted', 'The action ended without a result.'), null)
        return { result: undefined }
      })
}

/** Removes records that an action left behind, such as one whose job failed permanently. */
async function removeExpired(hub: Hub): Promise<void> {
  const now = hub.clock.now()
  const { managedCertificateId: id, workspaceId } = acmeChallenges
  const certificates = await hub.read
    .selectDistinct({ id, workspaceId })
    .from(acmeChallenges)
    .where(lte(acmeChallenges.expiresAt, now))
    .limit(rowsPerRun)
  for (const { id, workspaceId } of certificates)
    await attempt(hub, id, async tx => ({
      ...(await withdraw(tx, changerOf(hub, workspaceId, systemActor(task)), id, now)),
      result: undefined,
    }))
}

async function readDueInfo(hub: Hub): Promise<void> {
  const now = hub.clock.now()
  await record(hub, async tx => {
    const due = await tx
      .select({ id: managedCertificates.id })
      .from(managedCertificates)
      .where(and(isNotNull(managedCertificates.ariCheckAt), lte(managedCertificates.ariCheckAt, now)))
      .limit(rowsPerRun)
    const ids = due.map(one => one.id)
    // In case the job fails.
    if (ids.length > 0)
      await tx
        .update(managedCertificates)
        .set({ ariCheckAt: now + defaultInfoMs })
        .where(inArray(managedCertificates.id, ids))
    const jobs = ids.map((id): JobDraft => ({ kind: infoKind, payload: { managed_certificate_id: id }, uniqueKey: id }))
    return { result: undefined, jobs }
  })
}

/** Reads when the authority suggests renewing a certificate (RFC 9773), and schedules the renewal. */
export const readRenewalInfoJob: JobKind<{ managed_certificate_id: string }> = {
  kind: infoKind,
  concurrency: 4,
  leaseMs: 5 * minuteMs,
  retryAfter: attempts => Math.min(attempts, 60) * minuteMs,
  async run(hub, { payload }) {
    const [found] = await hub.read
      .select({ row: managedCertificates, account: acmeAccounts })
      .from(managedCertificates)
      .innerJoin(acmeAccounts, eq(acmeAccounts.id, managedCertificates.issuedByAccountId))
      .where(eq(managedCertificates.id, payload.managed_certificate_id))
    if (!found?.row.ariId) return undefined
    const { row, account } = found
    try {
      const info = await withAccount(hub, account, async (context, access) => {
        const { renewalInfoUrl } = await readDirectory(context, access)
        return renewalInfoUrl === null ? null : await readRenewalWindow(context, access, renewalInfoUrl, row.ariId!)
      })
      return info === null ? undefined : tx => storeInfo(tx, hub, row, info)
    } catch (error) {
      // Read again later. Until then, the certificate is renewed by its life.
      if (error instanceof AdapterError || error instanceof DecryptionFailed) return undefined
      throw error
    }
  },
}

async function storeInfo(
  tx: Tx,
  hub: Hub,
  before: ManagedCertificateRow,
  { start, end, retryAfterMs }: { start: number; end: number; retryAfterMs: number | null },
): Promise<RecordResult<undefined>> {
  const row = await lockManaged(tx, before.id)
  if (row?.ariId !== before.ariId) return { result: undefined }
  const now = hub.clock.now()
  const isNew = row.ari?.start !== start || row.ari.end !== end
  const ari = { start, end }
  const { issuedAt, notBefore, notAfter } = row
  // While it is delivered for the first time, its renewal is already scheduled. Later ones schedule it again when they succeed.
  const isCurrent = row.status === 'valid' || (row.status === 'delivering' && row.nextRenewalAt !== null)
  const isScheduled = isNew && row.renew === 'auto' && isCurrent && issuedAt && notBefore && notAfter
  const nextRenewalAt = isScheduled ? renewalAt({ issuedAt, notBefore, notAfter, ari }, now, random) : null
  if (nextRenewalAt) await updateIssued(tx, row.workspaceId, row.certificateId, { renewalDueAt: nextRenewalAt }, now)
  await tx
    .update(managedCertificates)
    .set({
      ari,
      ariCheckAt: now + Math.min(Math.max(retryAfterMs ?? defaultInfoMs, minuteMs), dayMs),
      ...(nextRenewalAt && { nextRenewalAt }),
    })
    .where(eq(managedCertificates.id, row.id))
  return { result: undefined }
}
