import type { Reader } from '../../../core/db/transaction'
import { Problem, type FieldProblem } from '../../../core/problem'
import { refuse } from '../changes/change-zone'
import { rrsetProblems, type WantedRrset } from '../changes/rrset-rules'
import { isSpf, maxSpfLookups, spfLookups } from '../records/spf'
import { joinedText } from '../records/values'
import type { BlockReason } from '../plans/guards'
import { plannedOp, type PlannedOp } from '../plans/plan-forms'
import { editsOf as opsOf } from '../plans/zone-edits'
import { rrsetKey } from '../zones/names'
import { rrsetsAt } from '../records/rows'
import { type ZoneRow } from '../zones/rows'
import type { Values } from './content'
import { bindingsAt } from './track-modifications'
import { place, type Placement, type RecordOutcome, type Shared } from './place'
import type { PlacedRrset } from './placed-rrsets'
import { render } from './render'
import { replacedTemplates } from './replaced-templates'
import type { KnownTemplate } from './templates'
import { settleValues } from './variables'

/** What applying a template at one place in a zone would do. */
interface Application extends Placement {
  ops: PlannedOp[]
  /** Reasons that block it unless they are allowed. */
  reasons: BlockReason[]
  warnings: { rule: 'spf_too_many_lookups'; name: string; type: string; detail: string }[]
}

/**
 * Computes what a template would do at a place in a zone. Writes nothing.
 * @param before what the binding placed the last time
 * @throws Problem 422 for invalid variables, and for records that are invalid with them
 */
export async function planApplication(
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
  refuse([...rendered.problems, ...inconsistentRecords(rendered.records)])
  const before = of.before?.placed ?? []
  const placement = await placeInZone(read, zone, rendered.records, before, of.before?.bindingId ?? null)
  refuse(placement.wanted.flatMap(rrsetProblems))
  const { ops, reasons } = await opsOf(read, zone, placement.wanted)
  const replaced = await replacedTemplates(read, zone.id, placement.wanted, of.before?.bindingId ?? null)
  return { ...placement, ops: ops.map(plannedOp), reasons: [...reasons, ...replaced], warnings: warningsOf(placement.wanted) }
}

/** Removes what a binding placed in its zone, except edited records and records that other bindings use. */
export async function removalOf(
  read: Reader,
  zone: ZoneRow,
  before: { bindingId: string; placed: readonly PlacedRrset[] },
): Promise<{ wanted: WantedRrset[]; reasons: BlockReason[] }> {
  const existing = await rrsetsAt(read, zone.id, before.placed)
  const unmodified = before.placed.filter(one => one.ttl === null || existing.get(rrsetKey(one))?.row.ttl === one.ttl)
  const { wanted } = await placeInZone(read, zone, [], unmodified, before.bindingId)
  return { wanted, reasons: (await opsOf(read, zone, wanted)).reasons }
}

/** @throws Problem 409 `conflict` listing the records in conflict */
export function refuseConflicts(outcomes: readonly RecordOutcome[], zone: { name: string }): void {
  const conflicts = outcomes.filter(one => one.outcome === 'conflict')
  if (conflicts.length === 0) return
  const [first] = conflicts
  const more = conflicts.length > 1 ? ` (and ${conflicts.length - 1} more)` : ''
  throw new Problem(
    'conflict',
    `The ${first!.record.type} record of ${first!.record.name} conflicts with existing records of ${zone.name}${more}. Nothing was applied.`,
    { fields: { conflicts: conflicts.map(outcomeView) } },
  )
}

export const outcomeView = ({ record, outcome, existing, detail }: RecordOutcome) => ({
  record_index: record.index,
  name: record.name,
  type: record.type,
  content: record.value.content,
  outcome,
  existing,
  detail,
})

async function placeInZone(
  read: Reader,
  zone: ZoneRow,
  rendered: Parameters<typeof place>[0]['rendered'],
  before: readonly PlacedRrset[],
  bindingId: string | null,
): Promise<Placement> {
  const affected = [...rendered, ...before]
  const existing = await rrsetsAt(read, zone.id, affected)
  const shared = await sharedAt(read, zone.id, affected, bindingId)
  return place({ rendered, existing, before, shared, defaultTtl: zone.defaultTtl })
}

/** What other bindings of the zone use, by rrsetKey. */
async function sharedAt(
  read: Reader,
  zoneId: string,
  rrsets: readonly { name: string; type: string }[],
  exceptBindingId: string | null,
): Promise<Map<string, Shared>> {
  const shared = new Map<string, { hashes: Set<string>; terms: Set<string> }>()
  for (const [id, others] of await bindingsAt(read, zoneId, rrsets)) {
    if (id === exceptBindingId) continue
    for (const other of others) {
      const entry = shared.get(rrsetKey(other)) ?? { hashes: new Set(), terms: new Set() }
      for (const value of other.values) entry.hashes.add(value.hash)
      for (const term of other.spf?.terms ?? []) entry.terms.add(term.toLowerCase())
      shared.set(rrsetKey(other), entry)
    }
  }
  return shared
}

/** Different records of a template can end up at the same name once variables are filled in. */
function inconsistentRecords(records: Parameters<typeof place>[0]['rendered']): FieldProblem[] {
  return [...Map.groupBy(records, rrsetKey).values()].flatMap(([first, ...others]) =>
    others
      .filter(one => one.ttl !== first!.ttl || (one.type !== 'TXT' && one.onConflict !== first!.onConflict))
      .map(one => ({
        pointer: `${one.pointer}/name`,
        code: 'dns_rule',
        detail: `resolves to ${one.name}, so it must have the same ttl and on_conflict as record ${first!.index} (RFC 2181 5.2).`,
      })),
  )
}

const warningsOf = (wanted: readonly WantedRrset[]): Application['warnings'] =>
  wanted.flatMap(({ name, type, values }) =>
    values.flatMap(value => {
      const text = joinedText(type, value.rdata)
      const lookups = text !== null && isSpf(text) ? spfLookups(text) : 0
      return lookups > maxSpfLookups
        ? [
            {
              rule: 'spf_too_many_lookups' as const,
              name,
              type,
              detail: `The SPF record needs ${lookups} DNS lookups; receivers allow at most ${maxSpfLookups} (RFC 7208 4.6.4).`,
            },
          ]
        : []
    }),
  )
