import { inArray } from 'drizzle-orm'
import { target } from '../../../core/audit'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Reader, Tx } from '../../../core/db/transaction'
import { invalid, Problem } from '../../../core/problem'
import { callerOrigin } from '../changes/changed-event'
import { valueOfRdata } from '../records/values'
import type { WantedRrset } from '../changes/rrset-rules'
import { parseRrset } from '../records/parse-field'
import { soaColumnsOf, soaFieldsOf, type SoaFields } from '../zones/soa-fields'
import { dnsRecords } from '../records/tables'
import { applyLocally } from '../plans/apply-plan'
import { createPlan, planView } from '../plans/plans'
import type { PlanView } from '../plans/shapes'
import { maxRecordsPerChange } from '../changes/change-zone'
import { minLifetimeMs } from '../records/rrset-metadata'
import { batches, drivenKeys, rrsetsAt, type Rrset } from '../records/rows'
import { rrsetKey } from '../zones/names'
import { type ZoneRow, zoneRows } from '../zones/rows'
import { sourceOf, zoneTarget } from '../zones/zones'
import { changedSince, zoneAtVersion, type RrsetDiff } from './zone-versions'
import { changesetOf, changesOf, differences } from './history'
import { storedRrset } from './record-changeset'
import { sameContent } from './same-content'
import type { RevertInput } from './shapes'
import type { StoredRrset } from './tables'
import { soaChange } from './views'
import { lockRow } from '../../../core/rows'

/** Changes that revert a zone: each rrset from its current to its previous state. */
interface Reversal {
  rrsets: RrsetDiff[]
  /** The previous SOA; null if it stays the same. */
  soa: SoaFields | null
}

/**
 * Plans reverting one changeset or all changes since a version, and applies the plan if requested and not blocked. Values are
 * restored exactly, and deleted records come back with their ids. The serial keeps increasing.
 * @throws Problem 404, 409 for records that were changed again later, 412, 422, 403 `plan_limit_reached`
 */
export async function revertZone(ctx: Ctx, zoneId: string, input: RevertInput): Promise<PlanView> {
  return await change(ctx, 'dns.zone.revert', async tx => {
    const zone = await lockRow(tx, ctx, zoneRows, zoneId)
    const reversal = await reversalOf(tx, zone, input)
    const plan = await createPlan(tx, ctx, zone, await wantedOf(tx, ctx, zone, reversal), {
      source: sourceOf(ctx),
      origin: callerOrigin(ctx),
      note: input.note ?? '',
      ...(reversal.soa && { edit: soaColumnsOf(reversal.soa) }),
    })
    const now = ctx.hub.clock.now()
    const audit = { target: [target('plan', { id: plan.id }), zoneTarget(zone)], reason: input.note ?? null }
    if (!input.apply || plan.blocked.length > 0) return { result: planView(plan, zone, now), ...audit }
    const note = input.note ?? null
    const { applied, action: _, done, ...rest } = await applyLocally(tx, ctx, zone, plan, { allowed: [], note })
    return { result: planView(applied, zone, now), ...audit, before: { serial: zone.serial }, after: done, ...rest }
  })
}

/** Computes what to revert. @param zone locked @throws Problem 404, 409, 422 */
async function reversalOf(tx: Tx, zone: ZoneRow, input: RevertInput): Promise<Reversal> {
  const only = input.rrsets && keysOf(input.rrsets, zone)
  if ((input.changeset_id === undefined) === (input.version === undefined))
    throw invalid([{ pointer: '#', code: 'required', detail: 'must have either `changeset_id` or `version`.' }])
  const found =
    input.version === undefined
      ? await revertChangeset(tx, zone, input.changeset_id!, only)
      : await backToVersion(tx, zone, input.version, only)
  return only ? { ...found, soa: null } : found
}

