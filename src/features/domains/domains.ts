import { eq } from 'drizzle-orm'
import { refuseOverLimit } from '../../access/plans'
import { resourceExists } from '../../access/resource-exists'
import { change } from '../../core/change'
import type { ChangeResult } from '../../core/change-result'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import type { JobDraft } from '../../core/jobs/draft'
import { listPage } from '../../core/list'
import { inputColumns, patchColumns, type MemberValues } from '../../core/members'
import { canonicalHost } from '../../core/net/host-name'
import { parseAddress } from '../../core/net/address'
import { invalid, type FieldProblem } from '../../core/problem'
import { findRow, insertRow, lockRow, refuseDuplicate, removeRow, saveRow, targetOf } from '../../core/rows'
import { zonesWithIds } from '../dns/records/driven'
import { factsJobFor } from '../registry/facts-job'
import { declareInterest } from '../registry/interests'
import { knownFacts, supportedNames } from '../registry/known'
import { derive, lookEvery, unknownEnd } from './derive'
import { noFacts } from './facts'
import { domainListing } from './listing'
import { domainNameOf } from './names'
import { settleDomains } from './settle'
import { domainMembers, type DomainInput, type DomainPatch, type DomainView } from './shapes'
import { syncJobFor } from './sync-account-job'
import { domainReadings } from './tables'
import { auditedView, domainRows, domainView, type DomainRow } from './view'

export const listDomains = (ctx: Ctx, query: Record<string, unknown>) =>
  listPage(ctx, domainListing, query, row => domainView(ctx.hub, row))

/** @throws Problem 404 */
export const getDomain = async (ctx: Ctx, id: string): Promise<DomainView> =>
  domainView(ctx.hub, await findRow(ctx.hub.read, ctx, domainRows, id))

type Members = MemberValues<typeof domainMembers>
/** The columns of a new domain that people set. */
export type GivenColumns = Members &
  Pick<DomainRow, 'unicodeName' | 'tld' | 'givenExpiresAt'> & {
    /** Until a source says it. */
    givenAutoRenew?: boolean | null
    givenRegistrar?: string | null
  }

/**
 * Tracks a domain, which is looked up within seconds. Nothing is bought.
 * @throws Problem 403 if the limit is reached, 409 for a duplicate, 422
 */
export async function createDomain(ctx: Ctx, input: DomainInput): Promise<DomainView> {
  const given = givenColumns(input)
  return await change(ctx, 'domains.domain.create', tx => insertDomain(tx, ctx, given))
}

/** @throws Problem 422 */
function givenColumns(input: DomainInput): GivenColumns {
  const found = domainNameOf(input.name)
  const problems: FieldProblem[] = []
  if ('code' in found) problems.push({ pointer: '#/name', ...found })
  const givenExpiresAt = givenEnd(input.expires_at ?? null, problems)
  const expectedNameservers = nameserversOf(input.expected_nameservers ?? null, problems)
  if ('code' in found || problems.length > 0) throw invalid(problems)
  return { ...inputColumns(domainMembers, input), ...found, givenExpiresAt, expectedNameservers }
}

const [minYear, maxYear] = [1985, 2099]

function givenEnd(day: string | null, problems: FieldProblem[]): number | null {
  if (day === null) return null
  const year = Number(day.slice(0, 4))
  if (year < minYear || year > maxYear)
    problems.push({ pointer: '#/expires_at', code: 'range', detail: `must be a date from ${minYear} to ${maxYear}.` })
  return Date.parse(day)
}

function nameserversOf(names: readonly string[] | null, problems: FieldProblem[]): string[] | null {
  if (names === null) return null
  return names.map((text, at) => {
    const host = canonicalHost(text.replace(/\.$/, ''))
    if (host !== null && host.includes('.') && !parseAddress(host)) return host
    const detail = 'must be the hostname of a name server, such as ns1.example.net.'
    problems.push({ pointer: `#/expected_nameservers/${at}`, code: 'format', detail })
    return text
  })
}

const managementOf = (accountId: string | null): DomainRow['management'] => (accountId === null ? 'manual' : 'registrar')

/** The columns of a domain that nothing is known about yet. */
export function newDomainColumns({ givenAutoRenew = null, givenRegistrar = null, ...given }: GivenColumns, now: number) {
  const columns = {
    ...given,
    management: managementOf(given.registrarAccountId),
    status: 'unknown' as const,
    statusSince: now,
    expiresAt: null,
    expiresOrder: unknownEnd,
    expirySource: null,
    expiryConfidence: 'unknown' as const,
    expiryHint: null,
    registrarExpiresAt: null,
    registryExpiresAt: null,
    facts: { ...noFacts, auto_renew: givenAutoRenew, registrar: givenRegistrar ? { name: givenRegistrar, iana_id: null } : null },
    autoRenew: givenAutoRenew,
    delegationState: 'unknown' as const,
    delegation: { zone_id: null, missing: [], extra: [], lame: [], checked_at: null },
    syncState: 'pending' as const,
    checkedAt: null,
    nextCheckAt: now,
    syncError: null,
    absentSince: null,
    notifiedEnd: null,
    notifiedDay: null,
    lookEverySeconds: lookEvery(null, 'unknown', now),
    dueAt: null,
    registrantId: null,
    adminId: null,
    techId: null,
    billingId: null,
  }
  // A given date counts at once. Its events are sent by the task that watches dates.
  const { expiresAt, expiresOrder, expirySource, expiryConfidence, expiryHint } = derive(
    { ...columns, createdAt: now },
    null,
    null,
    now,
  ).columns as DomainRow
  return {
    ...columns,
    expiresAt,
    expiresOrder,
    expirySource,
    expiryConfidence,
    expiryHint,
    dueAt: expiresAt === null ? null : now,
  }
}

