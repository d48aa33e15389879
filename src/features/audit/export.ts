import { and, asc, eq, gt, lte } from 'drizzle-orm'
import { StreamedResponse } from '../../api/streamed-response'
import { codeOf } from '../audit-actions'
import { auditCounter, chainedEntry } from '../../core/audit-chain'
import type { Ctx } from '../../core/ctx'
import { auditEntries, counters } from '../../core/db/tables'
import { csvRecord } from '../../core/csv'

type Entry = typeof auditEntries.$inferSelect

const pageSize = 500
const forms = {
  ndjson: { type: 'application/x-ndjson', line: ndjsonLine },
  csv: { type: 'text/csv; charset=utf-8', line: csvLine },
}

/** Streams the audit log of the workspace up to now, oldest first, page by page. */
export async function exportAuditEvents(ctx: Ctx, format: keyof typeof forms): Promise<StreamedResponse> {
  const { type, line } = forms[format]
  const [counter] = await ctx.hub.read
    .select()
    .from(counters)
    .where(eq(counters.name, auditCounter(ctx.workspaceId)))
  const last = counter?.value ?? 0
  return new StreamedResponse(type, `audit-${ctx.workspaceId}-${last}.${format}`, chunks())

  async function* chunks(): AsyncGenerator<string> {
    if (format === 'csv') yield csvRecord(columns)
    for (let seq = 0; ;) {
      const page = await ctx.hub.read
        .select()
        .from(auditEntries)
        .where(and(eq(auditEntries.workspaceId, ctx.workspaceId), gt(auditEntries.seq, seq), lte(auditEntries.seq, last)))
        .orderBy(asc(auditEntries.seq))
        .limit(pageSize)
      if (page.length > 0) yield page.map(line).join('')
      if (page.length < pageSize) return
      seq = page.at(-1)!.seq
    }
  }
}

/**
 * An entry with its chain fields, as `bailiwick audit verify --export` reads it. The code is derived from the action and the
 * outcome, and is not hashed: a later version may have a code for an action that this version doesn't know.
 */
export const linkedEntry = (row: Entry) => ({
  ...chainedEntry(row),
  code: codeOf(row.action, row.outcome),
  prev_hash: hex(row.prevHash),
  hash: hex(row.hash),
  mac: hex(row.mac),
})

function ndjsonLine(row: Entry): string {
  return `${JSON.stringify(linkedEntry(row))}\n`
}

const columns = [
  'seq',
  'id',
  'occurred_at',
  'action',
  'code',
  'outcome',
  'actor_type',
  'actor_id',
  'actor_name',
  'actor_hint',
  'targets',
  'ip',
  'user_agent',
  'request_id',
  'client_request_id',
  'idempotency_key',
  'channel',
  'changes',
  'reason',
  'hash',
] as const

function csvLine(row: Entry): string {
  const { actor, context, ...entry } = chainedEntry(row)
  return csvRecord([
    entry.seq,
    entry.id,
    entry.occurred_at,
    entry.action,
    codeOf(entry.action, entry.outcome),
    entry.outcome,
    actor.type,
    actor.id,
    actor.name,
    actor.hint,
    JSON.stringify(entry.targets),
    context.ip,
    context.user_agent,
    context.request_id,
    context.client_request_id,
    context.idempotency_key,
    context.channel,
    entry.changes && JSON.stringify(entry.changes),
    entry.reason,
    hex(row.hash),
  ])
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
