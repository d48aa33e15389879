import { and, desc, eq, getTableColumns, isNotNull, lt } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { listingOf, listPage } from '../../../core/list'
import { timeFilters, wordsFilter } from '../../../core/list-filters'
import { notFound } from '../../../core/problem'
import { findRow } from '../../../core/rows'
import type { Page } from '../../../core/shapes'
import { gradeLetters } from '../grades/grade'
import { explainedReason, type StoredReport } from '../grades/report'
import { tlsScans } from '../tables'
import { tlsEndpointRows } from '../view'
import { compareReports } from './compare'
import type { TlsScanSummaryView, TlsScanView } from './shapes'
import { unpacked } from './stored-report'

type ScanRow = typeof tlsScans.$inferSelect

// All but the report.
const { report: _, ...summaryColumns } = getTableColumns(tlsScans)

export const tlsScanListing = listingOf('tls-scans', tlsScans, {
  owner: tlsScans.endpointId,
  accessColumn: tlsScans.endpointId,
  columns: summaryColumns,
  isSmall: true,
  filters: {
    grade: wordsFilter(tlsScans.grade, gradeLetters, 'Only scans with one of these grades.'),
    ...timeFilters('started_at', tlsScans.startedAt),
  },
  sorts: ['started_at'],
})

const identity = (row: Pick<ScanRow, 'id' | 'endpointId' | 'trigger' | 'startedAt' | 'durationMs'>) => ({
  id: row.id,
  endpoint_id: row.endpointId,
  trigger: row.trigger,
  started_at: instant(row.startedAt),
  duration_ms: row.durationMs,
})

const summary = (row: ScanRow): TlsScanSummaryView => {
  const { grade, score, profile, chain, rules, error } = row
  return { ...identity(row), grade, score, profile, chain, rules, error }
}

/** Lists the scans of an endpoint. @throws Problem 404 */
export async function listTlsScans(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<TlsScanSummaryView>> {
  await findRow(ctx.hub.read, ctx, tlsEndpointRows, id)
  return await listPage(ctx, tlsScanListing, query, summary, id)
}

/** The parts of a report that responses contain. */
export const reportView = ({ reasons, ...report }: StoredReport, protocol: string) => ({
  ...report,
  opportunistic: protocol !== 'tls',
  reasons: reasons.map(explainedReason),
})

/**
 * Returns a scan, compared with another one or the previous one that succeeded.
 * @throws Problem 404
 */
export async function getTlsScan(ctx: Ctx, id: string, scanId: string, otherId?: string): Promise<TlsScanView> {
  const endpoint = await findRow(ctx.hub.read, ctx, tlsEndpointRows, id)
  const row = await scanOf(ctx, id, scanId)
  const other = otherId === undefined ? await previousScan(ctx, row) : await scanOf(ctx, id, otherId)
  const report = await unpacked(row.report)
  return {
    ...identity(row),
    ...reportView(report, endpoint.protocol),
    plain_http: report.plain_http ?? null,
    compared_to: other?.id ?? null,
    changes: other ? compareReports(await unpacked(other.report), report) : [],
  }
}

async function scanOf({ hub }: Ctx, endpointId: string, id: string): Promise<ScanRow> {
  const [row] = await hub.read
    .select()
    .from(tlsScans)
    .where(and(eq(tlsScans.id, id), eq(tlsScans.endpointId, endpointId)))
  if (!row) throw notFound('scan')
  return row
}

async function previousScan({ hub }: Ctx, { id, endpointId }: ScanRow): Promise<ScanRow | undefined> {
  const [row] = await hub.read
    .select()
    .from(tlsScans)
    .where(and(eq(tlsScans.endpointId, endpointId), lt(tlsScans.id, id), isNotNull(tlsScans.grade)))
    .orderBy(desc(tlsScans.id))
    .limit(1)
  return row
}
