import { and, asc, eq, gt, ne } from 'drizzle-orm'
import { refuseOverLimit } from '../../access/plans'
import { change, record } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { JobKind } from '../../core/jobs/job'
import { listingOf, listPage } from '../../core/list'
import { editableView } from '../../core/members'
import { invalid, type Problem } from '../../core/problem'
import { findRow, insertRow, lockRow, refuseDuplicate, removeRow, targetOf } from '../../core/rows'
import { isTurnOver, yieldToEventLoop } from '../../core/time-slices'
import { isSelfSigned } from '../../core/x509/chain'
import { rowsOf } from '../../registry'
import type { CertificateAuthorityInput, CertificateAuthorityView } from './authority-shapes'
import { describe } from './describe'
import { pemOf, readCertificates } from './pem'
import { findPath, rootsOf } from './record'
import { certificateAuthorities, certificates } from './tables'

const rows = rowsOf('certificate_authority', certificateAuthorities)

export const authorityListing = listingOf('certificate-authorities', certificateAuthorities, {
  isSmall: true,
  sorts: ['name', 'not_after', 'created_at'],
})

const view = (row: typeof certificateAuthorities.$inferSelect): CertificateAuthorityView => ({
  id: row.id,
  name: row.name,
  subject: row.subject,
  fingerprint_sha256: row.sha256,
  not_before: instant(row.notBefore),
  not_after: instant(row.notAfter),
  pem: pemOf(row.der),
  ...editableView(row),
})

export const listAuthorities = (ctx: Ctx, query: Record<string, unknown>) => listPage(ctx, authorityListing, query, view)

/** @throws Problem 404 */
export const getAuthority = async (ctx: Ctx, id: string) => view(await findRow(ctx.hub.read, ctx, rows, id))

/** Trusts a root. @throws Problem 409 if it is trusted already or there are too many, 422 */
export function createAuthority(ctx: Ctx, { name, pem }: CertificateAuthorityInput): Promise<CertificateAuthorityView> {
  const [root, ...more] = readCertificates(new TextEncoder().encode(pem), '#/pem')
  if (!root || more.length > 0) throw refused('must contain a single certificate.')
  const described = describe(root)
  if (!described || !isSelfSigned(root)) throw refused('must be a root certificate, which is signed with its own key.')
  const { sha256, der, subject, notBefore, notAfter } = described
  return refuseDuplicate('The certificate authority is trusted already.', () =>
    change(ctx, 'certificates.authority.create', async tx => {
      await refuseOverLimit(tx, ctx, 'certificate_authority')
      const row = await insertRow(tx, ctx, rows, { name, sha256, der, subject, notBefore, notAfter })
      const result = view(row)
      return { result, target: targetOf(rows, row), before: null, after: result, jobs: [verifyAgain(ctx)] }
    }),
  )
}

const refused = (detail: string): Problem => invalid([{ pointer: '#/pem', code: 'format', detail }])

/** Trusts a root no longer. @throws Problem 404, 412 */
export const deleteAuthority = (ctx: Ctx, id: string): Promise<void> =>
  change(ctx, 'certificates.authority.delete', async tx => {
    const row = await lockRow(tx, ctx, rows, id)
    await removeRow(tx, rows, row)
    return { result: undefined, target: targetOf(rows, row), before: view(row), jobs: [verifyAgain(ctx)] }
  })

const verifyAgain = ({ workspaceId }: Pick<Ctx, 'workspaceId'>) => ({
  kind: verifyJob.kind,
  payload: { workspace_id: workspaceId },
  uniqueKey: workspaceId,
})

const rowsPerBatch = 100

/** Looks for paths again after the trusted roots of a workspace have changed. Public roots are always trusted. */
export const verifyJob: JobKind<{ workspace_id: string }> = {
  kind: 'certificates.verify',
  concurrency: 1,
  leaseMs: 300_000,
  retryAfter: attempts => (attempts < 5 ? 60_000 * attempts : null),
  async run(hub, { payload }) {
    for (let last = ''; ;) {
      const done = await record(hub, async tx => {
        const found = await tx
          .select({ id: certificates.id, der: certificates.der })
          .from(certificates)
          .where(
            and(eq(certificates.workspaceId, payload.workspace_id), ne(certificates.trust, 'public'), gt(certificates.id, last)),
          )
          .orderBy(asc(certificates.id))
          .limit(rowsPerBatch)
        const roots = await rootsOf(tx, payload.workspace_id)
        for (const row of found) {
          await findPath(tx, payload.workspace_id, roots, row, hub.clock.now())
          if (isTurnOver()) await yieldToEventLoop()
        }
        return { result: found }
      })
      if (done.length < rowsPerBatch) return undefined
      last = done.at(-1)!.id
    }
  },
}
