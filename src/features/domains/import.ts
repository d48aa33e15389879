import { and, eq, inArray } from 'drizzle-orm'
import { countOf, lockLimit, refuseOverLimit } from '../../access/plans'
import { checkStructure, mediaTypeOf } from '../../api/request-body'
import { target } from '../../core/audit'
import { auditDrafts, change, record } from '../../core/change'
import type { AuditDraft } from '../../core/change-result'
import type { Ctx } from '../../core/ctx'
import { insertRowsReturning, skipExisting } from '../../core/db/insert-rows'
import type { Reader, Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import type { JobDraft } from '../../core/jobs/draft'
import { invalid, type FieldProblem } from '../../core/problem'
import { targetOf } from '../../core/rows'
import { flatMapInTurns, isTurnOver, yieldToEventLoop } from '../../core/time-slices'
import { fieldProblems } from '../../core/validate'
import { factsJobFor } from '../registry/facts-job'
import { declareInterests } from '../registry/interests'
import { knownFacts } from '../registry/known'
import { newDomainColumns, type GivenColumns } from './domains'
import { parsedLine } from './import-line'
import { csvLines, decodeText, plainLines, refuseTooMany, type ImportLine } from './import-lines'
import { DomainImportDocument, type DomainImport, type DomainImportQuery, type ImportedLine } from './import-shapes'
import { domains } from './tables'
import { auditedView, domainRows } from './view'

/** Keeps transactions short: each blocks all other writes of the process. */
const linesPerChange = 100
const maxProblems = 20
const names = 500

/** A line with what it becomes. `given` is null if it is not created. */
interface Candidate {
  result: ImportedLine
  given: GivenColumns | null
}

/**
 * Tracks the domains of a list. Domains that are tracked already are left as they are, and invalid lines are reported.
 * @throws Problem 422 for a document that can’t be read, and in the mode `atomic` for each invalid line; 403 if the limit is reached then
 */
export async function importDomains(
  ctx: Ctx,
  { bytes, request }: { bytes: Uint8Array; request: Request },
  { dry_run: isDryRun = false, mode = 'partial' }: DomainImportQuery,
): Promise<DomainImport> {
  const lines = await readLines(bytes, mediaTypeOf(request))
  const candidates = await flatMapInTurns(lines, line => [parsedLine(line)])
  await markKnown(ctx, candidates)
  const isAtomic = mode === 'atomic'
  if (isAtomic) refuseInvalid(candidates)
  const created = candidates.filter(one => one.given !== null)
  if (!isDryRun && !isAtomic)
    for (let at = 0; at < created.length; at += linesPerChange) {
      const some = created.slice(at, at + linesPerChange)
      await record(ctx.hub, async tx => ({ result: undefined, ...(await store(tx, ctx, some, false)) }))
      await yieldToEventLoop()
    }
  if (isDryRun) return resultOf(candidates)
  return await change(ctx, 'domains.domain.import', async tx => {
    const done = isAtomic ? await store(tx, ctx, created, true) : {}
    const result = resultOf(candidates)
    const targets = target('workspace', { id: ctx.workspaceId })
    return { result, target: targets, unchanged: result.created === 0, ...done }
  })
}

async function readLines(bytes: Uint8Array, mediaType: string): Promise<ImportLine[]> {
  const text = decodeText(bytes)
  if (mediaType === 'text/csv') return await csvLines(text)
  if (mediaType === 'text/plain') return plainLines(text)
  checkStructure(text)
  const document = parsedJson(text)
  const problems = fieldProblems(DomainImportDocument, document)
  if (problems.length > 0) throw invalid(problems.slice(0, maxProblems))
  const lines = (document as DomainImportDocument).domains.map((one, at): ImportLine => {
    const { name, expires_at, tags, notes } = typeof one === 'string' ? { name: one } : one
    return {
      line: at + 1,
      cells: {
        name,
        ...(expires_at && { expires_at }),
        ...(tags && { tags: tags.join(' ') }),
        ...(notes !== undefined && { notes }),
      },
    }
  })
  refuseTooMany(lines)
  return lines
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid([{ pointer: '#', code: 'format', detail: 'must be a JSON document.' }])
  }
}

