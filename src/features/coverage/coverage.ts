import { and, asc, eq, gt, inArray } from 'drizzle-orm'
import { isDeepStrictEqual } from 'node:util'
import { record } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { insertRows } from '../../core/db/insert-rows'
import { batchesOf } from '../../core/db/rows-in-batches'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { listingOf, listPage } from '../../core/list'
import { searchFilter, textFilter, wordsFilter } from '../../core/list-filters'
import type { Page } from '../../core/shapes'
import { isTurnOver, yieldToEventLoop } from '../../core/time-slices'
import type { CoveredName } from './covered-names'
import { lockGaps } from './gap-rows'
import { covers } from './names'
import type { CertificateCoverageView } from './shapes'
import { certificateCoverage, certificateGaps, type CoverageRow } from './tables'

export const coverageListing = listingOf('certificate-coverage', certificateCoverage, {
  id: certificateCoverage.name,
  idOf: row => row.name,
  defaultSort: 'id',
  accessColumn: certificateCoverage.zoneId,
  filters: {
    q: searchFilter([certificateCoverage.name], 'Only names that contain all words of this text.'),
    zone_id: textFilter(certificateCoverage.zoneId, 'Only names in this zone.'),
    covered: wordsFilter(certificateCoverage.covered, covers, 'Only names that are covered like this.'),
  },
  sorts: [],
})

const maxGapIds = 100

export async function listCertificateCoverage(ctx: Ctx, query: Record<string, unknown>): Promise<Page<CertificateCoverageView>> {
  const { data, pagination } = await listPage(ctx, coverageListing, query, (row: CoverageRow) => row)
  const { id, name, workspaceId, status } = certificateGaps
  const names = data.map(row => row.name)
  const gaps =
    names.length === 0
      ? []
      : await ctx.hub.read
          .select({ id, name })
          .from(certificateGaps)
          .where(and(eq(workspaceId, ctx.workspaceId), inArray(name, names), inArray(status, ['open', 'acknowledged'])))
          .orderBy(asc(id))
  const gapsOf = Map.groupBy(gaps, one => one.name)
  return { data: data.map(row => view(row, (gapsOf.get(row.name) ?? []).map(one => one.id).slice(0, maxGapIds))), pagination }
}

const view = (row: CoverageRow, gapIds: string[]): CertificateCoverageView => ({
  name: row.name,
  zone_id: row.zoneId,
  sources: row.because,
  covered: row.covered,
  certificate_id: row.certificateId,
  valid_until: instant(row.validUntil),
  endpoint_ids: row.endpointIds,
  gap_ids: gapIds,
})

// Keeps transactions short.
const perChange = 200

/** Stores the names of a workspace. Writes only what has changed. */
export async function saveCoverage(hub: Hub, workspaceId: string, names: readonly CoveredName[]): Promise<void> {
  const before = await storedNames(hub.read, workspaceId)
  const changed: CoverageRow[] = []
  for (const { because, endpointIds, ...one } of names) {
    const row = { workspaceId, ...one, because: [...because], endpointIds: [...endpointIds] }
    if (!isDeepStrictEqual(row, before.get(row.name))) changed.push(row)
    before.delete(row.name)
    if (isTurnOver()) await yieldToEventLoop()
  }
  const gone = [...before.keys()]
  const ofName = new Map(changed.map(row => [row.name, row]))
  const all = [...gone, ...ofName.keys()]
  for (let at = 0; at < all.length; at += perChange) {
    const some = all.slice(at, at + perChange)
    await record(hub, async tx => {
      await lockGaps(tx, workspaceId)
      await tx
        .delete(certificateCoverage)
        .where(and(eq(certificateCoverage.workspaceId, workspaceId), inArray(certificateCoverage.name, some)))
      await insertRows(
        tx,
        certificateCoverage,
        some.flatMap(name => ofName.get(name) ?? []),
      )
      return { result: undefined }
    })
  }
}

async function storedNames(read: Reader, workspaceId: string): Promise<Map<string, CoverageRow>> {
  const found = new Map<string, CoverageRow>()
  const page = (after: string, max: number) =>
    read
      .select()
      .from(certificateCoverage)
      .where(and(eq(certificateCoverage.workspaceId, workspaceId), gt(certificateCoverage.name, after)))
      .orderBy(asc(certificateCoverage.name))
      .limit(max)
  for await (const rows of batchesOf(page, row => row.name)) for (const row of rows) found.set(row.name, row)
  return found
}
