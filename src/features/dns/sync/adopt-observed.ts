import { undoable } from '../../../core/db/savepoint'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import { rdataOfText } from '../../../core/dns/rdata'
import { valueOfRdata } from '../record-values'
import { proxiableTypes } from '../providers/provider'
import type { WantedRrset } from '../rrset-rules'
import { byItself, changeZone, type ZoneChanged } from '../zone-changes'
import type { ZoneRow } from '../zone-rows'
import type { Evaluated, Stands } from './evaluate'
import { foundIds, foundKey, type FoundIds } from './found-records'
import { syncKind } from './sync-jobs'

/**
 * What the policy `adopt` takes over: what others changed, took away and added, and nothing that was changed here too. What stands for an
 * ALIAS is not that ALIAS, and cannot be beside it.
 */
export const adoptable = ({ stands, expanded }: Pick<Evaluated, 'stands' | 'expanded'>): Stands[] =>
  stands.filter(one => (one.state === 'drifted' || one.state === 'unmanaged') && !standsForAlias(one, expanded))

/** Whether an rrset is one of those that stand for an ALIAS, or the ALIAS that they stand for. @param expanded names at which they do */
export const standsForAlias = (one: { name: string; type: string }, expanded: ReadonlySet<string>): boolean =>
  expanded.has(one.name) && ['A', 'AAAA', 'ALIAS'].includes(one.type)

/**
 * Makes the zone here as it is at a target, for some rrsets.
 * @returns null when it breaks a rule: then all of it stays as it is
 */
export async function adoptObserved(tx: Tx, hub: Hub, zone: ZoneRow, stands: readonly Stands[]): Promise<ZoneChanged | null> {
  const ids = await foundIds(tx, zone.id)
  try {
    return await undoable(tx, () =>
      changeZone(
        tx,
        byItself(hub, zone, syncKind),
        zone,
        stands.map(one => wantedAsObserved(one, ids)),
        { source: 'import', origin: 'external' },
      ),
    )
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    hub.log.warn({ zone: zone.id, detail: error.detail }, 'what was found at a provider could not be adopted')
    return null
  }
}

const keptAs = (found: { id: string; foundAt: number } | undefined) =>
  found && { keep: { id: found.id, version: 0, createdAt: found.foundAt } }

/** An rrset as it was read, as one that is to be here; what was listed as found keeps its ids. */
export function wantedAsObserved(
  one: Pick<Stands, 'name' | 'type' | 'observed' | 'observedTtl' | 'observedValues'>,
  ids: FoundIds = new Map(),
): WantedRrset {
  const proxied = one.observed?.split('/')[2]
  return {
    name: one.name,
    type: one.type,
    ttl: one.observedTtl ?? 0,
    comment: null,
    ...(proxied && proxiableTypes.has(one.type) && { options: { proxied: proxied === '1' } }),
    values: (one.observedValues ?? []).map(text => ({
      ...valueOfRdata(one.type, rdataOfText(one.type, text, null)),
      ...keptAs(ids.get(foundKey(one, text))),
      pointer: '#',
    })),
    pointer: '#',
  }
}