/** Inserts a domain within a change. @throws Problem 403 if the limit is reached, 409, 422 */
async function insertDomain(tx: Tx, ctx: Ctx, given: GivenColumns): Promise<ChangeResult<DomainView>> {
  const { hub } = ctx
  await refuseOverLimit(tx, ctx, 'domain')
  await refuseUnknownZone(tx, ctx, given.zoneId)
  await refuseUnknownAccount(tx, ctx, given.registrarAccountId)
  const row = await refuseDuplicate(
    `The domain ${given.name} is tracked already.`,
    () => insertRow(tx, ctx, domainRows, newDomainColumns(given, hub.clock.now())),
    [{ pointer: '#/name', code: 'already_exists', detail: 'must be unique within the workspace.' }],
  )
  await declareInterest(tx, hub, { type: 'domain', id: row.id }, row.name, row.lookEverySeconds)
  const known = (await knownFacts(tx, [row.name])).get(row.name)
  return {
    ...{ result: domainView(hub, row), target: targetOf(domainRows, row), before: null, after: auditedView(row) },
    jobs: [...(known && known.readAt !== null ? [factsJobFor(row.name)] : []), ...syncJobs(row)],
  }
}

/** @throws Problem 422 */
async function refuseUnknownZone(tx: Tx, ctx: Ctx, id: string | null | undefined): Promise<void> {
  if (id === null || id === undefined) return
  if (!(await zonesWithIds(tx, ctx, [id])).has(id))
    throw invalid([{ pointer: '#/zone_id', code: 'not_found', detail: 'must be the ID of a zone of the workspace.' }])
}

/** @throws Problem 422 */
async function refuseUnknownAccount(tx: Tx, ctx: Ctx, id: string | null | undefined): Promise<void> {
  if (id === null || id === undefined || (await resourceExists(tx, ctx, 'registrar_account', id))) return
  const detail = 'must be the ID of a registrar account of the workspace.'
  throw invalid([{ pointer: '#/registrar_account_id', code: 'not_found', detail }])
}

/** The account is read soon, to find out what it says about a domain. */
const syncJobs = ({ registrarAccountId: id }: DomainRow): JobDraft[] => (id === null ? [] : [syncJobFor(id, 0)])

/** @throws Problem 404, 412, 422 */
export async function updateDomain(ctx: Ctx, id: string, patch: DomainPatch): Promise<DomainView> {
  const { hub } = ctx
  const problems: FieldProblem[] = []
  const columns: Partial<DomainRow> = {
    ...patchColumns(domainMembers, patch),
    ...(patch.expires_at !== undefined && { givenExpiresAt: givenEnd(patch.expires_at, problems) }),
    ...(patch.expected_nameservers !== undefined && {
      expectedNameservers: nameserversOf(patch.expected_nameservers, problems),
    }),
  }
  if (problems.length > 0) throw invalid(problems)
  const isSupported = await supportedNames(hub)
  return await change(ctx, 'domains.domain.update', async tx => {
    const before = await lockRow(tx, ctx, domainRows, id)
    await refuseUnknownZone(tx, ctx, columns.zoneId)
    await refuseUnknownAccount(tx, ctx, columns.registrarAccountId)
    const { registrarAccountId: accountId = before.registrarAccountId } = columns
    const isMoved = accountId !== before.registrarAccountId
    // What only the previous account knew is forgotten.
    if (isMoved) await tx.delete(domainReadings).where(eq(domainReadings.domainId, id))
    const moved = isMoved && { management: managementOf(accountId), autoRenew: null }
    const saved = await saveRow(tx, ctx, domainRows, before, { ...columns, ...moved })
    const target = targetOf(domainRows, before)
    if (saved === before) return { result: domainView(hub, before), target, unchanged: true }
    const { rows, events } = await settleDomains(tx, hub, [saved], isSupported)
    const audited = { target, before: auditedView(before), after: auditedView(saved) }
    return { result: domainView(hub, rows[0]!), ...audited, events, jobs: isMoved ? syncJobs(saved) : [] }
  })
}

/** Stops tracking a domain. Its registration is not affected. @throws Problem 404, 412 */
export const deleteDomain = (ctx: Ctx, id: string): Promise<void> =>
  change(ctx, 'domains.domain.delete', async tx => {
    const row = await lockRow(tx, ctx, domainRows, id)
    await declareInterest(tx, ctx.hub, { type: 'domain', id }, null, row.lookEverySeconds)
    await removeRow(tx, domainRows, row)
    return { result: undefined, target: targetOf(domainRows, row), before: auditedView(row) }
  })
