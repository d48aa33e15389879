import { and, eq, inArray } from 'drizzle-orm'
import type { Tx } from '../../core/db/transaction'
import { labelsOf, nameOf } from '../../core/dns/name'
import { Problem } from '../../core/problem'
import { dnsZones } from './tables'
import { dnsServing } from './transfers/tables'
import { originOf } from './zone-names'

/** Below it are the catalogs that were given no other name: nothing else is there, or it could keep one from being switched on. */
export const catalogsOrigin = 'bailiwick.'

/**
 * Holds the name of a zone that was just made to those of all others: one that is below the zone or the catalog of another workspace
 * would answer in its stead, and one that is that of a catalog would be the catalog for some. To be called when the change is numbered
 * (zone-numbers.ts): whoever comes next finds what this one wrote, since numbers are given one after the other.
 * @throws Problem 409 `already_exists`
 */
export async function refuseZoneName(tx: Tx, workspaceId: string, name: string): Promise<void> {
  const [zones, catalogs] = [await zonesAt(tx, above(name)), await catalogsAt(tx, [name, ...above(name)])]
  if (zones.some(one => one.workspaceId !== workspaceId)) throw zoneTaken(name)
  if (catalogs.some(one => one.name === name || one.workspaceId !== workspaceId))
    throw new Problem('already_exists', `${name} is the name of a catalog zone here, or below that of another workspace.`)
}

/**
 * Holds the name of a catalog to those of zones by the same rule, and as late.
 * @throws Problem 409 `already_exists`
 */
export async function refuseCatalogName(tx: Tx, workspaceId: string, name: string): Promise<void> {
  const [zones, catalogs] = [await zonesAt(tx, [name, ...above(name)]), await catalogsAt(tx, above(name))]
  if (zones.some(one => one.name === name || one.workspaceId !== workspaceId)) throw zoneTaken(name)
  if (catalogs.some(one => one.workspaceId !== workspaceId))
    throw new Problem('already_exists', `${name} is below the catalog zone of another workspace.`)
}

export const zoneTaken = (name: string) =>
  new Problem('already_exists', `There is a zone ${name} here already, or one above it that belongs to another workspace.`)

/** The names above a name, without the root, nearest first. */
function above(name: string): string[] {
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
