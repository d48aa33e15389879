import { and, eq } from 'drizzle-orm'
import { change, isUnchanged } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import { dryRun } from '../../../core/db/savepoint'
import type { Tx } from '../../../core/db/transaction'
import { isAhead, nextSerial } from '../../../dns/serial'
import type { WantedRrset } from '../changes/rrset-rules'
import { requireAllowed } from '../plans/require-allowed'
import type { BlockReason } from '../plans/guards'
import { maxOpsShown, plannedOp } from '../plans/plan-forms'
import { editsOf } from '../plans/zone-edits'
import { drivenKeys } from '../records/rows'
import { dnsRecords, dnsRrsets } from '../records/tables'
import { changeZone, refuseTooManyWanted, summaryOf } from '../changes/change-zone'
import { rrsetKey, withinZone } from '../zones/names'
import { type ZoneEdit, type ZoneRow, zoneRows } from '../zones/rows'
import { zoneTarget } from '../zones/zones'
import { lossCodes, type ZoneImportResult, type ImportQuery } from './shapes'
import { lockRow } from '../../../core/rows'

/** Zone fields that an import sets along with the records. */
export type ParsedZoneFields = Omit<ZoneEdit, 'serial'> & { serial?: number }

/** A parsed zone to import. */
export interface ParsedZone {
  /** By {@link rrsetKey}. */
  rrsets: ReadonlyMap<string, WantedRrset>
  fields: ParsedZoneFields | null
  /** Number of DNSSEC records skipped. */
  skipped: number
  /** The source doesn’t report NS records at the apex. Those of the zone stay, with the addresses of their names. */
  hidesNameServers?: boolean
}

/** Which import it is. */
interface ImportKind {
  action: 'dns.zone.import' | 'dns.zone.import_from'
  /** Fields for the audit log: the source of the import. */
  audit?: Record<string, string>
  /** JSON pointer to the note in the request. */
  notePointer: string
}

/**
 * Imports a parsed zone, atomically.
 * @throws Problem 404, 412, 422 pointing to the records, 409 `plan_blocked`, 403 `plan_limit_reached`
 */
export function applyImport(
  ctx: Ctx,
  id: string,
  parsed: ParsedZone,
  { mode: requestedMode, dry_run: isDryRun = false, ...overriding }: ImportQuery,
  { action, audit, notePointer }: ImportKind,
): Promise<ZoneImportResult> {
  return change(ctx, action, async (tx): Promise<ChangeResult<ZoneImportResult>> => {
    const zone = await lockRow(tx, ctx, zoneRows, id)
    refuseTooManyWanted(zone, parsed.rrsets.values())
    const mode = requestedMode ?? (zone.version === 1 ? 'replace' : 'merge')
    const driven = await drivenKeys(tx, zone.id)
    const wanted = [...(mode === 'replace' ? await removals(tx, zone, parsed) : []), ...parsed.rrsets.values()].filter(
      // The values of dynamic IP sources are newer than those in a file.
      one => !driven.has(rrsetKey(one)),
    )
    const isLossy = mode === 'replace' && zone.version > 1
    const edit = mode === 'replace' && parsed.fields ? editOf(zone, parsed.fields) : undefined
    const importRrsets = () => changeZone(tx, ctx, zone, wanted, { source: 'import', origin: 'import', ...(edit && { edit }) })
    if (isDryRun) {
      const { ops, reasons } = await editsOf(tx, zone, wanted)
      const { created, updated, deleted } = summaryOf(await dryRun(tx, importRrsets))
      const preview = {
        changes: ops.slice(0, maxOpsShown).map(plannedOp),
        change_count: ops.length,
        blocked: isLossy ? lossesIn(reasons) : [],
      }
      const result = {
        zone_id: id,
        serial: zone.serial,
        ...{ created, updated, deleted },
        mode,
        skipped: parsed.skipped,
        dry_run: true,
        preview,
      }
      return { result, target: zoneTarget(zone), unchanged: true }
    }
    const allowed = isLossy ? await lossesAllowed(tx, zone, wanted, overriding, notePointer) : []
    const result = await importRrsets()
    const summary = { ...summaryOf(result), mode }
    return {
      result: { zone_id: id, ...summary, skipped: parsed.skipped, dry_run: false },
      target: zoneTarget(zone),
      before: { serial: zone.serial },
      after: { ...summary, ...audit, ...(allowed.length > 0 && { allowed }) },
      reason: overriding.note ?? null,
      ...result.effects,
      unchanged: result.unchanged,
    }
  })
}

/** @throws Problem 409 `plan_blocked` for losses that were not allowed, 422 without a note */
async function lossesAllowed(
  tx: Tx,
  zone: ZoneRow,
  wanted: readonly WantedRrset[],
  overriding: Pick<ImportQuery, 'allow' | 'note'>,
  notePointer: string,
): Promise<string[]> {
  const { reasons } = await editsOf(tx, zone, wanted)
  return requireAllowed(lossesIn(reasons), overriding, {}, notePointer)
}

const lossesIn = (reasons: readonly BlockReason[]) => reasons.filter(one => lossCodes.includes(one.code as never))

/** Removals of rrsets that are in the zone but not in the import. */
async function removals(tx: Tx, zone: ZoneRow, { rrsets, hidesNameServers }: ParsedZone): Promise<WantedRrset[]> {
  const rows = await tx
    .select({ name: dnsRrsets.name, type: dnsRrsets.type, ttl: dnsRrsets.ttl, comment: dnsRrsets.comment })
    .from(dnsRrsets)
    .where(eq(dnsRrsets.zoneId, zone.id))
  const protectedKeys = hidesNameServers ? await nameServerKeys(tx, zone) : new Set<string>()
  return rows
    .filter(row => !rrsets.has(rrsetKey(row)) && !protectedKeys.has(rrsetKey(row)))
    .map(row => ({ ...row, values: [], pointer: '#' }))
}

/** Keys of the NS rrset at the apex, and of the addresses of name servers inside the zone. */
async function nameServerKeys(tx: Tx, zone: ZoneRow): Promise<Set<string>> {
  const servers = await tx
    .select({ target: dnsRecords.target })
    .from(dnsRecords)
    .where(and(eq(dnsRecords.zoneId, zone.id), eq(dnsRecords.name, '@'), eq(dnsRecords.type, 'NS')))
  const names = servers.flatMap(({ target }) => (target === null ? [] : (withinZone(target, zone.name) ?? [])))
  return new Set(['@ NS', ...names.flatMap(name => ['A', 'AAAA'].map(type => rrsetKey({ name, type })))])
}

/** Zone fields that differ from the current ones. */
function editOf(zone: ZoneRow, { serial, ...fields }: ParsedZoneFields): ZoneEdit | undefined {
  if (isUnchanged(zone, fields) && (serial === undefined || serial === zone.serial)) return undefined
  // The serial must never decrease, or secondaries would stop transferring.
  return { ...fields, serial: serial !== undefined && isAhead(serial, zone.serial) ? serial : nextSerial(zone.serial) }
}
