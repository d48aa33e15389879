import { refuseOverLimit } from '../../access/plans'
import { change } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { listingOf, listPage } from '../../core/list'
import { editableView } from '../../core/members'
import { invalid, type Problem } from '../../core/problem'
import { findRow, insertRow, lockRow, refuseDuplicate, removeRow, targetOf } from '../../core/rows'
import { isSelfSigned } from '../../core/x509/chain'
import { rowsOf } from '../../registry'
import type { CertificateAuthorityInput, CertificateAuthorityView } from './authority-shapes'
import { describe } from './describe'
import { verifyAgain } from './paths'
import { pemOf, readCertificates } from './pem'
import { certificateAuthorities } from './tables'

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
      return { result, target: targetOf(rows, row), before: null, after: result, jobs: [verifyAgain(ctx.workspaceId)] }
    }),
  )
}

const refused = (detail: string): Problem => invalid([{ pointer: '#/pem', code: 'format', detail }])

/** Trusts a root no longer. @throws Problem 404, 412 */
export const deleteAuthority = (ctx: Ctx, id: string): Promise<void> =>
  change(ctx, 'certificates.authority.delete', async tx => {
    const row = await lockRow(tx, ctx, rows, id)
    await removeRow(tx, rows, row)
    return { result: undefined, target: targetOf(rows, row), before: view(row), jobs: [verifyAgain(ctx.workspaceId)] }
  })
