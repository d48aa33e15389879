import { and, asc, eq, gt, inArray, ne, sql } from 'drizzle-orm'
import { record } from '../../core/change'
import { sha256Hex } from '../../core/crypto'
import { forIds } from '../../core/db/id-list'
import { prepared } from '../../core/db/prepared'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobDraft } from '../../core/jobs/draft'
import type { JobKind } from '../../core/jobs/job'
import { isTurnOver, yieldToEventLoop } from '../../core/time-slices'
import { parseCertificate, trustStore, verifyChain, type Certificate } from '../../core/x509/chain'
import { certificateAuthorities, certificates, type CertificateRow } from './tables'

/** At most this many certificates of a chain are read, and as many issuers with a name. */
export const maxChain = 20

/** The ids of certificates of a workspace by fingerprint. */
export async function idsOf(read: Reader, workspaceId: string, sha256s: readonly string[]): Promise<Map<string, string>> {
  const rows = await forIds(sha256s, (size, list, values) =>
    prepared(read, `certificate-ids|${size}`, handle =>
      handle
        .select({ id: certificates.id, sha256: certificates.sha256 })
        .from(certificates)
        .where(and(eq(certificates.workspaceId, workspace), sql`${certificates.sha256} in ${list}`)),
    ).execute({ ...values, workspaceId }),
  )
  return new Map(rows.map(row => [row.sha256, row.id]))
}

const workspace = sql.placeholder('workspaceId')

/** The roots that a workspace trusts in addition to the public ones. */
export async function rootsOf(read: Reader, workspaceId: string): Promise<ReturnType<typeof trustStore>> {
  const rows = await prepared(read, 'trusted-roots', handle =>
    handle
      .select({ der: certificateAuthorities.der })
      .from(certificateAuthorities)
      .where(eq(certificateAuthorities.workspaceId, workspace)),
  ).execute({ workspaceId })
  return trustStore(rows.map(row => parseCertificate(row.der)))
}

/** CA certificates of the workspace that may have issued those of a chain, so that incomplete chains lead to a root. */
export async function issuersOf(read: Reader, workspaceId: string, chain: readonly Certificate[]): Promise<Certificate[]> {
  const found = new Map<string, Certificate>()
  let wanted = new Set(chain.map(one => sha256Hex(one.facts.issuer)))
  const seen = new Set<string>()
  for (let depth = 0; depth < maxChain && wanted.size > 0; depth++) {
    const rows = await forIds([...wanted], (size, list, values) =>
      prepared(read, `issuers|${size}`, handle =>
        handle
          .select({ der: certificates.der, issuerHash: certificates.issuerHash })
          .from(certificates)
          .where(
            and(
              eq(certificates.workspaceId, workspace),
              sql`${certificates.subjectHash} in ${list}`,
              eq(certificates.isCa, true),
            ),
          )
          .limit(maxChain),
      ).execute({ ...values, workspaceId }),
    )
    for (const hash of wanted) seen.add(hash)
    for (const { der } of rows) {
      const one = parseCertificate(der)
      found.set(one.sha256, one)
    }
    if (isTurnOver()) await yieldToEventLoop()
    wanted = new Set(rows.map(row => row.issuerHash).filter(hash => !seen.has(hash)))
  }
  return [...found.values()]
}

/**
 * Looks for paths again, in a job.
 * @param issuers hashes of names: only for certificates by them that are not trusted; for all that are not publicly trusted if absent
 */
export function verifyAgain(workspaceId: string, issuers?: readonly string[]): JobDraft {
  const hashes = issuers && [...new Set(issuers)].sort()
  return {
    kind: verifyJob.kind,
    payload: { workspace_id: workspaceId, ...(hashes && { issuers: hashes }) },
    uniqueKey: hashes ? `${workspaceId} ${sha256Hex(hashes.join())}` : workspaceId,
  }
}

const rowsPerBatch = 100

/** Looks for paths again after the trusted roots of a workspace have changed, or an issuer became known. Public roots are always trusted. */
export const verifyJob: JobKind<{ workspace_id: string; issuers?: string[] }> = {
  kind: 'certificates.verify',
  concurrency: 1,
  leaseMs: 300_000,
  retryAfter: attempts => (attempts < 5 ? 60_000 * attempts : null),
  async run(hub, { payload }) {
    for (let last = ''; ;) {
      const found = await hub.read
        .select({ id: certificates.id, der: certificates.der, sha256: certificates.sha256, chain: certificates.chain })
        .from(certificates)
        .where(
          and(
            eq(certificates.workspaceId, payload.workspace_id),
            payload.issuers
              ? and(eq(certificates.trust, 'untrusted'), inArray(certificates.issuerHash, payload.issuers))
              : ne(certificates.trust, 'public'),
            gt(certificates.id, last),
          ),
        )
        .orderBy(asc(certificates.id))
        .limit(rowsPerBatch)
      await verifyBatch(hub, payload.workspace_id, found)
      if (found.length < rowsPerBatch) return undefined
      last = found.at(-1)!.id
    }
  },
}

/** Verifies outside of the transaction: other writes would wait for it. */
async function verifyBatch(
  hub: Hub,
  workspaceId: string,
  rows: readonly Pick<CertificateRow, 'id' | 'der' | 'sha256' | 'chain'>[],
) {
  const roots = await rootsOf(hub.read, workspaceId)
  const verdicts: { id: string; sha256: string; trust: Trust; issuers: string[]; hadIssuer: boolean }[] = []
  for (const { id, der, sha256, chain } of rows) {
    const leaf = parseCertificate(der)
    const known = await issuersOf(hub.read, workspaceId, [leaf])
    const { trust, path } = await verifyChain([leaf], { roots, known, now: hub.clock.now() })
    verdicts.push({ id, sha256, trust, issuers: path.slice(1).map(one => one.sha256), hadIssuer: chain.length > 0 })
    if (isTurnOver()) await yieldToEventLoop()
  }
  // Its revocation list can be verified from now on.
  const { crlDueAt } = certificates
  const dueNow = sql`case when ${crlDueAt} is null then ${crlDueAt} else ${hub.clock.now()} end`
  await record(hub, async tx => {
    const ids = await idsOf(tx, workspaceId, [...new Set(verdicts.flatMap(one => one.issuers))])
    for (const { id, sha256, trust, issuers, hadIssuer } of verdicts) {
      const chain = issuers.flatMap(one => ids.get(one) ?? [])
      // A precertificate may have been replaced by its certificate.
      await tx
        .update(certificates)
        .set({ trust, chain, ...(!hadIssuer && chain.length > 0 && { crlDueAt: dueNow }) })
        .where(and(eq(certificates.id, id), eq(certificates.sha256, sha256)))
      if (isTurnOver()) await yieldToEventLoop(true)
    }
    return { result: undefined }
  })
}

type Trust = Awaited<ReturnType<typeof verifyChain>>['trust']
