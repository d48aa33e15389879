import { Type } from '@sinclair/typebox'
import { and, eq } from 'drizzle-orm'
import { change, isAlready, type Changed } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { triedOut } from '../../core/db/savepoint'
import type { Tx } from '../../core/db/transaction'
import { isAhead, nextSerial } from '../../core/dns/serial'
import { requireMatch } from '../../core/if-match'
import { Line, Words } from '../../core/shapes'
import { importModes, type ZoneImported } from './record-shapes'
import type { WantedRrset } from './rrset-rules'
import { countsOf } from './rrsets'
import { allowing } from './sync/allowing'
import type { BlockCode, BlockReason } from './sync/guards'
import { mostOpsShown, plannedOp } from './sync/plan-forms'
import { editsOf } from './sync/zone-edits'
import { dnsRecords, dnsRrsets } from './tables'
import { changeZone, type ZoneEdit } from './zone-changes'
import { withinZone } from './zone-names'
import { rrsetKey, zoneHeld, type ZoneRow } from './zone-rows'
import { zoneTarget } from './zones'

/** Of what an import holds back, reasons about what is lost: what is new was asked for by the file. */
const lossCodes = [
  'deletes_over_limit',
  'zone_emptied',
  'loses_apex_ns',
  'loses_apex_mx',
  'loses_apex_address',
  'loses_ds',
  'loses_caa',
] as const satisfies readonly BlockCode[]

/** How a zone is taken in, as every import may be told. */
export const intakeMembers = {
  mode: Type.Optional(
    Words(importModes, {
      description: '`replace` when absent, for a zone that is as it was made; for every other `merge`.',
    }),
  ),
  allow: Type.Optional(
    Type.Array(Words(lossCodes), {
      minItems: 1,
      maxItems: lossCodes.length,
      description: 'Reasons of a `plan_blocked` to override.',
    }),
  ),
  note: Type.Optional(Line({ maxLength: 500, description: 'Why, for the audit log; required with `allow`.' })),
  dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Tells what would be done, and does nothing.' })),
}
export interface Intake {
  mode?: (typeof importModes)[number] | undefined
  allow?: (typeof lossCodes)[number][] | undefined
  note?: string | undefined
  dry_run?: boolean | undefined
}

/** Members of a zone that come along with its records. */
export type ReadMembers = Omit<ZoneEdit, 'serial'> & { serial?: number }

/** A zone as it was read to be taken in. */
export interface ZoneRead {
  /** By {@link rrsetKey}. */
  rrsets: ReadonlyMap<string, WantedRrset>
  members: ReadMembers | null
  /** Records that were left out, since signing makes them. */
  skipped: number
  /** It comes from where the NS of the apex are not told: those of the zone stay, with the addresses of their names. */
  hidesNameServers?: boolean
}

/** What an import is, beside what it brings. */
export interface IntakeKind {
  action: 'dns.zone.import' | 'dns.zone.import_from'
  /** Members for the audit log: where it came from. */
  told?: Record<string, string>
  /** Where the note stands in the request. */
  notePointer: string
}

/**
 * Makes a zone what was read, as `mode` says: all of it or nothing.
 * @throws Problem 404, 412, 422 pointing to where records stand, 409 `plan_blocked`, 403 `plan_limit_reached`
 */
