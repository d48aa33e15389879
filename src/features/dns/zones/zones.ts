import { Type } from '@sinclair/typebox'
import { and, asc, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { refuseOverLimit, limitsChanged } from '../../../access/plans'
import { target } from '../../../core/audit'
import { change, isUnchanged } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { isWithin } from '../../../dns/name'
import { newId } from '../../../core/ids'
import { listingOf, listPage } from '../../../core/list'
import { flagFilter, idsFilter, searchFilter, textFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { inputColumns, patchColumns } from '../../../core/members'
import { invalid } from '../../../core/problem'
import { Words, type Page } from '../../../core/shapes'
import { changedEvent, callerOrigin } from '../changes/changed-event'
import { asciiName, matches, patternFilter, patternOf, type Pattern } from './name-patterns'
import { clearZone } from './clear-zone'
import { catalogOrigin, refuseConflictingZoneName, zoneNameTaken } from './name-conflicts'
import { initialRrsets, soaColumns } from './new-zone'
import { zonesTopic } from '../publish/published-zones'
import { parseField } from '../records/parse-field'
import { forceFullRead } from '../targets/mark-pending'
import { addTarget } from '../targets/new-target'
import { syncJobFor } from '../sync/sync-jobs'
import { syncStates } from '../sync/three-way'
import { zoneSyncState } from '../targets/zone-sync-state'
import { dnsPastSerials, dnsZones } from './tables'
import { dnsRecords, dnsRrsets, type RecordSource } from '../records/tables'
import { zoneView, zoneViews } from './views'
import { dnsTransfers } from '../transfers/tables'
import { notifyServers } from '../transfers/notify-servers'
import { changeZone } from '../changes/change-zone'
import { type ZoneRow, zoneRows, zoneOf } from './rows'
import { originOf, unicodeOf, zoneNameOf } from './names'
import { builtin, policyMembers, zoneStatuses, type ZoneInput, type ZonePatch, type ZoneView } from './shapes'
import { lockRow, refuseDuplicate } from '../../../core/rows'

const zonePattern = (value: string): Pattern => patternOf('name', asciiName(value.toLowerCase()))

export const zoneListing = listingOf('dns-zones', dnsZones, {
  isSmall: true,
  filters: {
    ids: idsFilter(dnsZones.id),
    name: patternFilter({
      maxLength: 255,
      description:
        'Only the zone with this name, or zones whose name starts with a prefix (`shop*`). With a prefix, the default sort ' +
        'order is `name`.',
      parse: zonePattern,
      where: (pattern, place) => matches(dnsZones.name, pattern, place),
      finds: ({ text, isPrefix }) => (isPrefix ? { range: dnsZones.name } : { equal: dnsZones.name, values: [text] }),
    }),
    status: wordsFilter(dnsZones.status, zoneStatuses, 'Only zones with these statuses.'),
    provider_id: textFilter(dnsZones.providerId, 'Only zones with this `provider_id`.', { maxLength: 40 }),
    state: {
      schema: Words(syncStates, { description: 'Only zones with this `sync.state`.' }),
      where: (value, place) => sql`${dnsZones.syncState} = ${place(value)}`,
      finds: value => ({ equal: dnsZones.syncState, values: [value] }),
    },
    synced: flagFilter(
      dnsZones.isSynced,
      'True for zones that are in sync with all their providers, false for zones that are not.',
    ),
    blocked: {
      schema: Type.Boolean({
        description: 'True for zones with changes that safety checks block (`blocked`), false for other zones.',
      }),
      where: value => (value ? isNotNull(dnsZones.blockedPlanId) : isNull(dnsZones.blockedPlanId)),
      variant: String,
    },
    q: searchFilter([dnsZones.name, dnsZones.unicodeName], 'Only zones whose name contains all words of this text.'),
    ...timeFilters('created_at', dnsZones.createdAt),
    ...timeFilters('updated_at', dnsZones.updatedAt),
  },
  sorts: ['name', 'created_at', 'updated_at'],
})

const defaultTtl = 3600

export async function listZones(ctx: Ctx, query: Record<string, unknown>): Promise<Page<ZoneView>> {
  const { name, sort } = query
  // Sort by name, which is the order of the index used for prefixes.
  const isPattern = typeof name === 'string' && sort === undefined && zonePattern(name).isPrefix
  const page = await listPage(ctx, zoneListing, isPattern ? { ...query, sort: ['name'] } : query, row => row)
  return { ...page, data: await zoneViews(ctx.hub.read, page.data) }
}

/** @throws Problem 404 */
export const getZone = async (ctx: Ctx, id: string): Promise<ZoneView> =>
  await zoneView(ctx.hub.read, await zoneOf(ctx.hub.read, ctx, id))

/**
 * Creates a zone with an SOA and NS records, and glue if the name servers are inside the zone.
 * @throws Problem 422, 409 `already_exists`, 403 `plan_limit_reached`
 */
export async function createZone(ctx: Ctx, input: ZoneInput): Promise<ZoneView> {
  const name = parseField('#/name', () => zoneNameOf(input.name))
  const initial = initialRrsets(ctx.hub, name, input)
  const providerId = input.provider_id ?? builtin
  const soa = soaColumns({ mname: initial.nameservers[0] ?? `ns1.${name}.`, rname: `hostmaster.${name}.` }, input.soa ?? {}, name)
  return await refuseDuplicate(zoneNameTaken(name).detail, () =>
    change(ctx, 'dns.zone.create', async tx => {
      await refuseOverLimit(tx, ctx, 'zone')
      await refuseTopLevel(tx, ctx, name)
      const now = ctx.hub.clock.now()
      const [row] = await tx
        .insert(dnsZones)
        .values({
          id: newId('zone'),
          workspaceId: ctx.workspaceId,
          name,
          unicodeName: unicodeOf(name),
          status: 'active',
          defaultTtl: input.default_ttl ?? defaultTtl,
          ...soa,
          serial: await pastSerial(tx, name),
          recordCount: 0,
          updateLimit: input.update_limit_percent ?? null,
          deleteLimit: input.delete_limit_percent ?? null,
          providerId,
          isServed: providerId === builtin,
          targetCount: 0,
          ...zoneSyncState([]),
          ...inputColumns(policyMembers, input),
          blockedPlanId: null,
          version: 0,
          createdAt: now,
          updatedAt: now,
        })
        .returning()
      const isElsewhere = providerId !== builtin
      if (isElsewhere) await addTarget(tx, ctx.hub, row!, providerId)
      const zone = { ...row!, targetCount: isElsewhere ? 1 : 0 }
      // Creates the first version, even without records.
      const by = { source: sourceOf(ctx), origin: callerOrigin(ctx), edit: {} }
      const result = await changeZone(tx, ctx, zone, initial.rrsets, by)
      await refuseConflictingZoneName(tx, ctx.workspaceId, name)
      const view = await zoneView(tx, result.zone)
      const jobs = isElsewhere ? [...result.effects.jobs, syncJobFor(zone.id)] : result.effects.jobs
      return {
        result: view,
        target: zoneTarget(result.zone),
        after: view,
        ...result.effects,
        jobs,
      }
    }),
  )
}

/** @throws Problem 404, 412, 422 */
export async function updateZone(ctx: Ctx, id: string, patch: ZonePatch): Promise<ZoneView> {
  return await change(ctx, 'dns.zone.update', async tx => {
    const row = await lockRow(tx, ctx, zoneRows, id)
    const before = await zoneView(tx, row)
    const edit = {
      status: patch.status ?? row.status,
      defaultTtl: patch.default_ttl === undefined ? row.defaultTtl : (patch.default_ttl ?? defaultTtl),
      ...soaColumns(null, patch.soa ?? {}, row.name),
      ...(patch.update_limit_percent !== undefined && { updateLimit: patch.update_limit_percent }),
      ...(patch.delete_limit_percent !== undefined && { deleteLimit: patch.delete_limit_percent }),
      ...(patch.served !== undefined && { isServed: patch.served }),
      ...patchColumns(policyMembers, patch),
    }
    if (patch.served === false && row.targetCount === 0)
      throw invalid([{ pointer: '#/served', code: 'not_allowed', detail: 'must be true for a zone without sync targets.' }])
    if (isUnchanged(row, edit)) return { result: before, target: zoneTarget(row), unchanged: true }
    const edited = await changeZone(tx, ctx, row, [], { source: sourceOf(ctx), origin: callerOrigin(ctx), edit })
    const view = await zoneView(tx, edited.zone)
    // The new settings may require different changes at the targets.
    if (row.targetCount > 0) await forceFullRead(tx, row.id)
    const jobs = row.targetCount > 0 ? [...edited.effects.jobs, syncJobFor(row.id)] : edited.effects.jobs
    return { result: view, target: zoneTarget(row), before, after: view, ...edited.effects, jobs }
  })
}

// The event of a zone deletion lists at most this many records; its count includes all.
const maxDeletedListed = 200

/** Deletes a zone right away; a job deletes its records afterwards. @throws Problem 404, 412 */
export async function deleteZone(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'dns.zone.delete', async tx => {
    const row = await lockRow(tx, ctx, zoneRows, id)
    const before = await zoneView(tx, row)
    const records = await tx
      .select()
      .from(dnsRecords)
      .where(eq(dnsRecords.zoneId, id))
      .orderBy(asc(dnsRecords.id))
      .limit(maxDeletedListed)
    const changes = (await ttlsOf(tx, records)).map(({ record, ttl }) => ({
      action: 'deleted' as const,
      recordId: record.id,
      type: record.type,
      name: record.name,
      before: { ttl, content: record.content },
      after: null,
    }))
    await tx.delete(dnsZones).where(eq(dnsZones.id, id))
    await storeSerial(tx, row)
    const notifyJobs = await notifyServers(tx, ctx.hub, row, { changed: null, servedChanged: row.isServed })
    return {
      result: undefined,
      target: zoneTarget(row),
      before,
      events: row.recordCount > 0 ? [changedEvent(ctx, row, callerOrigin(ctx), changes, row.recordCount)] : [],
      jobs: [
        ...notifyJobs,
        clearZone(id),
        ...(ctx.limits.dns_zones == null ? [] : [limitsChanged({ workspace_id: ctx.workspaceId })]),
      ],
      wakeTopics: [zonesTopic],
    }
  })
}

/**
 * Stores the last serial of a deleted zone if it was ever transferred. If not, no secondary knows it and a new zone can start
 * over.
 */
async function storeSerial(tx: Tx, { workspaceId, name, serial }: ZoneRow): Promise<void> {
  const ofZone = and(eq(dnsTransfers.workspaceId, workspaceId), eq(dnsTransfers.zone, name))
  const [transfer] = await tx.select({ zone: dnsTransfers.zone }).from(dnsTransfers).where(ofZone).limit(1)
  if (transfer === undefined && (await pastSerial(tx, name)) === 0) return
  await tx.insert(dnsPastSerials).values({ name, serial }).onConflictDoUpdate({ target: dnsPastSerials.name, set: { serial } })
}

/** Last serial of a deleted zone of this name that was transferred, or 0. */
async function pastSerial(tx: Tx, name: string): Promise<number> {
  const [row] = await tx.select({ serial: dnsPastSerials.serial }).from(dnsPastSerials).where(eq(dnsPastSerials.name, name))
  return row?.serial ?? 0
}

async function ttlsOf(tx: Tx, records: (typeof dnsRecords.$inferSelect)[]) {
  if (records.length === 0) return []
  const rows = await tx
    .select({ id: dnsRrsets.id, ttl: dnsRrsets.ttl })
    .from(dnsRrsets)
    .where(inArray(dnsRrsets.id, [...new Set(records.map(record => record.rrsetId))]))
  const ttls = new Map(rows.map(row => [row.id, row.ttl]))
  return records.map(record => ({ record, ttl: ttls.get(record.rrsetId)! }))
}

/** Source of records created by a caller: `manual` from the dashboard, `api` otherwise. */
export const sourceOf = (ctx: Ctx): RecordSource => (ctx.context.channel === 'dashboard' ? 'manual' : 'api')

export const zoneTarget = (zone: { id: string; name: string }) => target('zone', zone)

/** A top-level zone would block all names below it, and catalog names, for other workspaces. @throws Problem 422 */
async function refuseTopLevel(tx: Tx, ctx: Ctx, name: string): Promise<void> {
  if (isWithin(originOf(name), catalogOrigin))
    throw invalid([
      { pointer: '#/name', code: 'not_allowed', detail: 'must not end in `bailiwick`, which is reserved for catalog zones.' },
    ])
  if (name.includes('.')) return
  const [row] = await tx.select({ isOperator: workspaces.isOperator }).from(workspaces).where(eq(workspaces.id, ctx.workspaceId))
  if (!row?.isOperator)
    throw invalid([
      {
        pointer: '#/name',
        code: 'not_allowed',
        detail: 'must have at least two labels. Only the operator can create top-level zones.',
      },
    ])
}
