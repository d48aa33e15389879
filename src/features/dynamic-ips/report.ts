import { eq, sql } from 'drizzle-orm'
import { record } from '../../core/change'
import type { AuditDraft, EventDraft, RecordResult } from '../../core/change-result'
import { instant } from '../../core/clock'
import type { AuditActor, AuditContext, AuditTarget } from '../../core/db/tables'
import { forUpdate } from '../../core/db/dialect'
import { prepared } from '../../core/db/prepared'
import type { EventData } from '../../core/event-kinds'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { targetOf } from '../../core/rows'
import { networkOf, type Family } from './addresses'
import { historyRow, noteCall } from './calls'
import { drive } from './drive'
import { driveLinks } from './drive-links'
import { staleTime } from './status'
import { dynamicIpHosts, dynamicIps, dynamicIpUpdates, type StoredClient } from './tables'
import { changesSince, holdMs, holdReason, type AddressChange } from './turns'
import { dynamicIpRows, hostsOfSources, linksOf, type HostRow, type SourceRow } from './view'

/** What a client reported. Addresses are in their canonical form. */
interface Report {
  /** Null removes an address, and undefined leaves it as it is. */
  ipv4?: string | null
  ipv6?: string | null
  prefix6?: string | null
  /** Full names of the hosts in the report; null for all. */
  hosts: string[] | null
  /** Addresses for single hosts, by full name. */
  perHost: ReadonlyMap<string, { ipv4?: string; ipv6?: string }>
  client: StoredClient
  /** The parameters, for the history. */
  given: Record<string, string>
  /** The answer and the explanation for the history. */
  describe(reported: Reported): { answers: string[]; explanation: string }
}

interface ReportedHost {
  name: string
  result: 'changed' | 'unchanged' | 'failed'
  problem: { code: string; detail: string } | null
  ipv4: string | null
  ipv6: string | null
}

/** The result of a report. */
export interface Reported {
  changed: boolean
  paused: boolean
  ipv4: string | null
  ipv6: string | null
  prefix6: string | null
  /** The hosts of the report, in their order. */
  hosts: ReportedHost[]
}

/** Changes of the source are refused for now. */
export class SourceHeld extends Error {
  override name = 'SourceHeld'
  constructor(
    readonly detail: string,
    readonly retryAfterSeconds: number,
  ) {
    super(detail)
  }
}

// Enough for both families, whatever counts.
const maxChanges = 60

type Driven = Awaited<ReturnType<typeof drive>> | null
type By = { actor: AuditActor; context: AuditContext }

/** Reads a source by the hash of its token, or of the one before a rotation that is still valid. */
export async function sourceOfToken(hub: Hub, hash: string): Promise<SourceRow | null> {
  const [current] = await prepared(hub.read, 'dynamic-ip-of-token', read =>
    read
      .select()
      .from(dynamicIps)
      .where(eq(dynamicIps.tokenHash, sql.placeholder('hash'))),
  ).execute({ hash })
  if (current) return current
  const [previous] = await prepared(hub.read, 'dynamic-ip-of-previous-token', read =>
    read
      .select()
      .from(dynamicIps)
      .where(eq(dynamicIps.previousTokenHash, sql.placeholder('hash'))),
  ).execute({ hash })
  return previous && previous.previousValidUntil! > hub.clock.now() ? previous : null
}

/** The hosts of a source, in their order. */
export const hostsOf = (read: Reader, sourceId: string): Promise<HostRow[]> =>
  prepared(read, 'dynamic-ip-hosts', handle =>
    handle
      .select()
      .from(dynamicIpHosts)
      .where(eq(dynamicIpHosts.sourceId, sql.placeholder('id')))
      .orderBy(dynamicIpHosts.position),
  ).execute({ id: sourceId })

/**
 * Stores a report, and sets the records of all hosts in the same transaction. A report that changes nothing is only noted.
 * @param by who reported; the source itself by default
 * @throws SourceHeld if it would change a source that is held, or is held from now on
 */
