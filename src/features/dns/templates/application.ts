import type { Reader } from '../../../core/db/transaction'
import { invalid, Problem, type FieldProblem } from '../../../core/problem'
import { rrsetProblems, type WantedRrset } from '../rrset-rules'
import { isSpf, mostSpfLookups, spfLookups } from '../spf'
import { joinedText } from '../record-values'
import type { BlockReason } from '../sync/guards'
import { plannedOp, type PlannedOp } from '../sync/plan-forms'
import { editsOf as opsOf } from '../sync/zone-edits'
import { rrsetKey, rrsetsAt, type ZoneRow } from '../zone-rows'
import type { Values } from './content'
import { bindingsAt } from './note-edits'
import { place, type Placing, type RecordOutcome, type Shared } from './place'
import type { PlacedRrset } from './placed'
import { render } from './render'
import { replacedTemplates } from './replaced'
import type { KnownTemplate } from './templates'
import { settleValues } from './variables'

/** A template in one place, as far as the zone tells what it would do there. */
export interface Application extends Placing {
  ops: PlannedOp[]
  /** Why it is not done unasked. */
  reasons: BlockReason[]
  warnings: { rule: 'spf_lookups'; name: string; type: string; detail: string }[]
}

const mostProblems = 20

/**
 * Works out what a template would do at a place in a zone; nothing is written.
 * @param before what it put there the last time, with the id of the binding
 * @throws Problem 422 for values, and for records that break a rule with them
 */
export async function applicationOf(
  read: Reader,
  of: {
    template: KnownTemplate
    zone: ZoneRow
    host: string
    variables: Values
    before: { bindingId: string; placed: readonly PlacedRrset[] } | null
  },
): Promise<Application> {
  const { template, zone, host } = of
  const settled = settleValues(template.content.variables, of.variables)
  refuse(settled.problems)
  const rendered = render(template.content, { zone: zone.name, host }, settled.values)
  refuse([...rendered.problems, ...differing(rendered.records)])
  const before = of.before?.placed ?? []
  const placing = await placed(read, zone, rendered.records, before, of.before?.bindingId ?? null)
  refuse(placing.wanted.flatMap(rrsetProblems))
  const { ops, reasons } = await opsOf(read, zone, placing.wanted)
  const replaced = await replacedTemplates(read, zone.id, placing.wanted, of.before?.bindingId ?? null)
  return { ...placing, ops: ops.map(plannedOp), reasons: [...reasons, ...replaced], warnings: warningsOf(placing.wanted) }
}

/** Takes away what a binding put into its zone, but for what was edited there and what other bindings rely on. */
export async function removalOf(
  read: Reader,
  zone: ZoneRow,
  before: { bindingId: string; placed: readonly PlacedRrset[] },
): Promise<{ wanted: WantedRrset[]; reasons: BlockReason[] }> {
  const existing = await rrsetsAt(
    read,
    zone.id,
    before.placed.map(one => one.name),
  )
  const untouched = before.placed.filter(one => one.ttl === null || existing.get(rrsetKey(one))?.row.ttl === one.ttl)
  const { wanted } = await placed(read, zone, [], untouched, before.bindingId)
  return { wanted, reasons: (await opsOf(read, zone, wanted)).reasons }
}

/** @throws Problem 409 `conflict` that lists the records for which nothing can be applied */
export function refuseConflicts(outcomes: readonly RecordOutcome[], zone: { name: string }): void {
  const stopped = outcomes.filter(one => one.outcome === 'conflict')
  if (stopped.length === 0) return
  const [first] = stopped
  const more = stopped.length > 1 ? ` (and ${stopped.length - 1} more)` : ''
  throw new Problem(
    'conflict',
    `${zone.name}: ${first!.record.type} of ${first!.record.name} is in conflict with what is there${more}. Nothing was applied.`,
    { members: { conflicts: stopped.map(outcomeView) } },
  )
}

export const outcomeView = ({ record, outcome, others, detail }: RecordOutcome) => ({
  record: record.index,
  name: record.name,
  type: record.type,
  content: record.value.content,
  outcome,
  others,
  detail,
})

async function placed(
  read: Reader,
  zone: ZoneRow,
  rendered: Parameters<typeof place>[0]['rendered'],
  before: readonly PlacedRrset[],
  bindingId: string | null,
): Promise<Placing> {
  const concerned = [...rendered, ...before]
  const existing = await rrsetsAt(
    read,
    zone.id,
    concerned.map(one => one.name),
  )
  const shared = await sharedAt(read, zone.id, concerned, bindingId)
  return place({ rendered, existing, before, shared, defaultTtl: zone.defaultTtl })
}

/** What other bindings of the zone rely on. */
async function sharedAt(
  read: Reader,
  zoneId: string,
  rrsets: readonly { name: string; type: string }[],
  except: string | null,
): Promise<Map<string, Shared>> {
  const shared = new Map<string, { hashes: Set<string>; terms: Set<string> }>()
  for (const [id, others] of await bindingsAt(read, zoneId, rrsets)) {
    if (id === except) continue
    for (const other of others) {
      const there = shared.get(rrsetKey(other)) ?? { hashes: new Set(), terms: new Set() }
      for (const value of other.values) there.hashes.add(value.hash)
      for (const term of other.spf?.terms ?? []) there.terms.add(term.toLowerCase())
      shared.set(rrsetKey(other), there)
    }
  }
  return shared
}

/** Two records may come to the same name by their variables alone. */
function differing(records: Parameters<typeof place>[0]['rendered']): FieldProblem[] {
  return [...Map.groupBy(records, rrsetKey).values()].flatMap(([first, ...others]) =>
    others
      .filter(one => one.ttl !== first!.ttl || (one.type !== 'TXT' && one.onConflict !== first!.onConflict))
      .map(one => ({
        pointer: `${one.pointer}/name`,
        code: 'dns_rule',
        detail: `must not come to ${one.name} with another ttl or on_conflict than record ${first!.index} of the type (RFC 2181 5.2).`,
      })),
  )
}

const warningsOf = (wanted: readonly WantedRrset[]): Application['warnings'] =>
  wanted.flatMap(({ name, type, values }) =>
    values.flatMap(value => {
      const text = joinedText(type, value.rdata)
      const lookups = text !== null && isSpf(text) ? spfLookups(text) : 0
      return lookups > mostSpfLookups
        ? [
            {
              rule: 'spf_lookups' as const,
              name,
              type,
              detail: `SPF with ${lookups} terms that are looked up is an error beyond ${mostSpfLookups} (RFC 7208 4.6.4).`,
            },
          ]
        : []
    }),
  )

/** @throws Problem 422 */
function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw invalid(problems.slice(0, mostProblems))
}
