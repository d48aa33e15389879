import { Type } from '@sinclair/typebox'
import { and, asc, count, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import { refuseOverLimit } from '../../access/plans'
import { limitsChanged } from '../../access/limit-changes'
import { target } from '../../core/audit'
import { change, isAlready } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { violation } from '../../core/db/errors'
import type { Reader, Tx } from '../../core/db/transaction'
import { isWithin } from '../../core/dns/name'
import { newId } from '../../core/ids'
import { requireMatch } from '../../core/if-match'
import { listPage, searchFilter, textFilter, timeFilters, wordsFilter, type Listing } from '../../core/list'
import { invalid, notFound } from '../../core/problem'
import { Words, type Page } from '../../core/shapes'
import { changedEvent, originOfCaller } from './changed-event'
import { asciiName, fits, patternFilter, patternOf } from './name-patterns'
import { clearZone } from './clear-zone'
import { catalogsOrigin, refuseZoneName, zoneTaken } from './name-clashes'
import { firstRrsets, soaColumns } from './new-zone'
import { zonesTopic } from './publish'
import { ruleKept } from './rule-problems'
import { readAnew } from './sync/mark-pending'
import { addTarget } from './sync/new-target'
import { syncJobFor } from './sync/sync-jobs'
import { syncStates } from './sync/three-way'
import { standingAt } from './sync/zone-standing'
import { dnsPastSerials, dnsRecords, dnsRrsets, dnsZones, zoneStatuses, type RecordSource } from './tables'
import { zoneView, zoneViews } from './views'
import { dnsTransfers } from './transfers/tables'
import { tellServers } from './transfers/tell-servers'
import { changeZone } from './zone-changes'
import { zoneHeld, type ZoneRow } from './zone-rows'
import { originOf, unicodeOf, zoneNameOf } from './zone-names'
import { builtin, type ZoneInput, type ZonePatch, type ZoneView } from './zone-shapes'

export const zoneListing: Listing<ZoneRow> = {
  name: 'dns-zones',
  table: dnsZones as never,
  id: dnsZones.id,
  idOf: row => row.id,
  owner: dnsZones.workspaceId,
  defaultSort: '-id',
  filters: {
    name: patternFilter({
      maxLength: 255,
      description:
        'Only the one with this name, or those whose names begin so (`shop*`). That makes the order that of names, unless `sort` is given.',
      where: (value, place) => fits(dnsZones.name, patternOf('name', asciiName(value.toLowerCase())), place),
    }),
    status: wordsFilter(dnsZones.status, zoneStatuses, 'Only those of these statuses.'),
    provider_id: textFilter(dnsZones.providerId, 'Only those whose `provider_id` it is.', { maxLength: 40 }),
    state: {
      schema: Words(syncStates, { description: 'Only those whose `sync.state` it is; one at a time.' }),
      where: (value, place) => sql`${dnsZones.syncState} = ${place(value)}`,
    },
    synced: {
      schema: Type.Boolean({ description: 'Only those that are synced, or only those that are not.' }),
      where: (value, place) => sql`${dnsZones.isSynced} = ${place(value)}`,
    },
    blocked: {
      schema: Type.Boolean({ description: 'Only those of which changes are held back, or only the others.' }),
      where: value => (value ? isNotNull(dnsZones.blockedPlanId) : isNull(dnsZones.blockedPlanId)),
      variant: String,
    },
    q: searchFilter([dnsZones.name, dnsZones.unicodeName], 'Only those whose name holds this text.'),
    ...timeFilters('created_at', dnsZones.createdAt),
    ...timeFilters('updated_at', dnsZones.updatedAt),
  },
  sorts: {
    name: { column: dnsZones.name, read: row => row.name },
    created_at: { column: dnsZones.createdAt, read: row => row.createdAt },
    updated_at: { column: dnsZones.updatedAt, read: row => row.updatedAt },
  },
}

const defaultTtl = 3600

export async function listZones(ctx: Ctx, query: Record<string, unknown>): Promise<Page<ZoneView>> {
  const { name, sort } = query
  // The order in which the index that finds them has them.
  const isPattern = typeof name === 'string' && name.endsWith('*') && sort === undefined
  const page = await listPage(ctx, zoneListing, isPattern ? { ...query, sort: ['name'] } : query, row => row)
  return { ...page, data: await zoneViews(ctx.hub.read, page.data) }
}

/** @throws Problem 404 */
export const getZone = async (ctx: Ctx, id: string): Promise<ZoneView> =>
  await zoneView(ctx.hub.read, await zoneOf(ctx.hub.read, ctx, id))

/** @throws Problem 404 */
export async function zoneOf(read: Reader, ctx: Ctx, id: string): Promise<ZoneRow> {
  const [row] = await read
    .select()
    .from(dnsZones)
    .where(and(eq(dnsZones.id, id), eq(dnsZones.workspaceId, ctx.workspaceId)))
  if (!row) throw notFound('zone')
  return row
}

/**
 * Makes a zone with its SOA and its NS records, and glue where they are within it.
 * @throws Problem 422, 409 `already_exists`, 403 `plan_limit_reached`
 */
export async function createZone(ctx: Ctx, input: ZoneInput): Promise<ZoneView> {
  const name = ruleKept('#/name', () => zoneNameOf(input.name))
  const first = firstRrsets(ctx.hub, name, input)
  const providerId = input.provider_id ?? builtin
  const soa = soaColumns({ mname: first.nameservers[0] ?? `ns1.${name}.`, rname: `hostmaster.${name}.` }, input.soa ?? {}, name)
  try {
    return await change(ctx, 'dns.zone.create', async tx => {
      await refuseOverLimit(tx, ctx, 'dns_zones', () => countZones(tx, ctx.workspaceId))
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
          ...standingAt([]),
          apply: input.apply ?? 'auto',
          driftPolicy: input.drift_policy ?? 'report',
          unmanaged: input.unmanaged ?? 'keep',
          ignoreRules: input.ignore_rules ?? null,
          blockedPlanId: null,
          version: 0,
          createdAt: now,
          updatedAt: now,
        })
        .returning()
      const isElsewhere = providerId !== builtin
      if (isElsewhere) await addTarget(tx, ctx.hub, row!, providerId)
      const zone = { ...row!, targetCount: isElsewhere ? 1 : 0 }
      // Also without records there is a first version.
      const by = { source: sourceOf(ctx), origin: originOfCaller(ctx), edit: {} }
      const made = await changeZone(tx, ctx, zone, first.rrsets, by)
      await refuseZoneName(tx, ctx.workspaceId, name)
      const view = await zoneView(tx, made.zone)
      const jobs = isElsewhere ? [...made.jobs, syncJobFor(zone.id)] : made.jobs
      return { result: view, target: zoneTarget(made.zone), after: view, events: made.events, wakes: made.wakes, jobs }
    })
  } catch (error) {
    if (violation(error) === 'unique') throw zoneTaken(name)
    throw error
  }
}