export async function report(hub: Hub, source: SourceRow, given: Report, by?: By): Promise<Reported> {
  const hosts = await hostsOf(hub.read, source.id)
  const before = { source, hosts }
  if (!changesOf(before, given).isChanged) {
    const reported = unchanged(before, given)
    if (by) return reported
    if (source.status === 'stale') await record(hub, tx => endStaleness(tx, hub, source.id, given))
    noteCall(hub, source, { ...entryOf(hub, given, reported), ...given.describe(reported) }, 'seen')
    return reported
  }
  const result = await record(hub, tx => store(tx, hub, source.id, given, by))
  if (result instanceof SourceHeld) throw result
  return result
}

/** Stores a report in the transaction of a change. @param source locked */
async function store(tx: Tx, hub: Hub, id: string, given: Report, by?: By): Promise<RecordResult<Reported | SourceHeld>> {
  const [source] = await forUpdate(tx.select().from(dynamicIps).where(eq(dynamicIps.id, id)))
  if (!source) return { result: new SourceHeld('The source was deleted.', 60) }
  const hosts = await hostsOfSources(tx, [id])
  // Another hub, or another request, may have stored the same report since it was compared.
  const { isChanged, set, hostChanges } = changesOf({ source, hosts }, given)
  if (!isChanged) return { result: unchanged({ source, hosts }, given) }
  const now = hub.clock.now()
  const actor = by?.actor ?? { type: 'ingest' as const, id: source.id, name: source.name, hint: source.tokenHint }
  const context = by?.context ?? ingestContext(given.client)
  const known = source.changes.filter(one => one.at > changesSince(now))
  const changes = by ? known : [...known, ...addressChanges(source, set, given, now)].slice(-maxChanges)
  const refused = [set.ipv4, set.ipv6, set.prefix6].join()
  const held = by ? null : await holdIfNeeded(tx, hub, source, changes, refused, { actor, context })
  if (held) return held
  const after: SourceRow = {
    ...source,
    ...set,
    status: source.status === 'paused' || (by && source.status === 'stale') ? source.status : 'fresh',
    lastSeenAt: by ? source.lastSeenAt : now,
    lastClient: by ? source.lastClient : given.client,
    lastChangedAt: now,
    changes,
    hold: null,
    heldUntil: null,
    version: source.version + 1,
    updatedAt: now,
  }
  after.staleAt = by ? source.staleAt : staleTime(after)
  const { id: _, workspaceId: __, createdAt: ___, ...columns } = after
  await tx.update(dynamicIps).set(columns).where(eq(dynamicIps.id, id))
  for (const one of hostChanges)
    await tx.update(dynamicIpHosts).set({ ipv4: one.ipv4, ipv6: one.ipv6 }).where(eq(dynamicIpHosts.id, one.id))
  const current = hosts.map(one => hostChanges.find(changed => changed.id === one.id) ?? one)
  const driven = after.status === 'paused' ? null : await drive(tx, hub, after, current, { actor, context })
  const reported = reportedOf(after, driven?.hosts ?? current, given, driven, true)
  const entry = { ...entryOf(hub, given, reported), ...given.describe(reported) }
  await tx.insert(dynamicIpUpdates).values(historyRow(source, entry, true))
  return {
    result: reported,
    ...driven?.effects,
    audits: [reportAudit(source, after, { actor, context }, driven), ...(driven?.effects.audits ?? [])],
    events: [
      ...(isAddressChanged(source, after) ? [changedEvent(source, after, current, driven?.firewalls ?? [], now)] : []),
      ...(driven?.effects.events ?? []),
    ],
  }
}

