import { and, eq } from 'drizzle-orm'
import { isDeepStrictEqual } from 'node:util'
import { planOf } from '../../access/workspaces'
import type { RecordResult } from '../../core/change-result'
import type { AuditActor, AuditContext, AuditTarget } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { NoticeDraft } from '../../core/notices'
import { Problem } from '../../core/problem'
import { targetOf } from '../../core/rows'
import { driveRrsets, rrsetKey, zonesOfNames, type AddressType, type DriveFailure, type DrivenRrset } from '../dns/records/driven'
import { addressInPrefix } from './addresses'
import { retryHosts } from './retry-queue'
import { dynamicIpHosts } from './tables'
import { relativeName, type HostRow, type SourceRow } from './view'

/** What setting the records of hosts did, for the change that it is part of. */
export interface DrivenHosts {
  /** Hosts with their current problem. */
  hosts: HostRow[]
  /** Names of hosts whose records changed. */
  changed: Set<string>
  /** The zones that changed. */
  targets: AuditTarget[]
  effects: Required<Pick<RecordResult<unknown>, 'events' | 'jobs' | 'wakeTopics' | 'notices'>>
}

export interface DriveBy {
  actor: AuditActor
  context: AuditContext
  /** Whether existing records get the TTL of the host. */
  setsTtl?: boolean
}

/**
 * Sets the records of hosts to the addresses of their source, one change for each zone. A host whose records can’t be set gets a
 * problem, is tried again later, and does not keep the others back.
 * @param source locked, with the new addresses
 */
export async function driveHosts(
  tx: Tx,
  hub: Hub,
  source: SourceRow,
  hosts: readonly HostRow[],
  by: DriveBy,
): Promise<DrivenHosts> {
  const { workspaceId } = source
  const changer = { hub, workspaceId, actor: by.actor, context: by.context, ...(await planOf(tx, workspaceId)) }
  const done: DrivenHosts = {
    hosts: [],
    changed: new Set(),
    targets: [],
    effects: { events: [], jobs: [], wakeTopics: [], notices: [] },
  }
  const failures = new Map<HostRow, DriveFailure>()
  const placed = await inCurrentZones(tx, source, hosts)
  // In the order of the ids, as everywhere, to avoid deadlocks.
  for (const [zoneId, own] of [...Map.groupBy(placed, one => one.zoneId)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const wanted = own.flatMap(host => wantedOf(source, host, by.setsTtl))
    for (const { host, failure } of wanted) if (failure) failures.set(host, failure)
    const rrsets = wanted.flatMap(one => one.rrset ?? [])
    try {
      const driven = await driveRrsets(tx, changer, zoneId, source.id, rrsets)
      for (const { host, rrset } of wanted) {
        const failure = rrset && driven.failures.get(rrsetKey(rrset))
        if (failure) failures.set(host, failure)
      }
      if (driven.changes.length > 0) done.targets.push(driven.target)
      const changedNames = new Set(driven.changes.map(one => one.name))
      for (const host of own) if (changedNames.has(relativeName(host))) done.changed.add(host.name)
      done.effects.events.push(...driven.effects.events)
      done.effects.jobs.push(...driven.effects.jobs)
      done.effects.wakeTopics.push(...driven.effects.wakeTopics)
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'not_found')) throw error
      for (const host of own) failures.set(host, zoneGone(host))
    }
  }
  const now = hub.clock.now()
  for (const host of placed) {
    const problem = problemAfter(host.problem, failures.get(host) ?? null, now)
    done.hosts.push({ ...host, problem })
    const before = hosts.find(one => one.id === host.id)
    if (before?.zoneId === host.zoneId && isDeepStrictEqual(problem, before.problem)) continue
    await tx
      .update(dynamicIpHosts)
      .set({ problem, zoneId: host.zoneId, zoneName: host.zoneName })
      .where(eq(dynamicIpHosts.id, host.id))
    if (problem && host.problem === null) done.effects.notices.push(failedNotice(source, host, problem))
  }
  const attempts = done.hosts.flatMap(one => (one.problem ? [one.problem.attempts] : []))
  if (attempts.length > 0) done.effects.jobs.push(retryHosts(source, now, Math.min(...attempts)))
  return done
}

/** Hosts of a deleted zone move to another zone that contains their name, such as one that was created again. */
async function inCurrentZones(tx: Tx, source: SourceRow, hosts: readonly HostRow[]): Promise<HostRow[]> {
  const lost = hosts.filter(one => one.problem?.code === 'zone_gone')
  if (lost.length === 0) return [...hosts]
  const zones = await zonesOfNames(
    tx,
    source,
    lost.map(one => one.name),
  )
  return await Promise.all(
    hosts.map(async host => {
      const zone = lost.includes(host) ? zones.get(host.name) : undefined
      if (!zone || zone.id === host.zoneId) return host
      const [other] = await tx
        .select({ id: dynamicIpHosts.id })
        .from(dynamicIpHosts)
        .where(and(eq(dynamicIpHosts.zoneId, zone.id), eq(dynamicIpHosts.name, host.name)))
      return other ? host : { ...host, zoneId: zone.id, zoneName: zone.name }
    }),
  )
}

interface Wanted {
  host: HostRow
  rrset: DrivenRrset | null
  failure?: DriveFailure
}

/** The records that a host should have. */
function wantedOf(source: SourceRow, host: HostRow, setsTtl = false): Wanted[] {
  return typesOf(source, host).map(type => {
    const rrset = (address: string | null): DrivenRrset => ({
      name: relativeName(host),
      type,
      address,
      ttl: host.ttl ?? source.ttl,
      setsTtl,
      adopts: host.adopt,
    })
    if (type === 'A') return { host, rrset: rrset(host.ipv4 ?? source.ipv4) }
    if (host.mode === 'address') return { host, rrset: rrset(host.ipv6 ?? source.ipv6) }
    if (source.prefix6 === null) return { host, rrset: rrset(null) }
    const address = addressInPrefix(source.prefix6, host.suffix6!)
    const detail = `The suffix ${host.suffix6} of ${host.name} has bits within the prefix ${source.prefix6}. Use a shorter suffix.`
    return address === null
      ? { host, rrset: null, failure: { code: 'suffix_too_long', detail } }
      : { host, rrset: rrset(address) }
  })
}

/** The record types that a source sets at a host. */
export const typesOf = (source: Pick<SourceRow, 'families'>, { families }: Pick<HostRow, 'families'>): AddressType[] =>
  (families ?? source.families).filter(one => source.families.includes(one)).map(one => (one === 'ipv4' ? 'A' : 'AAAA'))

function problemAfter(before: HostRow['problem'], failure: DriveFailure | null, now: number): HostRow['problem'] {
  if (!failure) return null
  return { ...failure, since: before?.since ?? now, attempts: (before?.attempts ?? 0) + 1 }
}

const zoneGone = ({ zoneName }: HostRow): DriveFailure => ({
  code: 'zone_gone',
  detail: `The zone ${zoneName} was deleted. Create it again, or remove the host.`,
})

const failedNotice = (source: SourceRow, host: HostRow, problem: DriveFailure): NoticeDraft => ({
  workspaceId: source.workspaceId,
  kind: 'dynamic_ip.host_failed',
  resource: targetOf({ type: 'dynamic_ip', label: 'name' }, source),
  text: `The dynamic IP source “${source.name}” can’t set the records of ${host.name}: ${problem.detail}`,
  details: { host: host.name, code: problem.code },
  dedupKey: `${source.id} ${host.name}`,
})
