import { inArray } from 'drizzle-orm'
import { target } from '../../../core/audit'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Reader, Tx } from '../../../core/db/transaction'
import { requireMatch } from '../../../core/if-match'
import { invalid, Problem } from '../../../core/problem'
import { originOfCaller } from '../changed-event'
import { typeOf, valueOfRdata } from '../record-values'
import type { WantedRrset } from '../rrset-rules'
import { ruleKept } from '../rule-problems'
import { soaColumnsOf, soaMembers, type SoaMembers } from '../soa-members'
import { dnsRecords } from '../tables'
import { carryOut } from '../sync/apply-plan'
import { makePlan, planView } from '../sync/plans'
import type { PlanView } from '../sync/shapes'
import { mostChanged } from '../zone-changes'
import { shortestLifeMs } from '../rrset-members'
import { rowsAtOnce, rrsetKey, rrsetsAt, zoneHeld, type Rrset, type ZoneRow } from '../zone-rows'
import { recordNameOf } from '../zone-names'
import { sourceOf, zoneTarget } from '../zones'
import { changedSince, zoneThen, type Between } from './as-of'
import { changesetOf, changesOf, differences } from './history'
import { keptOf } from './journal'
import { sameForm } from './same-form'
import type { RevertInput } from './shapes'
import type { KeptRrset } from './tables'
import { soaChange } from './views'

/** What leads a zone back: each rrset from how it is to how it was. */
interface Reversal {
  rrsets: Between[]
  /** The SOA as it was; null where it stays. */
  soa: SoaMembers | null
}

/**
 * Plans the undoing of one change of a zone, or of all since a version, and does it if that is asked for and nothing holds it back.
 * What was not changed since is as it was to the octet, and records that were removed come back with their ids; the serial goes on.
 * @throws Problem 404, 409 for what was changed again since, 412, 422, 403 `plan_limit_reached`
 */
export async function revertZone(ctx: Ctx, zoneId: string, input: RevertInput): Promise<PlanView> {
  return await change(ctx, 'dns.zone.revert', async tx => {
    const zone = await zoneHeld(tx, ctx, zoneId)
    requireMatch(ctx, zone)
    const reversal = await reversalOf(tx, zone, input)
    const plan = await makePlan(tx, ctx, zone, await wantedOf(tx, ctx, reversal), {
      source: sourceOf(ctx),
      origin: originOfCaller(ctx),
      note: input.note ?? '',
      ...(reversal.soa && { edit: soaColumnsOf(reversal.soa) }),
    })
    const now = ctx.hub.clock.now()
    const told = { target: [target('plan', { id: plan.id }), zoneTarget(zone)], reason: input.note ?? null }
    if (!input.apply || plan.blocked.length > 0) return { result: planView(plan, zone, now), ...told }
    const note = input.note ?? null
    const { applied, action: _, done, ...rest } = await carryOut(tx, ctx, zone, plan, { allowed: [], note })
    return { result: planView(applied, zone, now), ...told, before: { serial: zone.serial }, after: done, ...rest }
  })
}

/** What undoes that which is asked for. @param zone held @throws Problem 404, 409, 422 */
async function reversalOf(tx: Tx, zone: ZoneRow, input: RevertInput): Promise<Reversal> {
  const only = input.rrsets && keysOf(input.rrsets, zone)
  if ((input.changeset_id === undefined) === (input.version === undefined))
    throw invalid([{ pointer: '#', code: 'required', detail: 'must have either `changeset_id` or `version`.' }])
  const found =
    input.version === undefined
      ? await undone(tx, zone, input.changeset_id!, only)
      : await goneBack(tx, zone, input.version, only)
  return only ? { ...found, soa: null } : found
}

