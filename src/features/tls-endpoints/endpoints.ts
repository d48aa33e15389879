import { and, eq, isNotNull } from 'drizzle-orm'
import { refuseForbiddenHost, workspacePolicy } from '../../access/network-policy'
import { refuseOverLimit } from '../../access/plans'
import { refuseTooManyRequests } from '../../access/limiter'
import { auditDrafts, change } from '../../core/change'
import type { AuditDraft, ChangeResult } from '../../core/change-result'
import type { Ctx } from '../../core/ctx'
import { forUpdate } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import { listingOf, listPage } from '../../core/list'
import { containsFilter, flagFilter, idsFilter, searchFilter, textFilter, wordsFilter } from '../../core/list-filters'
import { inputColumns, patchColumns, type MemberValues } from '../../core/members'
import { parseAddress } from '../../core/net/address'
import { canonicalHost } from '../../core/net/host-name'
import { conflict, invalid } from '../../core/problem'
import { findRow, insertRow, lockRow, refuseDuplicate, removeRow, saveRow } from '../../core/rows'
import { Tag } from '../../core/shapes'
import { gapsJobFor, settleMs } from '../certificates/gaps-job'
import { endPresences } from '../certificates/record'
import { gradeLetters } from './grades/grade'
import { usualPorts } from './grades/shapes'
import { scanJobFor } from './scans/scan-queue'
import {
  tlsEndpointMembers,
  tlsEndpointOrigins,
  type TlsEndpointInput,
  type TlsEndpointPatch,
  type TlsEndpointView,
} from './shapes'
import { tlsEndpoints } from './tables'
import { auditedView, gradeRank, tlsEndpointRows, tlsEndpointTarget, tlsEndpointView, type TlsEndpointRow } from './view'

const maxScansPerMinute = 5

export const tlsEndpointListing = listingOf('tls-endpoints', tlsEndpoints, {
  filters: {
    ids: idsFilter(tlsEndpoints.id),
    host: textFilter(tlsEndpoints.host, 'Only endpoints of this host.', { maxLength: 255 }),
    grade: wordsFilter(tlsEndpoints.grade, gradeLetters, 'Only endpoints with one of these grades.'),
    origin: wordsFilter(tlsEndpoints.origin, tlsEndpointOrigins, 'Only endpoints of these origins.'),
    active: flagFilter(tlsEndpoints.active, 'True for endpoints that are scanned on schedule, false for the others.'),
    tag: containsFilter(tlsEndpoints.tags, { ...Tag, description: 'Only endpoints with this tag.' }),
    q: searchFilter([tlsEndpoints.host], 'Only endpoints whose host contains all words of this text.'),
  },
  sorts: { grade: tlsEndpoints.gradeRank, host: tlsEndpoints.host },
})

export const listTlsEndpoints = (ctx: Ctx, query: Record<string, unknown>) =>
  listPage(ctx, tlsEndpointListing, query, tlsEndpointView)

/** @throws Problem 404 */
export const getTlsEndpoint = async (ctx: Ctx, id: string): Promise<TlsEndpointView> =>
  tlsEndpointView(await findRow(ctx.hub.read, ctx, tlsEndpointRows, id))

type Members = MemberValues<typeof tlsEndpointMembers>

/** Host, port, protocol, and server name in one. */
export const locationOf = ({
  host,
  port,
  protocol,
  servername,
}: Pick<Members, 'host' | 'port' | 'protocol' | 'servername'>): string =>
  `${host}:${port}/${protocol}${servername === null ? '' : `#${servername}`}`

/** The columns of a new endpoint that has not been scanned. */
export const newEndpointColumns = (members: Members, origin: TlsEndpointRow['origin'], now: number) => ({
  ...members,
  location: locationOf(members),
  origin,
  uncountedAt: origin === 'manual' ? null : now,
  goneAt: null,
  grade: null,
  gradeRank: gradeRank(null),
  previousGrade: null,
  gradeChangedAt: null,
  score: null,
  profile: null,
  chain: null,
  reasons: [],
  addresses: [],
  certificateId: null,
  lastScanId: null,
  lastScanAt: null,
  nextScanAt: members.active ? now + members.intervalSeconds * 1000 : null,
  failures: 0,
  lastError: null,
})

