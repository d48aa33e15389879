import { and, eq, inArray, isNotNull, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { forUpdate } from '../../../core/db/dialect'
import { inSavepoint, dryRun } from '../../../core/db/savepoint'
import type { Reader, Tx } from '../../../core/db/transaction'
import { Problem } from '../../../core/problem'
import { canAccess } from '../../../core/resource-access'
import type { Clock } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { changeZone, type Changer, type ZoneChangeResult } from '../changes/change-zone'
import type { WantedRrset } from '../changes/rrset-rules'
import { recordSyncViews } from '../targets/sync-views'
import { fqdnOf, namesAbove, originOf, recordNameOf, rrsetKey } from '../zones/names'
import { lockZone, type ZoneRow } from '../zones/rows'
import { zoneTarget } from '../zones/zones'
import { dnsZones } from '../zones/tables'
import { batches, rrsetsAt, type Rrset } from './rows'
import { dnsRecords, dnsRrsets } from './tables'
import { valueOf } from './values'

// What dynamic IP sources do with DNS: they set the values of address records, and nobody else can change those values.

export { recordNameOf, rrsetKey }

/** A zone, as far as the source of a name needs to know. */
export interface NamedZone {
  id: string
  name: string
}

/** Finds the zone with the longest name that contains each name. Names without a zone are missing in the result. */
export async function zonesOfNames(read: Reader, ctx: Ctx | { workspaceId: string }, names: readonly string[]) {
  const candidates = [...new Set(names.flatMap(name => [name, ...namesAbove(name)]))]
  const zones: NamedZone[] = []
  for (const some of batches(candidates))
    zones.push(
      ...(await read
        .select({ id: dnsZones.id, name: dnsZones.name })
        .from(dnsZones)
        .where(and(eq(dnsZones.workspaceId, ctx.workspaceId), inArray(dnsZones.name, some)))),
    )
  const byName = new Map(zones.filter(one => !('permissions' in ctx) || canAccess(ctx, one.id)).map(one => [one.name, one]))
  const found = new Map<string, NamedZone>()
  for (const name of names) {
    const zone = [name, ...namesAbove(name)].map(one => byName.get(one)).find(one => one !== undefined)
    if (zone) found.set(name, zone)
  }
  return found
}

/** Returns the zones with these ids that belong to the workspace, by id. */
export async function zonesWithIds(read: Reader, ctx: Ctx, ids: readonly string[]): Promise<Map<string, NamedZone>> {
  if (ids.length === 0) return new Map()
  const rows = await read
    .select({ id: dnsZones.id, name: dnsZones.name })
    .from(dnsZones)
    .where(and(eq(dnsZones.workspaceId, ctx.workspaceId), inArray(dnsZones.id, [...new Set(ids)])))
  return new Map(rows.filter(one => canAccess(ctx, one.id)).map(one => [one.id, one]))
}

export type AddressType = 'A' | 'AAAA'

/** Address records of a name that a source sets. */
export interface DrivenRrset {
  /** Relative to the zone, `@` for the apex. */
  name: string
  type: AddressType
  /** The new value; null deletes the records, if the source set them. */
  address: string | null
  /** Seconds, of new records. The TTL of existing ones changes only with `setsTtl`. */
  ttl: number
  setsTtl?: boolean
  /** Whether existing records at the name are taken over. */
  adopts: boolean
}

/** Why the records of a name can’t be set. */
export interface DriveFailure {
  code: string
  detail: string
}

/** The result of setting the records of a zone. */
interface Driven {
  changes: ZoneChangeResult['changes']
  effects: ZoneChangeResult['effects']
  /** By {@link rrsetKey}. */
  failures: Map<string, DriveFailure>
  target: ReturnType<typeof zoneTarget>
}

/**
 * Sets the address records of a source in one change of the zone, as far as they can be set: what breaks a rule is left out and
 * reported, and does not keep the others back.
 * @param driver id of the source
 * @throws Problem 404 if the zone is gone
 */
export async function driveRrsets(
  tx: Tx,
  changer: Changer,
  zoneId: string,
  driver: string,
  wanted: readonly DrivenRrset[],
): Promise<Driven> {
  const zone = await lockZone(tx, changer, zoneId)
  const failures = new Map<string, DriveFailure>()
  const before = await rrsetsAt(tx, zone.id, wanted)
  const isOwn = (one: DrivenRrset) => before.get(rrsetKey(one))?.row.drivenBy === driver
  for (const one of wanted) {
    const failure = one.address === null ? null : takeoverFailure(zone, one, before, driver)
    if (failure) failures.set(rrsetKey(one), failure)
  }
  const settable = wanted.filter(one => !failures.has(rrsetKey(one)) && (one.address !== null || isOwn(one)))
  const adopted = settable.filter(one => before.has(rrsetKey(one)) && !isOwn(one))
  const existing = adopted.length > 0 ? await takeOver(tx, zone, driver, adopted, before, changer.hub.clock.now()) : before
  const edits = settable.map(one => [rrsetKey(one), editOf(zone, one, existing.get(rrsetKey(one)))] as const)
  const by = { source: 'dynamic', origin: 'dynamic', drivenBy: driver } as const
  const run = (some: readonly WantedRrset[]) => changeZone(tx, changer, zone, some, { ...by, existing })
  const attempt = async (some: typeof edits): Promise<ZoneChangeResult | null> => {
    if (some.length === 0) return null
    try {
      return await inSavepoint(tx, () => run(some.map(([, edit]) => edit)))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      // At the limit of the plan, those that need no new record come first, and then as many others as fit.
      const isLimit = error.code === 'plan_limit_reached'
      const ordered = isLimit ? some.toSorted((a, b) => Number(!existing.has(a[0])) - Number(!existing.has(b[0]))) : some
      const fitting = isLimit ? await longestValid(ordered, part => failureOf(tx, () => run(part.map(([, edit]) => edit)))) : []
      for (const [key, edit] of ordered.slice(fitting.length)) {
        const failure = isLimit ? failureFrom(error) : await failureOf(tx, () => run([edit]))
        if (failure) failures.set(key, failure)
      }
      const rest = some.filter(([key]) => !failures.has(key))
      if (rest.length < some.length) return await attempt(rest)
      // Each is valid, but not all together.
      for (const [key] of some) failures.set(key, failureFrom(error))
      return null
    }
  }
  const done = await attempt(edits)
  return {
    changes: done?.changes ?? [],
    effects: done?.effects ?? { events: [], wakeTopics: [], jobs: [] },
    failures,
    target: zoneTarget(done?.zone ?? zone),
  }
}

/**
 * Why a source can’t set records that it doesn’t set yet, if it can’t: there are other ones at the name.
 * @param before the records at the names
 */
function takeoverFailure(
  zone: NamedZone,
  { name, type, adopts }: Pick<DrivenRrset, 'name' | 'type' | 'adopts'>,
  before: ReadonlyMap<string, Rrset>,
  driver: string,
): DriveFailure | null {
  const fqdn = fqdnOf(name, zone.name)
  const alias = ['CNAME', 'ALIAS'].find(one => before.has(rrsetKey({ name, type: one })))
  if (alias)
    return {
      code: 'dns_rule',
      detail: `The name ${fqdn} has ${alias} records, so it can’t have ${type} records (RFC 1034 3.6.2).`,
    }
  const row = before.get(rrsetKey({ name, type }))?.row
  if (!row || row.drivenBy === driver) return null
  if (row.drivenBy !== null)
    return { code: 'already_driven', detail: `The ${type} records of ${fqdn} are set by the dynamic IP source ${row.drivenBy}.` }
  if (row.locked) return { code: 'locked', detail: `The ${type} records of ${fqdn} are locked.` }
  return adopts
    ? null
    : {
        code: 'record_exists',
        detail: `The name ${fqdn} already has ${type} records. Set \`adopt\` to true to replace their values.`,
      }
}

/** Finds names whose records a source can’t set, before it is saved. */
export async function takeoverFailures(
  tx: Tx,
  zone: NamedZone,
  driver: string,
  wanted: readonly Pick<DrivenRrset, 'name' | 'type' | 'adopts'>[],
): Promise<Map<string, DriveFailure>> {
  const before = await rrsetsAt(tx, zone.id, wanted)
  return new Map(
    wanted.flatMap(one => {
      const failure = takeoverFailure(zone, one, before, driver)
      return failure ? [[rrsetKey(one), failure]] : []
    }),
  )
}

/** Records that a source sets from now on, although they exist. Returns the records at the names as they are now. */
async function takeOver(
  tx: Tx,
  zone: ZoneRow,
  driver: string,
  adopted: readonly DrivenRrset[],
  before: ReadonlyMap<string, Rrset>,
  now: number,
): Promise<ReadonlyMap<string, Rrset>> {
  const ids = adopted.map(one => before.get(rrsetKey(one))!.row.id)
  await setDriver(tx, ids, now, { drivenBy: driver, source: 'dynamic' })
  return await rrsetsAt(
    tx,
    zone.id,
    [...before.values()].map(one => one.row),
  )
}

async function setDriver(
  tx: Tx,
  rrsetIds: readonly string[],
  now: number,
  set: Pick<Rrset['row'], 'drivenBy' | 'source'>,
): Promise<void> {
  for (const some of batches(rrsetIds)) {
    await tx
      .update(dnsRrsets)
      .set({ ...set, version: sql`${dnsRrsets.version} + 1`, updatedAt: now })
      .where(inArray(dnsRrsets.id, some))
    await tx
      .update(dnsRecords)
      .set({ source: set.source, version: sql`${dnsRecords.version} + 1`, updatedAt: now })
      .where(inArray(dnsRecords.rrsetId, some))
  }
}

function editOf(zone: ZoneRow, { name, type, address, ttl, setsTtl }: DrivenRrset, existing: Rrset | undefined): WantedRrset {
  const kept = existing?.records[0]
  return {
    name,
    type,
    ttl: setsTtl ? ttl : (existing?.row.ttl ?? ttl),
    comment: null,
    values: address
      ? [{ ...valueOf(type, { content: address }, originOf(zone.name)), ...(kept && { keep: kept }), pointer: '#' }]
      : [],
    pointer: '#',
  }
}

/** The longest start of a list that is valid. */
async function longestValid<T>(list: readonly T[], failure: (part: readonly T[]) => Promise<unknown>): Promise<readonly T[]> {
  let [valid, invalid] = [0, list.length]
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1
    if (await failure(list.slice(0, middle))) invalid = middle
    else valid = middle
  }
  return list.slice(0, valid)
}

