import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { conflict, invalid, Problem } from '../../core/problem'
import { targetOf } from '../../core/rows'
import { issuableNames, issueNames } from '../acme/managed-certificates/issue-names'
import type { ActionView } from '../actions/shapes'
import { findGap, gapRows, isResolved, lockUnresolved } from './certificate-gaps'
import { gapKindOf } from './kinds'
import type { GapIssue } from './shapes'
import type { GapRow } from './tables'

/**
 * Starts to issue a certificate that closes a gap once it is installed.
 * @throws Problem 403 `plan_limit_reached`, 404, 409 if the gap is resolved or a certificate doesn’t close it, `no_managed_zone`,
 * `zone_not_writable`, `caa_forbids`, `issued_recently`, `resource_locked`, 412, 422, 429
 */
export async function issueForGap(ctx: Ctx, id: string, { acme_account_id, include = [] }: GapIssue): Promise<ActionView> {
  const found = await findGap(ctx, id)
  refuseUnissuable(found)
  const issuable = await issuableNames(ctx, [found.name, ...include], acme_account_id).catch(error => {
    throw problemOf(error, found)
  })
  return await change(ctx, 'certificates.gap.issue', async tx => {
    const gap = await lockUnresolved(tx, ctx, id)
    const started = await issueNames(tx, ctx, issuable, [{ type: gapRows.type, id }])
    const target = [targetOf(gapRows, gap), ...[started.target].flat()]
    return { ...started, target, before: {}, after: { names: issuable.names } }
  })
}

function refuseUnissuable({ kind, status }: GapRow): void {
  if (status === 'resolved') throw isResolved()
  const { isIssuable, fix } = gapKindOf(kind)
  if (!isIssuable) throw conflict(`A new certificate doesn’t close a gap of the kind \`${kind}\`. ${fix}`)
}

/**
 * The problem that is reported if the names are invalid: a conflict if the name of the gap itself is one that no certificate can contain;
 * otherwise with the pointers of `include`.
 */
function problemOf(error: unknown, { name }: GapRow): unknown {
  if (!(error instanceof Problem)) return error
  const errors = (error.extras.errors ?? []).map(one => ({
    ...one,
    at: Number(/^#\/names\/(\d+)$/.exec(one.pointer)?.[1] ?? NaN),
  }))
  if (errors.length === 0 || errors.some(one => Number.isNaN(one.at))) return error
  const own = errors.find(one => one.at === 0)
  if (own) return conflict(`No certificate can be issued for ${name}: it ${own.detail}`)
  return invalid(errors.map(({ at, ...one }) => ({ ...one, pointer: `#/include/${at - 1}` })))
}