/**
 * Inserts an endpoint that someone created, within a change. One of the same server that is about to be deleted is kept instead, with its
 * scans.
 * @throws Problem 403 if the limit is reached, 409
 */
export async function insertEndpoint(tx: Tx, ctx: Ctx, members: Members): Promise<ChangeResult<TlsEndpointView>> {
  await refuseOverLimit(tx, ctx, 'tls_endpoint')
  const columns = newEndpointColumns(members, 'manual', ctx.hub.clock.now())
  const gone = await lockGone(tx, ctx, columns.location)
  const row = await once(members, () =>
    gone
      ? saveRow(tx, ctx, tlsEndpointRows, gone, { ...members, ...keptColumns, nextScanAt: columns.nextScanAt })
      : insertRow(tx, ctx, tlsEndpointRows, columns),
  )
  return changed(gone, row, members.active)
}

/** Columns of an endpoint that someone wants to keep. */
const keptColumns = { origin: 'manual', uncountedAt: null, goneAt: null } as const

/** The endpoint of a server that is about to be deleted, locked until the transaction ends; null if there is none. */
async function lockGone(tx: Tx, { workspaceId }: Ctx, location: string): Promise<TlsEndpointRow | null> {
  const own = and(eq(tlsEndpoints.workspaceId, workspaceId), eq(tlsEndpoints.location, location), isNotNull(tlsEndpoints.goneAt))
  const [row] = await forUpdate(tx.select().from(tlsEndpoints).where(own))
  return row ?? null
}

const changed = (before: TlsEndpointRow | null, after: TlsEndpointRow, scans: boolean): ChangeResult<TlsEndpointView> =>
  before === after
    ? { result: tlsEndpointView(after), target: tlsEndpointTarget(after), unchanged: true }
    : {
        result: tlsEndpointView(after),
        target: tlsEndpointTarget(after),
        before: before && auditedView(before),
        after: auditedView(after),
        jobs: scans ? [scanJobFor(after, 'created')] : [],
      }

const once = <R>({ host, port }: { host: string; port: number }, fn: () => Promise<R>): Promise<R> =>
  refuseDuplicate(`A TLS endpoint for ${host}:${port} already exists. Update that one instead.`, fn)

/**
 * Creates an endpoint, which is scanned immediately. One of the same server that is about to be deleted is kept instead.
 * @throws Problem 403 if the limit is reached, 409 for a duplicate, 422
 */
export async function createTlsEndpoint(ctx: Ctx, input: TlsEndpointInput): Promise<TlsEndpointView> {
  const members = await validMembers(ctx, input)
  return await change(ctx, 'certificates.tls_endpoint.create', tx => insertEndpoint(tx, ctx, members))
}

/** The columns of an endpoint to create. @throws Problem 422 */
export async function validMembers(ctx: Ctx, input: TlsEndpointInput): Promise<Members> {
  const { protocol = 'tls' } = input
  const columns = inputColumns(tlsEndpointMembers, { ...input, port: input.port ?? usualPorts[protocol] })
  const policy = await workspacePolicy(ctx.hub.read, ctx.workspaceId, false)
  await refuseForbiddenHost(ctx, policy, { pointer: '#/host', host: columns.host, port: columns.port })
  return { ...columns, host: canonicalHost(columns.host)!, servername: validServername(columns.servername) }
}

/** @returns the name in its canonical form @throws Problem 422 */
function validServername(text: string | null): string | null {
  if (text === null) return null
  const name = canonicalHost(text)
  if (name !== null && !parseAddress(name)) return name
  throw invalid([{ pointer: '#/servername', code: 'format', detail: 'must be a hostname, not an IP address.' }])
}

/**
 * Updates an endpoint, which makes it manual. It is scanned immediately if another name is sent, or if it was not active. One of the same
 * server that is about to be deleted is deleted now.
 * @throws Problem 403 if the limit is reached, 404, 409 for a duplicate, 412, 422
 */
