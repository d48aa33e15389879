import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { addChangeHint } from '../../../core/change-hints'
import type { EventDraft, RecordResult } from '../../../core/change-result'
import { instant } from '../../../core/clock'
import { forUpdate } from '../../../core/db/dialect'
import { insertRows } from '../../../core/db/insert-rows'
import { prepared } from '../../../core/db/prepared'
import type { Tx } from '../../../core/db/transaction'
import { updateRows } from '../../../core/db/update-rows'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import type { JobKind } from '../../../core/jobs/job'
import { sequentialLanes } from '../../../core/jobs/lanes'
import { gapsJobFor, settleMs } from '../../certificates/gaps-job'
import { recordCertificates } from '../../certificates/record'
import { isNotable, type GradeLetter } from '../grades/grade'
import { usualPorts } from '../grades/shapes'
import { scanHost, ScanPostponed, type HostScan } from './scan-host'
import { minIntervalSeconds, type AddressGrade } from '../shapes'
import { tlsEndpoints, tlsScans } from '../tables'
import { gradeRank, type TlsEndpointRow } from '../view'
import { scanKind, type ScanPayload } from './scan-queue'
import { packed } from './stored-report'

/** How long a scan waits after it found no time to start, because too many others were running (ms). */
const postponedMs = 30_000

/** At most this many scans of an endpoint are kept. */
const maxScans = 100

/** Scans an endpoint, and stores what it finds. */
export const scanJob: JobKind<ScanPayload> = {
  kind: scanKind,
  concurrency: 16,
  lanes: { ...sequentialLanes, maxPerLane: 2, maxPerGroup: 4 },
  leaseMs: 120_000,
  retryAfter: attempts => (attempts < 3 ? attempts * 60_000 : null),
  async run(hub, { payload }) {
    const find = prepared(hub.read, 'endpoint-to-scan', handle =>
      handle
        .select({ endpoint: tlsEndpoints, suspendedAt: workspaces.suspendedAt })
        .from(tlsEndpoints)
        .innerJoin(workspaces, eq(workspaces.id, tlsEndpoints.workspaceId))
        .where(eq(tlsEndpoints.id, sql.placeholder('id'))),
    )
    const [found] = await find.execute({ id: payload.tls_endpoint_id })
    if (!found || found.suspendedAt !== null || found.endpoint.goneAt !== null) return undefined
    const { endpoint } = found
    const target = { ...endpoint, asksPlainHttp: needsHttps(endpoint) }
    const scan = await scanHost(hub, endpoint.workspaceId, target).catch(error => {
      if (error instanceof ScanPostponed) return null
      throw error
    })
    // Neither a scan that failed nor an attempt.
    if (!scan) return async () => ({ result: { again: hub.clock.now() + postponedMs } })
    const report = packed({ ...scan.report, plain_http: scan.plainHttp ?? null })
    return tx => storeScan(tx, hub, endpoint, { scan, report, trigger: payload.trigger })
  },
}

/** Whether it is the HTTPS port of a name that needs a certificate. */
const needsHttps = ({ origin, protocol, port }: TlsEndpointRow): boolean =>
  origin === 'coverage' && protocol === 'tls' && port === usualPorts.tls

interface FinishedScan {
  scan: HostScan
  /** The report, packed. */
  report: Uint8Array
  trigger: ScanPayload['trigger']
}

async function storeScan(
  tx: Tx,
  hub: Hub,
  scanned: TlsEndpointRow,
  { scan, report, trigger }: FinishedScan,
): Promise<RecordResult<undefined>> {
  const lock = prepared(tx, 'scanned-endpoint', (handle: Tx) =>
    forUpdate(
      handle
        .select()
        .from(tlsEndpoints)
        .where(eq(tlsEndpoints.id, sql.placeholder('id'))),
    ),
  )
  const [row] = await lock.execute({ id: scanned.id })
  // An update that sends another name scans again. An endpoint that is about to be deleted serves nothing anymore.
  if (!row || row.location !== scanned.location || row.goneAt !== null) return { result: undefined }
  const { startedAt, durationMs } = scan
  const { grade, score, profile, chain, error, reasons } = scan.report
  const id = newId('tsc')
  const rules = reasons.map(one => one.rule)
  await insertRows(tx, tlsScans, [
    { id, endpointId: row.id, trigger, startedAt, durationMs, grade, score, profile, chain, rules, error, report },
  ])
  await pruneScans(tx, row.id)
  const hasChanged = grade !== null && row.grade !== null && grade !== row.grade
  const now = hub.clock.now()
  const addresses = await recordServed(tx, row, scan, now)
  await updateRows(tx, tlsEndpoints, { name: 'scanned', set: scannedColumns }, [
    {
      ...row,
      lastScanId: id,
      lastScanAt: startedAt,
      nextScanAt: row.active ? now + waitSeconds(row, grade) * 1000 : null,
      addresses,
      certificateId: addresses.find(one => one.certificate_id !== null)?.certificate_id ?? row.certificateId,
      ...(scan.plainHttp !== undefined && { plainHttp: scan.plainHttp && { ...scan.plainHttp, seenAt: startedAt } }),
      failures: grade === null ? row.failures + 1 : 0,
      lastError: error,
      ...(grade !== null && { grade, gradeRank: gradeRank(grade), score, profile, chain, reasons }),
      ...(hasChanged && { previousGrade: row.grade, gradeChangedAt: now }),
    },
  ])
  const { workspaceId } = row
  addChangeHint(tx, { workspaceId, action: 'certificates.tls_endpoint.update', type: 'tls_endpoint', id: row.id, parentId: null })
  const events = hasChanged ? gradeEvents(row, grade, rules, now) : []
  return { result: undefined, events, jobs: [gapsJobFor(workspaceId, now + settleMs)] }
}

