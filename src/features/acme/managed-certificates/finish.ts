import { randomInt } from 'node:crypto'
import { and, eq, inArray, lte, ne } from 'drizzle-orm'
import { jobContext } from '../../../core/change'
import type { Consequences, EventDraft, RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import { inSavepoint } from '../../../core/db/savepoint'
import type { AuditActor } from '../../../core/db/tables'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import { saveRow } from '../../../core/rows'
import type { Next } from '../../actions/kind'
import { recordIssued, updateIssued } from '../../certificates/issued'
import { challengeLifetimeMs, lockChallengeZones, withdrawChallenges } from '../../dns/challenges/challenges'
import type { ChallengeValue, Changer } from '../../dns/challenges/challenges'
import { managedRows } from './rows'
import type { IssuedCertificate } from './issued'
import { nextAttempt, renewalAt } from './schedule'
import { acmeChallenges, managedCertificates, type ManagedCertificateRow } from './tables'

/** Changes zones for an action. */
export const changerOf = (hub: Hub, workspaceId: string, actor: AuditActor): Changer => ({
  ...{ hub, workspaceId, actor, context: jobContext, limits: {}, planId: '' },
})

/** The row, locked until the transaction ends; undefined if it was deleted. */
export async function lockManaged(tx: Tx, id: string): Promise<ManagedCertificateRow | undefined> {
  const [row] = await forUpdate(tx.select().from(managedCertificates).where(eq(managedCertificates.id, id)))
  return row
}

/**
 * Removes the published values of a certificate, except those that another certificate needs too. If they can’t be removed, that is
 * logged, and tried again after an hour.
 * @param until only values that have expired by then (ms UTC)
 */
export async function withdraw(tx: Tx, by: Changer, managedCertificateId: string, until = Infinity): Promise<Consequences> {
  const rows = await tx
    .select()
    .from(acmeChallenges)
    .where(
      and(
        eq(acmeChallenges.managedCertificateId, managedCertificateId),
        until === Infinity ? undefined : lte(acmeChallenges.expiresAt, until),
      ),
    )
  if (rows.length === 0) return {}
  // Before reading the others: if two certificates finish at the same time, the second one must see that the first one is done.
  await lockChallengeZones(tx, by.workspaceId, rows)
  const others = await tx
    .select()
    .from(acmeChallenges)
    .where(
      and(
        inArray(
          acmeChallenges.value,
          rows.map(one => one.value),
        ),
        ne(acmeChallenges.managedCertificateId, managedCertificateId),
      ),
    )
  const needed = new Set(others.map(keyOf))
  const ours = inArray(
    acmeChallenges.id,
    rows.map(one => one.id),
  )
  const unneeded = rows.filter(one => !needed.has(keyOf(one)))
  try {
    const consequences = await inSavepoint(tx, () => withdrawChallenges(tx, by, unneeded))
    await tx.delete(acmeChallenges).where(ours)
    return consequences
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    by.hub.log.error({ err: error, managed_certificate: managedCertificateId }, 'could not remove the records of challenges')
    await tx
      .update(acmeChallenges)
      .set({ expiresAt: by.hub.clock.now() + challengeLifetimeMs })
      .where(ours)
    return {}
  }
}

const keyOf = ({ zoneId, name, value }: ChallengeValue): string => `${zoneId} ${name} ${value}`

/** Stores an issued certificate with its key, and schedules its renewal. */
export async function storeIssued(
  tx: Tx,
  hub: Hub,
  row: ManagedCertificateRow,
  issued: IssuedCertificate,
  { keySealed, hasRenewalInfo, accountId }: { keySealed: string | null; hasRenewalInfo: boolean; accountId: string },
): Promise<{ stored: ManagedCertificateRow; events: EventDraft[] }> {
  const now = hub.clock.now()
  const { workspaceId, issuedAt } = row
  const found = { managedCertificateId: row.id, chain: issued.certificates, isRenewal: issuedAt !== null }
  const recorded = await recordIssued(tx, workspaceId, found, now)
  const certificateId = recorded?.certificateId ?? null
  const { notBefore, notAfter } = issued
  const nextRenewalAt = row.renew === 'auto' ? renewalAt({ issuedAt: now, notBefore, notAfter, ari: null }, now, random) : null
  if (nextRenewalAt !== null) await updateIssued(tx, workspaceId, certificateId, { renewalDueAt: nextRenewalAt }, now)
  const stored = await saveRow(tx, { hub }, managedRows, row, {
    ...{ certificateId, chain: issued.chain, notBefore, notAfter, issuedAt: now, nextRenewalAt },
    ...{ status: row.keyMode === 'agent' ? ('delivering' as const) : ('valid' as const), deliveredAt: null },
    issuedByAccountId: accountId,
    ...{ revokedAt: null, keySealed, keyTakenAt: null, nextKeySealed: null, attempts: 0, lastError: null },
    ...{ ariId: issued.ariId, ari: null, ariCheckAt: hasRenewalInfo && issued.ariId !== null ? now : null },
  })
  return { stored, events: recorded?.events ?? [] }
}

/** A random number from 0 to 1. */
export const random = (): number => randomInt(2 ** 32) / 2 ** 32

/** Stores a failed attempt, and schedules the next one. */
export async function storeFailure(
  tx: Tx,
  hub: Hub,
  row: ManagedCertificateRow,
  problem: Pick<Problem, 'code' | 'detail'>,
  retryAfterMs: number | null,
): Promise<void> {
  const attempts = row.attempts + 1
  await saveRow(tx, { hub }, managedRows, row, {
    status: 'failing',
    attempts,
    lastError: { code: problem.code, detail: problem.detail },
    nextKeySealed: null,
    nextRenewalAt: row.renew === 'auto' ? nextAttempt(attempts, hub.clock.now(), retryAfterMs) : null,
  })
}

/** Ends an attempt with a failure: removes what was published, and schedules the next attempt. */
export async function failIssuing(
  tx: Tx,
  by: Changer,
  id: string,
  { problem, retryAfterMs }: { problem: Problem; retryAfterMs: number | null },
): Promise<RecordResult<Next<never>>> {
  const consequences = await withdraw(tx, by, id)
  const row = await lockManaged(tx, id)
  if (row) await storeFailure(tx, by.hub, row, problem, retryAfterMs)
  return { ...consequences, result: { failed: problem } }
}