/** Marks the lines whose domain is tracked, or is on an earlier line. */
async function markKnown({ hub, workspaceId }: Ctx, candidates: readonly Candidate[]): Promise<void> {
  const known = await idsOf(
    hub.read,
    workspaceId,
    candidates.flatMap(one => one.given?.name ?? []),
  )
  const seen = new Set<string>()
  for (const one of candidates) {
    if (one.given === null) continue
    const { name } = one.given
    const id = known.get(name)
    if (seen.has(name)) one.result.outcome = 'duplicate'
    else if (id !== undefined) Object.assign(one.result, { outcome: 'existing', id })
    if (seen.has(name) || id !== undefined) one.given = null
    seen.add(name)
  }
}

async function idsOf(read: Reader, workspaceId: string, list: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (let at = 0; at < list.length; at += names) {
    const isOne = inArray(domains.name, list.slice(at, at + names))
    const rows = await read
      .select({ id: domains.id, name: domains.name })
      .from(domains)
      .where(and(eq(domains.workspaceId, workspaceId), isOne))
    for (const row of rows) found.set(row.name, row.id)
    if (isTurnOver()) await yieldToEventLoop()
  }
  return found
}

function refuseInvalid(candidates: readonly Candidate[]): void {
  const problems: FieldProblem[] = candidates.flatMap(({ result: { line, code, detail } }) =>
    code === null ? [] : [{ pointer: `#/lines/${line}`, code, detail: detail! }],
  )
  if (problems.length > 0) throw invalid(problems.slice(0, maxProblems))
}

/** Inserts domains, as far as the limit of the plan allows. @throws Problem 403 if it must allow all of them */
async function store(
  tx: Tx,
  ctx: Ctx,
  all: readonly Candidate[],
  isAtomic: boolean,
): Promise<{ audits: AuditDraft[]; jobs: JobDraft[] }> {
  const { hub, workspaceId } = ctx
  const now = hub.clock.now()
  const room = isAtomic ? all.length : await roomFor(tx, ctx)
  for (const { result } of all.slice(room))
    Object.assign(result, { outcome: 'invalid', code: 'plan_limit_reached', detail: 'is over the limit of the plan.' })
  const some = all.slice(0, room)
  if (some.length > 0) await refuseOverLimit(tx, ctx, 'domain', some.length)
  const rows = some.map(({ given }) => ({
    ...{ id: newId('dom'), workspaceId, version: 1, createdAt: now, updatedAt: now },
    ...newDomainColumns(given!, now),
  }))
  const inserted: (typeof domains.$inferSelect)[] = []
  for (let at = 0; at < rows.length; at += linesPerChange) {
    inserted.push(...(await insertRowsReturning(tx, domains, rows.slice(at, at + linesPerChange), skipExisting)))
    if (isTurnOver()) await yieldToEventLoop(true)
  }
  const byName = new Map(inserted.map(row => [row.name, row]))
  for (const { result } of some) {
    const row = byName.get(result.name!)
    // Someone else was faster if there is none. All members are set, because the transaction may be retried.
    Object.assign(result, { outcome: row ? 'created' : 'existing', code: null, detail: null, id: row?.id ?? null })
  }
  await declareInterests(
    tx,
    hub,
    'domain',
    inserted.map(({ id, name, tld, lookEverySeconds }) => ({ id, name, tld, everySeconds: lookEverySeconds })),
  )
  const known = await knownFacts(tx, [...byName.keys()])
  return {
    audits: inserted.flatMap(row =>
      auditDrafts(ctx, 'domains.domain.create', {
        ...{ result: undefined, target: targetOf(domainRows, row), before: null, after: auditedView(row) },
      }),
    ),
    jobs: [...known.values()].filter(row => row.readAt !== null).map(row => factsJobFor(row.name)),
  }
}

async function roomFor(tx: Tx, { workspaceId, limits }: Ctx): Promise<number> {
  const max = limits.domains ?? null
  if (max === null) return Infinity
  await lockLimit(tx, 'domains', workspaceId)
  return Math.max(0, max - (await countOf(tx, 'domain', workspaceId)))
}

function resultOf(candidates: readonly Candidate[]): DomainImport {
  const count = (outcome: ImportedLine['outcome']) => candidates.filter(one => one.result.outcome === outcome).length
  return {
    created: count('created'),
    existing: count('existing'),
    invalid: count('invalid'),
    lines: candidates.map(one => one.result),
  }
}