/** @throws Problem 404, 412, 422 */
export async function updateZone(ctx: Ctx, id: string, patch: ZonePatch): Promise<ZoneView> {
  return await change(ctx, 'dns.zone.update', async tx => {
    const row = await zoneHeld(tx, ctx, id)
    requireMatch(ctx, row)
    const before = await zoneView(tx, row)
    const edit = {
      status: patch.status ?? row.status,
      defaultTtl: patch.default_ttl === undefined ? row.defaultTtl : (patch.default_ttl ?? defaultTtl),
      ...soaColumns(null, patch.soa ?? {}, row.name),
      ...(patch.update_limit_percent !== undefined && { updateLimit: patch.update_limit_percent }),
      ...(patch.delete_limit_percent !== undefined && { deleteLimit: patch.delete_limit_percent }),
      ...(patch.served !== undefined && { isServed: patch.served }),
      ...(patch.apply !== undefined && { apply: patch.apply }),
      ...(patch.drift_policy !== undefined && { driftPolicy: patch.drift_policy }),
      ...(patch.unmanaged !== undefined && { unmanaged: patch.unmanaged }),
      ...(patch.ignore_rules !== undefined && { ignoreRules: patch.ignore_rules }),
    }
    if (patch.served === false && row.targetCount === 0)
      throw invalid([
        { pointer: '#/served', code: 'not_allowed', detail: 'must be true for a zone that is kept at no provider.' },
      ])
    if (isAlready(row, edit)) return { result: before, target: zoneTarget(row), unchanged: true }
    const edited = await changeZone(tx, ctx, row, [], { source: sourceOf(ctx), origin: originOfCaller(ctx), edit })
    const view = await zoneView(tx, edited.zone)
    // Another policy may mean another work.
    if (row.targetCount > 0) await readAnew(tx, row.id)
    const jobs = row.targetCount > 0 ? [...edited.jobs, syncJobFor(row.id)] : edited.jobs
    return { result: view, target: zoneTarget(row), before, after: view, wakes: edited.wakes, jobs }
  })
}