/** @throws Problem 404, 409 */
async function undone(tx: Tx, zone: ZoneRow, id: string, only: ReadonlySet<string> | undefined): Promise<Reversal> {
  const row = await changesetOf(tx, zone.id, id)
  const made = (await changesOf(tx, row, mostReverted + 1)).filter(one => !only || only.has(rrsetKey(one)))
  refuseTooMany(made)
  const names = made.map(one => one.name)
  const again = await changedSince(tx, zone.id, row.version, names)
  const now = await rrsetsAt(tx, zone.id, names)
  const rrsets: Between[] = []
  const others: string[] = []
  for (const { name, type, before } of made) {
    const is = keptNow(now, { name, type })
    if (sameForm(is, before)) continue
    if (again.has(rrsetKey({ name, type }))) others.push(`${type} of ${name}`)
    else rrsets.push({ name, type, before: is, after: before })
  }
  const soaNow = soaMembers(zone)
  const soa = row.soaBefore && soaChange(soaNow, row.soaBefore) ? row.soaBefore : null
  if (soa && !only && soaChange(soaNow, row.soaAfter!)) others.push('the SOA')
  if (others.length > 0)
    throw new Problem(
      'conflict',
      `Other changes came after it, to ${others.slice(0, 10).join(', ')}${others.length > 10 ? ` and ${others.length - 10} more` : ''}. ` +
        'Undo those first, name in `rrsets` what is to be undone, or go back to a `version`.',
    )
  return { rrsets, soa }
}

/** @throws Problem 404 */
async function goneBack(tx: Tx, zone: ZoneRow, version: number, only: ReadonlySet<string> | undefined): Promise<Reversal> {
  const then = await zoneThen(tx, zone, version)
  const rrsets: Between[] = []
  for await (const one of differences(tx, zone.id, zone.version, version)) {
    if (only && !only.has(rrsetKey(one))) continue
    rrsets.push(one)
    refuseTooMany(rrsets)
  }
  return { rrsets, soa: soaChange(soaMembers(zone), then.soa) ? then.soa : null }
}

// Each has a record at least.
const mostReverted = mostChanged

/** @throws Problem 422 */
function refuseTooMany(rrsets: readonly Between[]): void {
  if (rrsets.length > mostReverted)
    throw invalid([
      {
        pointer: '#',
        code: 'too_many',
        detail: `must change at most ${mostChanged} records at once: name some of them in \`rrsets\`.`,
      },
    ])
}

function keptNow(rrsets: ReadonlyMap<string, Rrset>, of: { name: string; type: string }): KeptRrset | null {
  const rrset = rrsets.get(rrsetKey(of))
  return rrset ? keptOf(rrset) : null
}

const keysOf = (rrsets: NonNullable<RevertInput['rrsets']>, zone: ZoneRow): Set<string> =>
  new Set(
    rrsets.map((one, place) =>
      rrsetKey({
        name: ruleKept(`#/rrsets/${place}/name`, () => recordNameOf(one.name, zone.name)),
        type: ruleKept(`#/rrsets/${place}/type`, () => typeOf(one.type)),
      }),
    ),
  )

/** A reversal as the change of a zone takes it. */
export async function wantedOf(read: Reader, ctx: Pick<Ctx, 'hub'>, { rrsets }: Reversal): Promise<WantedRrset[]> {
  const elsewhere = await idsElsewhere(read, rrsets)
  const now = ctx.hub.clock.now()
  return rrsets.map(({ name, type, before, after }) => {
    if (!after) return { name, type, ttl: before!.ttl, comment: null, values: [], pointer: '#' }
    const { records, locked, expiresAt, ...terms } = after
    return {
      name,
      type,
      ...terms,
      // A lock is not undone along with what it guards.
      ...(!before && { locked }),
      // What was to end meanwhile, or is about to, is back until somebody removes it.
      expiresAt: expiresAt !== null && expiresAt < now + shortestLifeMs ? null : expiresAt,
      values: records.map(([id, rdata, version, createdAt]) => ({
        ...valueOfRdata(type, Buffer.from(rdata, 'base64')),
        ...(!elsewhere.has(id) && { keep: { id, version, createdAt } }),
        pointer: '#',
      })),
      pointer: '#',
    }
  })
}

/** Ids of records that are to come back, and that another rrset has which stays as it is. */
async function idsElsewhere(read: Reader, rrsets: readonly Between[]): Promise<Set<string>> {
  const moving = new Set(rrsets.map(rrsetKey))
  const ids = rrsets.flatMap(one => one.after?.records.map(([id]) => id) ?? [])
  const found = new Set<string>()
  for (let at = 0; at < ids.length; at += rowsAtOnce) {
    const rows = await read
      .select({ id: dnsRecords.id, name: dnsRecords.name, type: dnsRecords.type })
      .from(dnsRecords)
      .where(inArray(dnsRecords.id, ids.slice(at, at + rowsAtOnce)))
    for (const row of rows) if (!moving.has(rrsetKey(row))) found.add(row.id)
  }
  return found
}
