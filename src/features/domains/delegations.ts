import { and, asc, eq, gt } from 'drizzle-orm'
import { isDeepStrictEqual } from 'node:util'
import { addChangeHint } from '../../core/change-hints'
import { record } from '../../core/change'
import { forUpdate } from '../../core/db/dialect'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { delegatedZones } from '../dns/zones/delegated-zones'
import { compareDelegation, type Expected } from './delegation'
import { domains } from './tables'
import type { DomainRow } from './view'

type Compared = Pick<DomainRow, 'id' | 'workspaceId' | 'name' | 'zoneId' | 'expectedNameservers'>

/** What domains should be delegated to, by their ID: the name servers that people entered, or those of their zone. */
export async function expectedDelegations(read: Reader, rows: readonly Compared[]): Promise<Map<string, Expected>> {
  const found = new Map<string, Expected>()
  for (const [workspaceId, own] of Map.groupBy(rows, row => row.workspaceId)) {
    const names = own.filter(row => row.zoneId === null).map(row => row.name)
    const ids = own.flatMap(row => row.zoneId ?? [])
    const zones = await delegatedZones(read, workspaceId, names, ids)
    const byId = new Map(zones.map(zone => [zone.id, zone]))
    const byName = new Map(zones.map(zone => [zone.name, zone]))
    for (const row of own) {
      const zone = row.zoneId === null ? byName.get(row.name) : byId.get(row.zoneId)
      found.set(row.id, { zoneId: zone?.id ?? null, nameservers: row.expectedNameservers ?? zone?.nameservers ?? null })
    }
  }
  return found
}

/** Keeps transactions short. */
const domainsPerBatch = 200

/** Compares all domains with their zones, which may have changed. Several hubs can run it at once. */
export async function compareDelegations(hub: Hub): Promise<void> {
  for (let after = ''; ;) {
    const rows = await hub.read
      .select()
      .from(domains)
      .where(gt(domains.id, after))
      .orderBy(asc(domains.id))
      .limit(domainsPerBatch)
    const expected = await expectedDelegations(hub.read, rows)
    const now = hub.clock.now()
    for (const row of rows) if (hasChanged(row, expected.get(row.id)!, now)) await compareOne(hub, row, expected.get(row.id)!)
    if (rows.length < domainsPerBatch) return
    after = rows.at(-1)!.id
  }
}

function hasChanged({ facts, delegationState, delegation }: DomainRow, expected: Expected, now: number): boolean {
  const next = compareDelegation(facts.nameservers, expected, now)
  const { checked_at: _at, ...before } = delegation
  const { checked_at: _now, ...after } = next.delegation
  return next.delegationState !== delegationState || !isDeepStrictEqual(before, after)
}

const compareOne = (hub: Hub, { id, workspaceId, facts }: DomainRow, expected: Expected): Promise<undefined> =>
  record(hub, async tx => {
    const [row] = await forUpdate(tx.select().from(domains).where(eq(domains.id, id)))
    // A lookup that came between has compared it.
    if (row && isDeepStrictEqual(row.facts, facts)) {
      await tx
        .update(domains)
        .set(compareDelegation(facts.nameservers, expected, hub.clock.now()))
        .where(and(eq(domains.id, id), eq(domains.workspaceId, workspaceId)))
      addChangeHint(tx, { workspaceId, action: 'domains.domain.update', type: 'domain', id, parentId: null })
    }
    return { result: undefined }
  })
