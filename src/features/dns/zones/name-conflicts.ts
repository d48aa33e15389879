import { and, eq, inArray } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import { labelsOf, nameOf } from '../../../dns/name'
import { Problem } from '../../../core/problem'
import { dnsZones } from './tables'
import { dnsServing } from '../transfers/tables'
import { originOf } from './names'

/** Default catalog zones are below this name. It is reserved, so that other zones can’t prevent enabling a catalog. */
export const catalogOrigin = 'bailiwick.'

/**
 * Rejects a new zone whose name conflicts with other zones: a zone below a zone or catalog of another workspace would answer in
 * its place, and a zone with the name of a catalog would replace the catalog. Call it after the change was numbered
 * (publish/number-change.ts): numbering serializes transactions, so concurrent creations see each other.
 * @throws Problem 409 `already_exists`
 */
export async function refuseConflictingZoneName(tx: Tx, workspaceId: string, name: string): Promise<void> {
  const [zones, catalogs] = [await zonesAt(tx, parentsOf(name)), await catalogsAt(tx, [name, ...parentsOf(name)])]
  if (zones.some(one => one.workspaceId !== workspaceId)) throw zoneNameTaken(name)
  if (catalogs.some(one => one.name === name || one.workspaceId !== workspaceId))
    throw new Problem('already_exists', `${name} is the name of a catalog zone, or is below a catalog zone of another workspace.`)
}

/**
 * Rejects a catalog name that conflicts with zones. Same rules and timing as {@link refuseConflictingZoneName}.
 * @throws Problem 409 `already_exists`
 */
export async function refuseConflictingCatalogName(tx: Tx, workspaceId: string, name: string): Promise<void> {
  const [zones, catalogs] = [await zonesAt(tx, [name, ...parentsOf(name)]), await catalogsAt(tx, parentsOf(name))]
  if (zones.some(one => one.name === name || one.workspaceId !== workspaceId)) throw zoneNameTaken(name)
  if (catalogs.some(one => one.workspaceId !== workspaceId))
    throw new Problem('already_exists', `${name} is below a catalog zone of another workspace.`)
}

export const zoneNameTaken = (name: string) =>
  new Problem('already_exists', `A zone named ${name} already exists, or a parent zone belongs to another workspace.`)

/** Parent names, without the root, nearest first. */
function parentsOf(name: string): string[] {
  const labels = labelsOf(originOf(name))
  return labels.slice(1).map((_, place) => nameOf(labels.slice(place + 1)).slice(0, -1))
}

const zonesAt = (tx: Tx, names: string[]) =>
  tx.select({ workspaceId: dnsZones.workspaceId, name: dnsZones.name }).from(dnsZones).where(inArray(dnsZones.name, names))

const catalogsAt = (tx: Tx, names: string[]) =>
  tx
    .select({ workspaceId: dnsServing.workspaceId, name: dnsServing.catalogName })
    .from(dnsServing)
    .where(and(eq(dnsServing.catalogEnabled, true), inArray(dnsServing.catalogName, names)))
