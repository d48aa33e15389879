import { inSavepoint } from '../../../core/db/savepoint'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import { rdataOfText } from '../../../dns/rdata'
import { valueOfRdata } from '../records/values'
import { proxiableTypes } from '../providers/provider'
import type { WantedRrset } from '../changes/rrset-rules'
import { systemChanger, changeZone, type ZoneChangeResult } from '../changes/change-zone'
import { rrsetKey } from '../zones/names'
import type { ZoneRow } from '../zones/rows'
import type { Evaluated } from '../sync/evaluate'
import type { RrsetSyncState } from '../sync/three-way'
import { foundIds, foundKey, type FoundIds } from '../targets/found-records'
import { syncKind } from '../sync/sync-jobs'

/**
 * Rrsets that the `adopt` drift policy imports: external changes, deletions and additions, but no conflicts. Addresses that
 * replace an ALIAS are skipped: they can't coexist with it. So are rrsets that a dynamic IP source sets.
 * @param driven keys of `rrsetKey`
 */
export const adoptable = (
  { states, expanded }: Pick<Evaluated, 'states' | 'expanded'>,
  driven: ReadonlySet<string>,
): RrsetSyncState[] =>
  states.filter(
    one =>
      (one.state === 'drifted' || one.state === 'unmanaged') && !driven.has(rrsetKey(one)) && !isAliasExpansion(one, expanded),
  )

/** Returns whether an rrset is an expanded ALIAS, or one of its addresses. @param expanded names with an expanded ALIAS */
export const isAliasExpansion = (one: { name: string; type: string }, expanded: ReadonlySet<string>): boolean =>
  expanded.has(one.name) && ['A', 'AAAA', 'ALIAS'].includes(one.type)

/**
 * Updates the zone to match a target, for the given rrsets.
 * @returns null if the result would be invalid; the zone then stays unchanged
 */
export async function adoptObserved(
  tx: Tx,
  hub: Hub,
  zone: ZoneRow,
  states: readonly RrsetSyncState[],
): Promise<ZoneChangeResult | null> {
  const ids = await foundIds(tx, zone.id)
  try {
    return await inSavepoint(tx, () =>
      changeZone(
        tx,
        systemChanger(hub, zone, syncKind),
        zone,
        states.map(one => wantedFromObserved(one, ids)),
        { source: 'import', origin: 'external' },
      ),
    )
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    hub.log.warn({ zone: zone.id, detail: error.detail }, 'external changes could not be adopted')
    return null
  }
}

const keepId = (found: { id: string; foundAt: number } | undefined) =>
  found && { keep: { id: found.id, version: 0, createdAt: found.foundAt } }

/** Converts an observed rrset to a zone edit. Records already listed as unmanaged keep their ids. */
export function wantedFromObserved(
  one: Pick<RrsetSyncState, 'name' | 'type' | 'observed' | 'observedTtl' | 'observedValues'>,
  ids: FoundIds,
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
      ...keepId(ids.get(foundKey(one, text))),
      pointer: '#',
    })),
    pointer: '#',
  }
}