const scannedColumns = [
  ...(['lastScanId', 'lastScanAt', 'nextScanAt', 'addresses', 'certificateId', 'plainHttp', 'failures', 'lastError'] as const),
  ...(['grade', 'gradeRank', 'score', 'profile', 'chain', 'reasons', 'previousGrade', 'gradeChangedAt'] as const),
] as const

/** Failed scans are repeated sooner, unless the server was never known to speak TLS: many names of zones don’t. */
const waitSeconds = ({ intervalSeconds, origin, ...row }: TlsEndpointRow, grade: GradeLetter | null): number =>
  grade === null && (origin !== 'coverage' || row.grade !== null)
    ? Math.min(intervalSeconds, minIntervalSeconds)
    : intervalSeconds

/** Records which certificates the addresses serve to modern clients. Those of addresses that could not be scanned are left as they are, and those of addresses that the host no longer has are ended. */
async function recordServed(
  tx: Tx,
  { id: endpointId, workspaceId, host, port, servername }: TlsEndpointRow,
  { report, chains, withoutTls }: HostScan,
  now: number,
): Promise<AddressGrade[]> {
  const scanned = report.addresses.filter(one => one.address !== '')
  const failed = scanned.filter(one => one.grade === null)
  const served = scanned.flatMap(({ address }) => {
    const [chain] = chains.get(address) ?? []
    return chain ? [{ address, chain: chain.sent.map(one => one.der) }] : []
  })
  const ids = await recordCertificates(
    tx,
    workspaceId,
    served.map(({ address, chain }) => ({ chain, presence: { kind: 'endpoint', endpointId, address, host, port, servername } })),
    now,
    { all: scanned.length > 0 ? [{ kind: 'endpoint', scopeId: endpointId, unknown: failed.map(one => one.address) }] : [] },
  )
  const idOf = new Map(served.map(({ address }, at) => [address, ids[at] ?? null]))
  return scanned.map(({ address, grade, error }) => ({
    ...{ address, state: grade !== null ? 'tls' : withoutTls.has(address) ? 'no_tls' : 'unreachable' },
    ...{ grade, certificate_id: idOf.get(address) ?? null, error },
  }))
}

async function pruneScans(tx: Tx, endpointId: string): Promise<void> {
  const old = await prepared(tx, 'excess-scans', (handle: Tx) =>
    handle
      .select({ id: tlsScans.id })
      .from(tlsScans)
      .where(eq(tlsScans.endpointId, sql.placeholder('endpointId')))
      .orderBy(desc(tlsScans.id))
      .limit(maxScans)
      .offset(maxScans),
  ).execute({ endpointId })
  const ids = old.map(one => one.id)
  if (ids.length > 0) await tx.delete(tlsScans).where(and(eq(tlsScans.endpointId, endpointId), inArray(tlsScans.id, ids)))
}

function gradeEvents(
  { id, workspaceId, host, port, grade: previous }: TlsEndpointRow,
  grade: GradeLetter,
  reasons: string[],
  now: number,
): EventDraft[] {
  if (previous === null || !isNotable(grade, previous)) return []
  return [
    {
      workspaceId,
      kind: 'tls_endpoint.grade_changed',
      resource: { type: 'tls_endpoint', id },
      data: { endpoint: { id, host, port }, grade, previous_grade: previous, reasons, changed_at: instant(now) },
    },
  ]
}