// What is told of the records that go with a zone; the count is of all.
const mostDeletedTold = 200

/** Removes a zone at once; its records are cleared away after it. @throws Problem 404, 412 */
export async function deleteZone(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'dns.zone.delete', async tx => {
    const row = await zoneHeld(tx, ctx, id)
    requireMatch(ctx, row)
    const before = await zoneView(tx, row)
    const records = await tx
      .select()
      .from(dnsRecords)
      .where(eq(dnsRecords.zoneId, id))
      .orderBy(asc(dnsRecords.id))
      .limit(mostDeletedTold)
    const changes = (await ttlsOf(tx, records)).map(({ record, ttl }) => ({
      action: 'deleted' as const,
      recordId: record.id,
      type: record.type,
      name: record.name,
      before: { ttl, content: record.content },
      after: null,
    }))
    await tx.delete(dnsZones).where(eq(dnsZones.id, id))
    await keepSerial(tx, row)
    const told = await tellServers(tx, ctx.hub, row, { changed: null, isServedAnew: row.isServed })
    return {
      result: undefined,
      target: zoneTarget(row),
      before,
      events: row.recordCount > 0 ? [changedEvent(ctx, row, originOfCaller(ctx), changes, row.recordCount)] : [],
      jobs: [...told, clearZone(id), ...(ctx.limits.dns_zones == null ? [] : [limitsChanged({ workspace_id: ctx.workspaceId })])],
      wakes: [zonesTopic],
    }
  })
}

/** Of a zone that nobody has transferred no serial is known anywhere: one of its name begins anew. */
async function keepSerial(tx: Tx, { workspaceId, name, serial }: ZoneRow): Promise<void> {
  const ofIt = and(eq(dnsTransfers.workspaceId, workspaceId), eq(dnsTransfers.zone, name))
  const [taken] = await tx.select({ zone: dnsTransfers.zone }).from(dnsTransfers).where(ofIt).limit(1)
  if (taken === undefined && (await pastSerial(tx, name)) === 0) return
  await tx.insert(dnsPastSerials).values({ name, serial }).onConflictDoUpdate({ target: dnsPastSerials.name, set: { serial } })
}

/** The last serial of a zone of this name that is gone and was transferred, or 0. */
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

/** Zones that count against the plan. */
export async function countZones(read: Reader, workspaceId: string): Promise<number> {
  const [row] = await read.select({ n: count() }).from(dnsZones).where(eq(dnsZones.workspaceId, workspaceId))
  return row!.n
}

/** Where records come from that a caller makes: by hand in the dashboard, or by the API. */
export const sourceOf = (ctx: Ctx): RecordSource => (ctx.context.channel === 'dashboard' ? 'manual' : 'api')

export const zoneTarget = (zone: { id: string; name: string }) => target('zone', zone)

/** Whoever had a top-level domain would keep all others from every name below it, or from their catalogs. @throws Problem 422 */
async function refuseTopLevel(tx: Tx, ctx: Ctx, name: string): Promise<void> {
  if (isWithin(originOf(name), catalogsOrigin))
    throw invalid([
      { pointer: '#/name', code: 'not_allowed', detail: 'must not end in `bailiwick`: those are the names of catalog zones.' },
    ])
  if (name.includes('.')) return
  const [row] = await tx.select({ isOperator: workspaces.isOperator }).from(workspaces).where(eq(workspaces.id, ctx.workspaceId))
  if (!row?.isOperator)
    throw invalid([
      {
        pointer: '#/name',
        code: 'not_allowed',
        detail: 'must have two labels at least: only the operator has top-level zones here.',
      },
    ])
}