export function takeIn(
  ctx: Ctx,
  id: string,
  read: ZoneRead,
  { mode: asked, dry_run: isDry = false, ...overriding }: Intake,
  { action, told: from, notePointer }: IntakeKind,
): Promise<ZoneImported> {
  return change(ctx, action, async (tx): Promise<Changed<ZoneImported>> => {
    const zone = await zoneHeld(tx, ctx, id)
    requireMatch(ctx, zone)
    const mode = asked ?? (zone.version === 1 ? 'replace' : 'merge')
    const wanted = mode === 'replace' ? [...(await removals(tx, zone, read)), ...read.rrsets.values()] : [...read.rrsets.values()]
    const isLossy = mode === 'replace' && zone.version > 1
    const edit = mode === 'replace' && read.members ? editOf(zone, read.members) : undefined
    const taken = () => changeZone(tx, ctx, zone, wanted, { source: 'import', origin: 'import', ...(edit && { edit }) })
    if (isDry) {
      const { ops, reasons } = await editsOf(tx, zone, wanted)
      const { changes } = await triedOut(tx, taken)
      const preview = {
        changes: ops.slice(0, mostOpsShown).map(plannedOp),
        change_count: ops.length,
        blocked: isLossy ? lossesIn(reasons) : [],
      }
      const told = { serial: zone.serial, ...countsOf(changes), mode, skipped: read.skipped, dry_run: true, preview }
      return { result: { zone_id: id, ...told }, target: zoneTarget(zone), unchanged: true }
    }
    const allowed = isLossy ? await lossesAllowed(tx, zone, wanted, overriding, notePointer) : []
    const made = await taken()
    const told = { serial: made.zone.serial, ...countsOf(made.changes), mode }
    return {
      result: { zone_id: id, ...told, skipped: read.skipped, dry_run: false },
      target: zoneTarget(zone),
      before: { serial: zone.serial },
      after: { ...told, ...from, ...(allowed.length > 0 && { allowed }) },
      reason: overriding.note ?? null,
      events: made.events,
      wakes: made.wakes,
      jobs: made.jobs,
      unchanged: made.unchanged,
    }
  })
}

/** @throws Problem 409 `plan_blocked` for what would be lost and was not allowed, 422 without a note */
async function lossesAllowed(
  tx: Tx,
  zone: ZoneRow,
  wanted: readonly WantedRrset[],
  overriding: Pick<Intake, 'allow' | 'note'>,
  notePointer: string,
): Promise<string[]> {
  const { reasons } = await editsOf(tx, zone, wanted)
  return allowing(lossesIn(reasons), overriding, {}, notePointer)
}

const lossesIn = (reasons: readonly BlockReason[]) => reasons.filter(one => lossCodes.includes(one.code as never))

/** What is in the zone and not in what comes. */
async function removals(tx: Tx, zone: ZoneRow, { rrsets, hidesNameServers }: ZoneRead): Promise<WantedRrset[]> {
  const rows = await tx
    .select({ name: dnsRrsets.name, type: dnsRrsets.type, ttl: dnsRrsets.ttl, comment: dnsRrsets.comment })
    .from(dnsRrsets)
    .where(eq(dnsRrsets.zoneId, zone.id))
  const staying = hidesNameServers ? await nameServerKeys(tx, zone) : new Set<string>()
  return rows
    .filter(row => !rrsets.has(rrsetKey(row)) && !staying.has(rrsetKey(row)))
    .map(row => ({ ...row, values: [], pointer: '#' }))
}

/** Keys of the NS of the apex, and of the addresses of their names within the zone. */
async function nameServerKeys(tx: Tx, zone: ZoneRow): Promise<Set<string>> {
  const servers = await tx
    .select({ target: dnsRecords.target })
    .from(dnsRecords)
    .where(and(eq(dnsRecords.zoneId, zone.id), eq(dnsRecords.name, '@'), eq(dnsRecords.type, 'NS')))
  const names = servers.flatMap(({ target }) => (target === null ? [] : (withinZone(target, zone.name) ?? [])))
  return new Set(['@ NS', ...names.flatMap(name => ['A', 'AAAA'].map(type => rrsetKey({ name, type })))])
}

/** Members that come and are not those of the zone already. */
function editOf(zone: ZoneRow, { serial, ...given }: ReadMembers): ZoneEdit | undefined {
  if (isAlready(zone, given) && (serial === undefined || serial === zone.serial)) return undefined
  // A serial that steps back would keep secondaries from asking again.
  return { ...given, serial: serial !== undefined && isAhead(serial, zone.serial) ? serial : nextSerial(zone.serial) }
}