/** Why a step would fail; null if it wouldn’t. */
async function failureOf(tx: Tx, step: () => Promise<unknown>): Promise<DriveFailure | null> {
  try {
    await dryRun(tx, step)
    return null
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return failureFrom(error)
  }
}

const failureFrom = ({ code, detail, extras }: Problem): DriveFailure => ({
  code: extras.errors?.[0]?.code ?? code,
  detail: extras.errors?.[0]?.detail ?? detail,
})

/**
 * Leaves records of a source as they are, and lets everybody change them.
 * @param kept keys of {@link rrsetKey} that the source continues to set
 */
export async function releaseRrsets(
  tx: Tx,
  { clock }: { clock: Clock },
  zoneId: string,
  driver: string,
  kept: ReadonlySet<string>,
): Promise<void> {
  // Like every change of a zone. It may have been deleted.
  await forUpdate(tx.select({ id: dnsZones.id }).from(dnsZones).where(eq(dnsZones.id, zoneId)))
  const rows = await tx
    .select({ id: dnsRrsets.id, name: dnsRrsets.name, type: dnsRrsets.type })
    .from(dnsRrsets)
    .where(and(eq(dnsRrsets.zoneId, zoneId), eq(dnsRrsets.drivenBy, driver), isNotNull(dnsRrsets.drivenBy)))
  const ids = rows.filter(one => !kept.has(rrsetKey(one))).map(one => one.id)
  await setDriver(tx, ids, clock.now(), { drivenBy: null, source: 'manual' })
}

