import { and, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import { joinedText } from '../record-values'
import type { WantedRrset } from '../rrset-rules'
import { isSpf, lackingTerms } from '../spf'
import { reason, type BlockReason } from '../sync/guards'
import { rrsetKey, rrsetsAt } from '../zone-rows'
import { bindingsAt } from './note-edits'
import type { PlacedRrset } from './placed'
import { dnsTemplateBindings as b } from './tables'

type Values = readonly { hash: string; rdata: Uint8Array }[]

/**
 * Why a template is not applied unasked where it takes away what another one that is linked put there; nothing where all of that stays.
 * @param wanted the rrsets that it changes
 * @param bindingId its own, where it was applied before
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
  const existing = await rrsetsAt(
    read,
    zoneId,
    wanted.map(one => one.name),
  )
  const after = new Map(wanted.map(one => [rrsetKey(one), one.values]))
  const lost = linked.flatMap(({ id }) =>
    others.get(id)!.filter(one => {
      const before = (existing.get(rrsetKey(one))?.records ?? []).map(({ rdataHash, rdata }) => ({ hash: rdataHash, rdata }))
      return isTaken(one, before, after.get(rrsetKey(one)) ?? [])
    }),
  )
  if (lost.length === 0) return []
  const members = [...new Map(lost.map(one => [rrsetKey(one), one])).values()]
  return [reason('replaces_template', 'It would take away what another template that is linked here has put there.', members)]
}

/** Whether something of a binding is there before, and not after. */
function isTaken({ values, spf }: PlacedRrset, before: Values, after: Values): boolean {
  const has = (some: Values, hash: string) => some.some(one => one.hash === hash)
  if (values.some(({ hash }) => has(before, hash) && !has(after, hash))) return true
  const wereThere = spf?.terms.filter(term => lackingTerms(spfOf(before), [term]).length === 0) ?? []
  return lackingTerms(spfOf(after), wereThere).length > 0
}

const spfOf = (values: Values): string => values.flatMap(one => joinedText('TXT', one.rdata) ?? []).find(isSpf) ?? ''