/** A stale source reports its stored addresses again: firewall rules from which they were removed get them back. */
async function endStaleness(tx: Tx, hub: Hub, id: string, { client }: Report): Promise<RecordResult<undefined>> {
  const [source] = await forUpdate(tx.select().from(dynamicIps).where(eq(dynamicIps.id, id)))
  if (source?.status !== 'stale') return { result: undefined }
  const after: SourceRow = { ...source, status: 'fresh', lastSeenAt: hub.clock.now(), lastClient: client }
  const { status, lastSeenAt, lastClient } = after
  await tx
    .update(dynamicIps)
    .set({ status, lastSeenAt, lastClient, staleAt: staleTime(after) })
    .where(eq(dynamicIps.id, id))
  const { effects } = await driveLinks(tx, hub, after, await linksOf(tx, [id]))
  return { result: undefined, ...effects }
}

interface State {
  source: SourceRow
  hosts: readonly HostRow[]
}

/** What a report changes: the addresses of the source, and those that hosts have of their own. */
function changesOf({ source, hosts }: State, given: Report) {
  const set: Partial<Pick<SourceRow, 'ipv4' | 'ipv6' | 'prefix6'>> = {}
  for (const name of ['ipv4', 'ipv6', 'prefix6'] as const)
    if (given[name] !== undefined && given[name] !== source[name]) set[name] = given[name]
  if (given.prefix6 === undefined && given.ipv6 && source.prefixFromIpv6 !== null) {
    const prefix6 = networkOf(given.ipv6, source.prefixFromIpv6)
    if (prefix6 !== source.prefix6) set.prefix6 = prefix6
  }
  const hostChanges = hosts.flatMap(host => {
    const own = given.perHost.get(host.name)
    const isMeant = given.hosts === null || given.hosts.includes(host.name)
    const ownAddress = (family: Family) =>
      own?.[family] ?? (isMeant && (given[family] !== undefined || given.perHost.size > 0) ? null : host[family])
    const after = { ...host, ipv4: ownAddress('ipv4'), ipv6: ownAddress('ipv6') }
    return after.ipv4 === host.ipv4 && after.ipv6 === host.ipv6 ? [] : [after]
  })
  const isFirst = source.status === 'new'
  return { isChanged: isFirst || Object.keys(set).length > 0 || hostChanges.length > 0, set, hostChanges }
}

const unchanged = ({ source, hosts }: State, given: Report): Reported => reportedOf(source, hosts, given, null, false)

function reportedOf(source: SourceRow, hosts: readonly HostRow[], given: Report, driven: Driven, isChanged: boolean): Reported {
  const meant = given.hosts === null ? hosts : given.hosts.flatMap(name => hosts.find(one => one.name === name) ?? [])
  return {
    changed: isChanged,
    paused: source.status === 'paused',
    ipv4: source.ipv4,
    ipv6: source.ipv6,
    prefix6: source.prefix6,
    hosts: meant.map(host => ({
      name: host.name,
      result: host.problem && source.status !== 'paused' ? 'failed' : driven?.changed.has(host.name) ? 'changed' : 'unchanged',
      problem: host.problem && { code: host.problem.code, detail: host.problem.detail },
      ipv4: host.ipv4 ?? source.ipv4,
      ipv6: host.ipv6 ?? source.ipv6,
    })),
  }
}

const entryOf = (hub: Hub, { client, hosts, given }: Report, { ipv4, ipv6, prefix6 }: Reported) => ({
  at: hub.clock.now(),
  client,
  hosts: hosts ?? [],
  given,
  ipv4,
  ipv6,
  prefix6,
})

const addressChanges = (
  source: SourceRow,
  set: ReturnType<typeof changesOf>['set'],
  { client }: Report,
  at: number,
): AddressChange[] =>
  (['ipv4', 'ipv6'] as const).flatMap(family =>
    set[family] === undefined || source.lastChangedAt === null
      ? []
      : [{ at, family, address: set[family], client: { address: client.address ?? '', userAgent: client.user_agent } }],
  )