/** SQL condition: the zone with the ID in this column was deleted. */
export const isZoneGone = (zoneId: SQLiteColumn): SQL =>
  sql`not exists (select 1 from ${dnsZones} where ${dnsZones.id} = ${zoneId})`

/** A record that a source sets. */
export interface DrivenRecord {
  driver: string
  zoneId: string
  name: string
  type: AddressType
  recordId: string
  content: string
  /** Seconds. */
  ttl: number
  synced: boolean
}

/** The records that sources set in these zones. */
export async function drivenRecords(
  read: Reader,
  zoneIds: readonly string[],
  drivers: readonly string[],
): Promise<DrivenRecord[]> {
  if (zoneIds.length === 0) return []
  const zones = await read
    .select()
    .from(dnsZones)
    .where(inArray(dnsZones.id, [...zoneIds]))
  const rows = await read
    .select({ driver: dnsRrsets.drivenBy, ttl: dnsRrsets.ttl, record: dnsRecords })
    .from(dnsRrsets)
    .innerJoin(dnsRecords, eq(dnsRecords.rrsetId, dnsRrsets.id))
    .where(and(inArray(dnsRrsets.zoneId, [...zoneIds]), inArray(dnsRrsets.drivenBy, [...drivers]), isNotNull(dnsRrsets.drivenBy)))
  const syncOf = await recordSyncViews(
    read,
    zones,
    rows.map(one => one.record),
  )
  return rows.map(({ driver, ttl, record }) => ({
    driver: driver!,
    zoneId: record.zoneId,
    name: record.name,
    type: record.type as AddressType,
    recordId: record.id,
    content: record.content,
    ttl,
    synced: syncOf(record).synced,
  }))
}
