import type { AuditTarget } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { driveHosts, type DriveBy, type DrivenHosts } from './drive-hosts'
import { driveLinks } from './drive-links'
import { joinedEffects, type Effects } from './effects'
import { linksOf, type HostRow, type SourceRow } from './view'

/** What following the address of a source did, for the change that it is part of. */
interface Driven extends Omit<DrivenHosts, 'effects'> {
  /** The firewalls that changed. */
  firewalls: AuditTarget[]
  effects: Effects
}

/** Lets everything that follows a source follow its addresses: the records of its hosts, and firewall rules. @param source locked */
export async function drive(tx: Tx, hub: Hub, source: SourceRow, hosts: readonly HostRow[], by: DriveBy): Promise<Driven> {
  const driven = await driveHosts(tx, hub, source, hosts, by)
  const { firewalls, effects } = await driveLinks(tx, hub, source, await linksOf(tx, [source.id]))
  return { ...driven, firewalls, effects: joinedEffects(driven.effects, effects) }
}
