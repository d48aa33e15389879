import { and, asc, count, eq, gt, inArray, isNotNull, isNull, ne, sql } from 'drizzle-orm'
import { lockLimit } from '../../access/plans'
import { limitsOf } from '../../access/workspaces'
import type { ScanProtocol } from '../../checks/tls-probe/facts'
import { auditDrafts, jobContext, record, systemActor } from '../../core/change'
import type { AuditDraft, RecordResult } from '../../core/change-result'
import { forUpdate } from '../../core/db/dialect'
import { rowsInBatches } from '../../core/db/rows-in-batches'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobDraft } from '../../core/jobs/draft'
import { inputColumns } from '../../core/members'
import { insertRow } from '../../core/rows'
import { gapsJobFor, settleMs } from '../certificates/gaps-job'
import { endPresences } from '../certificates/record'
import { locationOf, newEndpointColumns, removeEndpoint } from './endpoints'
import { scanJobFor } from './scans/scan-queue'
import { tlsEndpointMembers } from './shapes'
import { tlsEndpoints } from './tables'
import { auditedView, graceMs, tlsEndpointRows, tlsEndpointTarget, type TlsEndpointRow } from './view'

/** A server that should have an endpoint. */
export interface ScanTarget {
  host: string
  port: number
  protocol: ScanProtocol
  servername: string | null
}

/** What endpoints come and go with. */
interface Followed {
  workspaceId: string
  origin: 'monitor' | 'coverage'
  /** Name of the task or job in the audit log. */
  task: string
  /** Reason in the audit log why one was deleted. */
  whenGone: string
}

const namesPerQuery = 500
// Keeps transactions short.
const perChange = 50

type Following = Pick<TlsEndpointRow, 'id' | 'workspaceId' | 'location' | 'goneAt'>

/**
 * Creates endpoints for servers that have none of any origin, and deletes those of this origin whose server hasn’t been among them for a
 * day. Until then, they aren’t scanned, and continue with their scans if the server is among them again. For names that need a certificate, as many are created as the plan allows manual ones.
 * @param existing all endpoints of this origin in the workspace
 */
export async function followTargets(
  hub: Hub,
  wanted: readonly ScanTarget[],
  existing: readonly Following[],
  of: Followed,
): Promise<void> {
  const targets = new Map(wanted.map(one => [locationOf(one), one]))
  const known = new Set(existing.flatMap(one => (one.goneAt === null ? one.location : [])))
  const now = hub.clock.now()
  const missing = existing.filter(one => !targets.has(one.location))
  const gone = missing.flatMap(one => (one.goneAt === null ? one.id : []))
  for (let at = 0; at < gone.length; at += perChange)
    await record(hub, tx => pauseEndpoints(tx, hub, gone.slice(at, at + perChange), of))
  const over = missing.flatMap(one => (one.goneAt !== null && one.goneAt + graceMs <= now ? one.id : []))
  for (let at = 0; at < over.length; at += perChange)
    await record(hub, tx => removeEndpoints(tx, hub, over.slice(at, at + perChange), of))
  const unknown = [...targets].filter(([location]) => !known.has(location))
  const room = unknown.length > 0 ? await roomFor(hub.read, of) : 0
  const added = room > 0 ? (await unknownTargets(hub.read, of.workspaceId, unknown)).slice(0, room) : []
  for (let at = 0; at < added.length; at += perChange)
    await record(hub, tx => addEndpoints(tx, hub, added.slice(at, at + perChange), of))
}

/** How many more can be created. */
async function roomFor(read: Reader, { workspaceId, origin }: Followed): Promise<number> {
  if (origin !== 'coverage') return Infinity
  const { tls_endpoints: max } = await limitsOf(read, workspaceId)
  if (max === null) return Infinity
  const own = and(eq(tlsEndpoints.workspaceId, workspaceId), eq(tlsEndpoints.origin, origin), isNull(tlsEndpoints.goneAt))
  const [row] = await read.select({ n: count() }).from(tlsEndpoints).where(own)
  return Math.max(0, max - row!.n)
}

/** The endpoints that come and go. @param workspaceId those of all workspaces if absent */
export async function followingEndpoints(read: Reader, of: Followed['origin'], workspaceId?: string): Promise<Following[]> {
  const { id, location, origin, goneAt } = tlsEndpoints
  const own = workspaceId === undefined ? undefined : eq(tlsEndpoints.workspaceId, workspaceId)
  return await rowsInBatches((after, max) =>
    read
      .select({ id, workspaceId: tlsEndpoints.workspaceId, location, goneAt })
      .from(tlsEndpoints)
      .where(and(eq(origin, of), own, gt(id, after)))
      .orderBy(asc(id))
      .limit(max),
  )
}

type Located = [location: string, target: ScanTarget]