/** @throws Problem 404, 409 */
async function revertChangeset(tx: Tx, zone: ZoneRow, id: string, only: ReadonlySet<string> | undefined): Promise<Reversal> {
  const row = await changesetOf(tx, zone.id, id)
  const changes = (await changesOf(tx, row, maxReverted + 1)).filter(one => !only || only.has(rrsetKey(one)))
  refuseTooMany(changes)
  const changedLater = await changedSince(tx, zone.id, row.version, changes)
  const current = await rrsetsAt(tx, zone.id, changes)
  const rrsets: RrsetDiff[] = []
  const conflicts: string[] = []
  for (const { name, type, before } of changes) {
    const state = storedNow(current, { name, type })
    if (sameContent(state, before)) continue
    if (changedLater.has(rrsetKey({ name, type }))) conflicts.push(`${type} of ${name}`)
    else rrsets.push({ name, type, before: state, after: before })
  }
  const soaNow = soaFieldsOf(zone)
  const soa = row.soaBefore && soaChange(soaNow, row.soaBefore) ? row.soaBefore : null
  if (soa && !only && soaChange(soaNow, row.soaAfter!)) conflicts.push('the SOA')
  if (conflicts.length > 0)
    throw new Problem(
      'conflict',
      `These records were changed again later: ${conflicts.slice(0, 10).join(', ')}${conflicts.length > 10 ? ` and ${conflicts.length - 10} more` : ''}. ` +
        'Revert those changes first, select records with `rrsets`, or go back to a `version`.',
    )
  return { rrsets, soa }
}

/** @throws Problem 404 */
async function backToVersion(tx: Tx, zone: ZoneRow, version: number, only: ReadonlySet<string> | undefined): Promise<Reversal> {
  const then = await zoneAtVersion(tx, zone, version)
  const rrsets: RrsetDiff[] = []
  // The addresses of dynamic IP sources stay as they are now.
  const driven = await drivenKeys(tx, zone.id)
  for await (const one of differences(tx, zone.id, zone.version, version)) {
    if (only ? !only.has(rrsetKey(one)) : driven.has(rrsetKey(one))) continue
    rrsets.push(one)
    refuseTooMany(rrsets)
  }
  return { rrsets, soa: soaChange(soaFieldsOf(zone), then.soa) ? then.soa : null }
}

// Each rrset has at least one record.
const maxReverted = maxRecordsPerChange

/** @throws Problem 422 */
function refuseTooMany(rrsets: readonly RrsetDiff[]): void {
  if (rrsets.length > maxReverted)
    throw invalid([
      {
        pointer: '#',
        code: 'too_many',
        detail: `would change more than ${maxRecordsPerChange} records. Select fewer with \`rrsets\`.`,
      },
    ])
}

function storedNow(rrsets: ReadonlyMap<string, Rrset>, of: { name: string; type: string }): StoredRrset | null {
  const rrset = rrsets.get(rrsetKey(of))
  return rrset ? storedRrset(rrset) : null
}

const keysOf = (rrsets: NonNullable<RevertInput['rrsets']>, zone: ZoneRow): Set<string> =>
  new Set(rrsets.map((one, place) => rrsetKey(parseRrset(one, `#/rrsets/${place}`, zone))))

/** Converts a reversal to wanted rrsets. */
async function wantedOf(read: Reader, ctx: Pick<Ctx, 'hub'>, zone: ZoneRow, { rrsets }: Reversal): Promise<WantedRrset[]> {
  const usedElsewhere = await idsUsedElsewhere(read, rrsets)
  const now = ctx.hub.clock.now()
  return rrsets.map(({ name, type, before, after }) => {
    if (!after) return { name, type, ttl: before!.ttl, comment: null, values: [], pointer: '#' }
    const { records, locked, expiresAt, ...terms } = after
    return {
      name,
      type,
      ...terms,
      // Keep the current lock of an existing rrset.
      ...(!before && { locked }),
      // Drop an expiry that has passed or is about to.
      expiresAt: expiresAt !== null && expiresAt < now + minLifetimeMs ? null : expiresAt,
      values: records.map(([id, rdata, , createdAt]) => ({
        ...valueOfRdata(type, Buffer.from(rdata, 'base64')),
        // The record may have had later versions before it was deleted, but never more than the zone.
        ...(!usedElsewhere.has(id) && { keep: { id, version: zone.version, createdAt } }),
        pointer: '#',
      })),
      pointer: '#',
    }
  })
}

/** Ids of restored records that are now used by an rrset that isn’t part of the reversal. */
async function idsUsedElsewhere(read: Reader, rrsets: readonly RrsetDiff[]): Promise<Set<string>> {
  const reverted = new Set(rrsets.map(rrsetKey))
  const ids = rrsets.flatMap(one => one.after?.records.map(([id]) => id) ?? [])
  const found = new Set<string>()
  for (const some of batches(ids)) {
    const rows = await read
      .select({ id: dnsRecords.id, name: dnsRecords.name, type: dnsRecords.type })
      .from(dnsRecords)
      .where(inArray(dnsRecords.id, some))
    for (const row of rows) if (!reverted.has(rrsetKey(row))) found.add(row.id)
  }
  return found
}