/** Holds a source whose address changes back and forth, or too often. @returns the refusal if it is held */
async function holdIfNeeded(
  tx: Tx,
  hub: Hub,
  source: SourceRow,
  changes: AddressChange[],
  refused: string,
  by: By,
): Promise<RecordResult<SourceHeld> | null> {
  const now = hub.clock.now()
  const refusal = (detail: string) => new SourceHeld(detail, Math.ceil(holdMs / 1000))
  const heldUntil = now + holdMs
  if (source.status === 'held') {
    if (source.hold!.refused !== refused)
      await tx
        .update(dynamicIps)
        .set({ heldUntil, hold: { ...source.hold!, refused } })
        .where(eq(dynamicIps.id, source.id))
    return { result: refusal(source.hold!.detail) }
  }
  const reason = source.status === 'paused' ? null : holdReason(changes, now)
  if (!reason) return null
  const hold = { code: reason.reason, detail: explainHold(reason), since: now, refused }
  await tx
    .update(dynamicIps)
    .set({ status: 'held', hold, heldUntil, staleAt: null, changes: [], version: source.version + 1, updatedAt: now })
    .where(eq(dynamicIps.id, source.id))
  const audit: AuditDraft = {
    workspaceId: source.workspaceId,
    action: 'dynamic_ip.hold',
    ...by,
    targets: [targetOf(dynamicIpRows, source)],
    before: { status: source.status },
    after: { status: 'held' },
    reason: hold.detail,
  }
  return {
    result: refusal(hold.detail),
    audits: [audit],
    notices: [
      {
        workspaceId: source.workspaceId,
        kind: 'dynamic_ip.held',
        resource: targetOf(dynamicIpRows, source),
        text: `Changes of the dynamic IP source “${source.name}” are refused: ${hold.detail}`,
        details: { code: hold.code },
        dedupKey: source.id,
      },
    ],
  }
}

function explainHold(reason: NonNullable<ReturnType<typeof holdReason>>): string {
  if (reason.reason === 'flapping') return `Its address changed ${reason.changes} times in an hour.`
  const [first, second] = reason.clients.map(
    one => `${one.userAgent ?? 'a client'} at ${one.address} reports ${one.reported ?? 'no address'}`,
  )
  return `Two clients use its token and report different addresses: ${first}, and ${second}. Create a source for each, or stop one of them.`
}

const isAddressChanged = (before: SourceRow, after: SourceRow): boolean =>
  before.ipv4 !== after.ipv4 || before.ipv6 !== after.ipv6 || before.prefix6 !== after.prefix6

function changedEvent(
  before: SourceRow,
  after: SourceRow,
  hosts: readonly HostRow[],
  firewalls: readonly AuditTarget[],
  now: number,
): EventDraft {
  const data: EventData<'dynamic_ip.changed'> = {
    dynamic_ip: { id: after.id, name: after.name },
    ipv4: after.ipv4,
    previous_ipv4: before.ipv4,
    ipv6: after.ipv6,
    previous_ipv6: before.ipv6,
    prefix6: after.prefix6,
    previous_prefix6: before.prefix6,
    hosts: hosts.map(one => one.name),
    firewalls: firewalls.map(one => one.id),
    changed_at: instant(now),
  }
  return {
    workspaceId: after.workspaceId,
    kind: 'dynamic_ip.changed',
    resource: { type: 'dynamic_ip', id: after.id },
    data,
  }
}

function reportAudit(before: SourceRow, after: SourceRow, by: By, driven: Driven): AuditDraft {
  const shown = ({ ipv4, ipv6, prefix6 }: SourceRow) => ({ ipv4, ipv6, prefix6 })
  return {
    workspaceId: after.workspaceId,
    action: 'dynamic_ip.report',
    ...by,
    targets: [targetOf(dynamicIpRows, after), ...(driven?.targets ?? []), ...(driven?.firewalls ?? [])],
    before: shown(before),
    after: shown(after),
  }
}

const ingestContext = ({ address, user_agent }: StoredClient): AuditContext => ({
  ip: address,
  user_agent,
  request_id: null,
  idempotency_key: null,
  channel: 'ingest',
})