export async function updateTlsEndpoint(ctx: Ctx, id: string, patch: TlsEndpointPatch): Promise<TlsEndpointView> {
  const given = patchColumns(tlsEndpointMembers, patch)
  const columns = given.servername === undefined ? given : { ...given, servername: validServername(given.servername) }
  return await change(ctx, 'certificates.tls_endpoint.update', async tx => {
    const before = await lockRow(tx, ctx, tlsEndpointRows, id)
    const next = { ...before, ...columns }
    if (before.uncountedAt !== null) await refuseOverLimit(tx, ctx, 'tls_endpoint')
    const now = ctx.hub.clock.now()
    const isNews = next.active && (!before.active || next.servername !== before.servername)
    const nextScanAt = nextScanOf(before, next, now)
    const location = locationOf(next)
    const gone = location === before.location ? null : await lockGone(tx, ctx, location)
    if (gone) await removeEndpoint(tx, gone, now)
    const after = await once(next, () =>
      saveRow(tx, ctx, tlsEndpointRows, before, { ...columns, location, ...keptColumns, nextScanAt }),
    )
    const done = changed(before, after, isNews)
    if (!gone) return done
    return { ...done, audits: replaced(ctx, gone), jobs: [...(done.jobs ?? []), gapsJobFor(ctx.workspaceId, now + settleMs)] }
  })
}

/** The audit events of an endpoint that was about to be deleted and is deleted now, because another one is for its server. */
const replaced = (ctx: Ctx, gone: TlsEndpointRow): AuditDraft[] =>
  auditDrafts(ctx, 'certificates.tls_endpoint.delete', {
    ...{ result: undefined, target: tlsEndpointTarget(gone), before: auditedView(gone) },
    reason: 'Another endpoint is now for its server.',
  })

function nextScanOf(before: TlsEndpointRow, next: TlsEndpointRow, now: number): number | null {
  if (!next.active) return null
  if (before.goneAt !== null) return now
  if (before.active && next.intervalSeconds === before.intervalSeconds) return before.nextScanAt
  return Math.max(now, (next.lastScanAt ?? now) + next.intervalSeconds * 1000)
}

/** Deletes an endpoint, within a change. Its certificates are no longer there. @param now ms UTC */
export async function removeEndpoint(tx: Tx, row: TlsEndpointRow, now: number): Promise<void> {
  await endPresences(tx, row.workspaceId, [{ kind: 'endpoint', scopeId: row.id }], now)
  await removeRow(tx, tlsEndpointRows, row)
}

/** Deletes an endpoint with its scans. @throws Problem 404, 412 */
export const deleteTlsEndpoint = (ctx: Ctx, id: string): Promise<void> =>
  change(ctx, 'certificates.tls_endpoint.delete', async tx => {
    const row = await lockRow(tx, ctx, tlsEndpointRows, id)
    const now = ctx.hub.clock.now()
    await removeEndpoint(tx, row, now)
    return {
      ...{ result: undefined, target: tlsEndpointTarget(row), before: auditedView(row) },
      jobs: [gapsJobFor(row.workspaceId, now + settleMs)],
    }
  })

/** Scans an endpoint now, also if it is not active. @throws Problem 404, 409 if it is about to be deleted, 429 */
export async function scanTlsEndpoint(ctx: Ctx, id: string): Promise<TlsEndpointView> {
  const row = await findRow(ctx.hub.read, ctx, tlsEndpointRows, id)
  if (row.goneAt !== null)
    throw conflict('The endpoint is about to be deleted, because nothing uses it anymore. Update it to keep it.')
  refuseTooManyRequests(ctx, 'tls-scans', id, maxScansPerMinute)
  return await change(ctx, 'certificates.tls_endpoint.scan', async () => ({
    result: tlsEndpointView(row),
    target: tlsEndpointTarget(row),
    jobs: [scanJobFor(row, 'manual')],
  }))
}
