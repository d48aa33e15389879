import { and, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import { joinedText, storedValue } from '../records/values'
import type { WantedRrset } from '../changes/rrset-rules'
import { isSpf, missingTerms } from '../records/spf'
import { reason, type BlockReason } from '../plans/guards'
import { rrsetKey } from '../zones/names'
import { rrsetsAt } from '../records/rows'
import { bindingsAt } from './track-modifications'
import type { PlacedRrset } from './placed-rrsets'
import { dnsTemplateBindings as b } from './tables'

type Values = readonly { hash: string; rdata: Uint8Array }[]

/**
 * Returns the reason that blocks a template from replacing records of another linked template; empty if it replaces none.
 * @param wanted rrsets that the template changes
 * @param bindingId the template’s own binding, if it was applied before
 */
export async function replacedTemplates(
  read: Reader,
  zoneId: string,
  wanted: readonly WantedRrset[],
  bindingId: string | null,
): Promise<BlockReason[]> {
  const others = await bindingsAt(read, zoneId, wanted)
  if (bindingId !== null) others.delete(bindingId)
  if (others.size === 0) return []
  const linked = await read
    .select({ id: b.id })
    .from(b)
    .where(and(inArray(b.id, [...others.keys()]), eq(b.mode, 'linked')))
  const existing = await rrsetsAt(read, zoneId, wanted)
  const after = new Map(wanted.map(one => [rrsetKey(one), one.values]))
  const lost = linked.flatMap(({ id }) =>
    others.get(id)!.filter(one => {
      const before = (existing.get(rrsetKey(one))?.records ?? []).map(storedValue)
      return isReplaced(one, before, after.get(rrsetKey(one)) ?? [])
    }),
  )
  if (lost.length === 0) return []
  const names = [...new Map(lost.map(one => [rrsetKey(one), one])).values()]
  return [reason('replaces_template', 'It would replace records of another template that is linked to this zone.', names)]
}

/** Whether a record of a binding exists before the change but not after it. */
function isReplaced({ values, spf }: PlacedRrset, before: Values, after: Values): boolean {
  const has = (some: Values, hash: string) => some.some(one => one.hash === hash)
  if (values.some(({ hash }) => has(before, hash) && !has(after, hash))) return true
  const presentTerms = spf?.terms.filter(term => missingTerms(spfOf(before), [term]).length === 0) ?? []
  return missingTerms(spfOf(after), presentTerms).length > 0
}

const spfOf = (values: Values): string => values.flatMap(one => joinedText('TXT', one.rdata) ?? []).find(isSpf) ?? ''