/** Those without an endpoint of any origin, other than one that is about to be deleted. */
async function unknownTargets(read: Reader, workspaceId: string, targets: readonly Located[]): Promise<Located[]> {
  const unknown: Located[] = []
  for (let at = 0; at < targets.length; at += namesPerQuery) {
    const some = targets.slice(at, at + namesPerQuery)
    const rows = await read
      .select({ location: tlsEndpoints.location })
      .from(tlsEndpoints)
      .where(
        and(
          eq(tlsEndpoints.workspaceId, workspaceId),
          isNull(tlsEndpoints.goneAt),
          inArray(
            tlsEndpoints.location,
            some.map(([location]) => location),
          ),
        ),
      )
    const taken = new Set(rows.map(row => row.location))
    unknown.push(...some.filter(([location]) => !taken.has(location)))
  }
  return unknown
}

const by = ({ workspaceId, task }: Followed) => ({ workspaceId, actor: systemActor(task), context: jobContext })

async function addEndpoints(tx: Tx, hub: Hub, targets: readonly Located[], of: Followed): Promise<RecordResult<undefined>> {
  const { workspaceId, origin } = of
  // Another hub may be adding the same ones.
  await lockLimit(tx, 'tls_endpoints', workspaceId)
  const room = await roomFor(tx, of)
  const audits: AuditDraft[] = []
  const jobs: JobDraft[] = []
  for (const [location, { host, port, protocol, servername }] of (await unknownTargets(tx, workspaceId, targets)).slice(
    0,
    room,
  )) {
    const returned = await returnEndpoint(tx, hub, location, of)
    if (returned) {
      jobs.push(scanJobFor(returned, 'schedule'))
      continue
    }
    const members = inputColumns(tlsEndpointMembers, { host, port, protocol, servername })
    const columns = newEndpointColumns(members, origin, hub.clock.now())
    const row = await insertRow(tx, { hub, workspaceId }, tlsEndpointRows, columns)
    const created = { result: undefined, target: tlsEndpointTarget(row), before: null, after: auditedView(row) }
    audits.push(...auditDrafts(by(of), 'certificates.tls_endpoint.create', created))
    jobs.push(scanJobFor(row, 'created'))
  }
  return { result: undefined, audits, jobs }
}

/** Continues with an endpoint that was about to be deleted, whatever it came and went with. @returns null if there is none */
async function returnEndpoint(tx: Tx, hub: Hub, location: string, of: Followed): Promise<TlsEndpointRow | null> {
  const now = hub.clock.now()
  const [row] = await tx
    .update(tlsEndpoints)
    .set({ origin: of.origin, goneAt: null, nextScanAt: sql`${now} + ${tlsEndpoints.intervalSeconds} * 1000` })
    .where(
      and(
        eq(tlsEndpoints.workspaceId, of.workspaceId),
        eq(tlsEndpoints.location, location),
        ne(tlsEndpoints.origin, 'manual'),
        isNotNull(tlsEndpoints.goneAt),
      ),
    )
    .returning()
  return row ?? null
}

/** Ends the scans of endpoints whose cause is gone. Their certificates are no longer there. */
async function pauseEndpoints(tx: Tx, hub: Hub, ids: readonly string[], of: Followed): Promise<RecordResult<undefined>> {
  const now = hub.clock.now()
  const rows = await tx
    .update(tlsEndpoints)
    .set({ goneAt: now, nextScanAt: null })
    .where(and(inArray(tlsEndpoints.id, [...ids]), eq(tlsEndpoints.origin, of.origin), isNull(tlsEndpoints.goneAt)))
    .returning({ id: tlsEndpoints.id })
  const scopes = rows.map(row => ({ kind: 'endpoint' as const, scopeId: row.id }))
  await endPresences(tx, of.workspaceId, scopes, now)
  return { result: undefined, jobs: [gapsJobFor(of.workspaceId, now + settleMs)] }
}

async function removeEndpoints(tx: Tx, hub: Hub, ids: readonly string[], of: Followed): Promise<RecordResult<undefined>> {
  const rows = await forUpdate(
    tx
      .select()
      .from(tlsEndpoints)
      .where(and(inArray(tlsEndpoints.id, [...ids]), eq(tlsEndpoints.origin, of.origin), isNotNull(tlsEndpoints.goneAt)))
      .orderBy(asc(tlsEndpoints.id)),
  )
  const audits: AuditDraft[] = []
  for (const row of rows) {
    await removeEndpoint(tx, row, hub.clock.now())
    const deleted = {
      ...{ result: undefined, target: tlsEndpointTarget(row), before: auditedView(row) },
      reason: of.whenGone,
    }
    audits.push(...auditDrafts(by(of), 'certificates.tls_endpoint.delete', deleted))
  }
  return { result: undefined, audits, jobs: [gapsJobFor(of.workspaceId, hub.clock.now() + settleMs)] }
}
