import { and, asc, eq, gt } from 'drizzle-orm'
import { StreamedResponse } from '../../api/streamed-response'
import { csvRecord } from '../../core/csv'
import type { Ctx } from '../../core/ctx'
import { exportColumns, importColumns } from './import-shapes'
import { domains } from './tables'
import { domainView } from './view'

const pageSize = 500
const columns = [...importColumns, ...exportColumns]

/** Streams all domains of the workspace as CSV, oldest first. */
export function exportDomains(ctx: Ctx): StreamedResponse {
  const { hub, workspaceId } = ctx
  return new StreamedResponse('text/csv; charset=utf-8', `domains-${workspaceId}.csv`, chunks())

  async function* chunks(): AsyncGenerator<string> {
    yield csvRecord(columns)
    for (let after = ''; ;) {
      const rows = await hub.read
        .select()
        .from(domains)
        .where(and(eq(domains.workspaceId, workspaceId), gt(domains.id, after)))
        .orderBy(asc(domains.id))
        .limit(pageSize)
      if (rows.length > 0) yield rows.map(row => csvRecord(cellsOf(domainView(hub, row)))).join('')
      if (rows.length < pageSize) return
      after = rows.at(-1)!.id
    }
  }
}

const cellsOf = (view: ReturnType<typeof domainView>): (string | null)[] => [
  view.name,
  view.expires_at,
  view.registrar?.name ?? null,
  view.auto_renew === null ? null : String(view.auto_renew),
  view.tags.join(' '),
  view.notes,
  view.status,
  view.expiry.confidence,
  view.delegation.state,
  view.id,
]
