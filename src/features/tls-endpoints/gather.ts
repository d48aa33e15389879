import { and, asc, eq, gt, inArray } from 'drizzle-orm'
import { lockLimit } from '../../access/plans'
import { auditDrafts, jobContext, record, systemActor } from '../../core/change'
import type { AuditDraft, RecordResult } from '../../core/change-result'
import { forUpdate } from '../../core/db/dialect'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobDraft } from '../../core/jobs/draft'
import { inputColumns } from '../../core/members'
import { insertRow } from '../../core/rows'
import { gapsJobFor, settleMs } from '../certificates/gaps-job'
import { tlsTargets, type TlsTarget } from '../monitors/tls-targets'
import { locationOf, newEndpointColumns, removeEndpoint } from './endpoints'
import { scanJobFor } from './scans/scan-queue'
import { tlsEndpointMembers } from './shapes'
import { tlsEndpoints } from './tables'
import { auditedView, tlsEndpointRows, tlsEndpointTarget, type TlsEndpointRow } from './view'

const task = 'gather-endpoints'
const rowsPerPage = 500
// Keeps transactions short.
const perChange = 50

/**
 * Creates endpoints for the servers that monitors connect to with TLS, and deletes those whose monitors are gone. Endpoints of other
 * origins are left as they are.
 */
export async function gatherEndpoints(hub: Hub): Promise<void> {
  const wanted = Map.groupBy(await tlsTargets(hub.read), one => one.workspaceId)
  const known = Map.groupBy(await followingEndpoints(hub.read), one => one.workspaceId)
  for (const workspaceId of new Set([...wanted.keys(), ...known.keys()])) {
    const targets = new Map((wanted.get(workspaceId) ?? []).map(one => [locationOf(one), one]))
    const existing = new Set(known.get(workspaceId)?.map(one => one.location))
    const gone = (known.get(workspaceId) ?? []).filter(one => !targets.has(one.location)).map(one => one.id)
    const added = await unknownTargets(
      hub.read,
      workspaceId,
      [...targets].filter(([location]) => !existing.has(location)),
    )
    for (let at = 0; at < gone.length; at += perChange)
      await record(hub, tx => removeEndpoints(tx, hub, workspaceId, gone.slice(at, at + perChange)))
    for (let at = 0; at < added.length; at += perChange)
      await record(hub, tx => addEndpoints(tx, hub, workspaceId, added.slice(at, at + perChange)))
  }
}

type Following = Pick<TlsEndpointRow, 'id' | 'workspaceId' | 'location'>

/** The endpoints that come and go with monitors. */
async function followingEndpoints(read: Reader): Promise<Following[]> {
  const { id, workspaceId, location, origin } = tlsEndpoints
  const found: Following[] = []
  for (let last = ''; ;) {
    const rows = await read
      .select({ id, workspaceId, location })
      .from(tlsEndpoints)
      .where(and(eq(origin, 'monitor'), gt(id, last)))
      .orderBy(asc(id))
      .limit(rowsPerPage)
    found.push(...rows)
    if (rows.length < rowsPerPage) return found
    last = rows.at(-1)!.id
  }
}

type Located = [location: string, target: TlsTarget]

/** Those without an endpoint of any origin. */
async function unknownTargets(read: Reader, workspaceId: string, targets: readonly Located[]): Promise<Located[]> {
  const unknown: Located[] = []
  for (let at = 0; at < targets.length; at += rowsPerPage) {
    const some = targets.slice(at, at + rowsPerPage)
    const rows = await read
      .select({ location: tlsEndpoints.location })
      .from(tlsEndpoints)
      .where(
        and(
          eq(tlsEndpoints.workspaceId, workspaceId),
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

const by = (workspaceId: string) => ({ workspaceId, actor: systemActor(task), context: jobContext })

async function addEndpoints(
  tx: Tx,
  hub: Hub,
  workspaceId: string,
  targets: readonly Located[],
): Promise<RecordResult<undefined>> {
  // Another hub may be adding the same ones.
  await lockLimit(tx, 'tls_endpoints', workspaceId)
  const audits: AuditDraft[] = []
  const jobs: JobDraft[] = []
  for (const [, { host, port, protocol, servername }] of await unknownTargets(tx, workspaceId, targets)) {
    const members = inputColumns(tlsEndpointMembers, { host, port, protocol, servername })
    const columns = newEndpointColumns(members, 'monitor', hub.clock.now())
    const row = await insertRow(tx, { hub, workspaceId }, tlsEndpointRows, columns)
    const created = { result: undefined, target: tlsEndpointTarget(row), before: null, after: auditedView(row) }
    audits.push(...auditDrafts(by(workspaceId), 'certificates.tls_endpoint.create', created))
    jobs.push(scanJobFor(row, 'created'))
  }
  return { result: undefined, audits, jobs }
}

async function removeEndpoints(tx: Tx, hub: Hub, workspaceId: string, ids: readonly string[]): Promise<RecordResult<undefined>> {
  const rows = await forUpdate(
    tx
      .select()
      .from(tlsEndpoints)
      .where(and(inArray(tlsEndpoints.id, [...ids]), eq(tlsEndpoints.origin, 'monitor')))
      .orderBy(asc(tlsEndpoints.id)),
  )
  const audits: AuditDraft[] = []
  for (const row of rows) {
    await removeEndpoint(tx, row, hub.clock.now())
    const deleted = {
      ...{ result: undefined, target: tlsEndpointTarget(row), before: auditedView(row) },
      reason: 'No monitor checks it any more.',
    }
    audits.push(...auditDrafts(by(workspaceId), 'certificates.tls_endpoint.delete', deleted))
  }
  return { result: undefined, audits, jobs: [gapsJobFor(workspaceId, hub.clock.now() + settleMs)] }
}
